package report

import (
	"errors"
	"fmt"
	"io"

	"github.com/profuse-pgo/profuse/profile"
)

// A Source is a profile to show.
type Source struct {
	View profile.View
	// Label is what the profile is called on the page; empty for the name of
	// its file without folders.
	Label string
}

// Options adjust Write. The zero value is right for most uses.
type Options struct {
	// Title of the page; empty for one made of the labels.
	Title string
	// Mangled shows names as they are in the profile.
	Mangled bool
	// SourceDirs are folders to find the program's source files in, which are
	// then shown with counts beside their lines.
	SourceDirs []string
	// Progress, if not nil, is called before each page is made, with the label
	// of its profile and the page's name. An error ends the work.
	Progress func(label, page string) error
}

// pageFuncs make the pages of one profile, in the order of the tabs. Those that
// return nil have nothing to show of it.
var pageFuncs = []pageFunc{
	{"overview", overviewPage},
	{"functions", functionsPage},
	{"flame", flamePage},
	{"treemap", treemapPage},
	{"timeline", timelinePage},
	{"values", valuesPage},
	{"allocations", allocationsPage},
	{"coverage", coveragePage},
}

// pairFuncs make the pages that compare two profiles.
var pairFuncs = []pairFunc{
	{"comparison", comparisonPage},
}

type pageFunc struct {
	id   string
	make func(*source) (*page, error)
}

type pairFunc struct {
	id string
	// The names of both profiles go into one table, and that is the table of
	// the page's data.
	make func(names *nameTable, a, b *source) (*page, error)
}

// A set is what the page shows at a time: the pages of one profile, or those of
// a pair.
type set struct {
	setHead
	names *nameTable
	pages []*page
}

// A setHead says what a set is about.
type setHead struct {
	label, about string
	features     []string
	pair         bool // of two profiles
}

func profileHead(src *source) setHead {
	return setHead{label: src.label, about: src.id.String(), features: src.features.Names()}
}

func pairHead(a, b *source) setHead {
	return setHead{label: "Comparison", about: a.label + " and " + b.label, pair: true}
}

// Write writes the report of one or more profiles to w. Exactly two are
// compared besides. It goes through each view several times.
func Write(w io.Writer, sources []Source, opt Options) error {
	all, err := newSources(sources, opt)
	if err != nil {
		return err
	}
	var sets []*set
	for _, src := range all {
		s, err := profileSet(src)
		if err != nil {
			return err
		}
		sets = append(sets, s)
	}
	if len(all) == 2 {
		s, err := pairSet(all[0], all[1])
		if err != nil {
			return err
		}
		if len(s.pages) > 0 {
			sets = append(sets, s)
		}
	}
	d, err := newDocument(sets, opt)
	if err != nil {
		return err
	}
	return d.write(w)
}

// newSources returns the profiles that a report is of, one at least.
func newSources(sources []Source, opt Options) ([]*source, error) {
	if len(sources) == 0 {
		return nil, errors.New("no profile to report on")
	}
	var all []*source
	for i, s := range sources {
		all = append(all, newSource(i, s, opt))
	}
	uniqueLabels(all)
	return all, nil
}

func profileSet(src *source) (*set, error) {
	s := &set{setHead: profileHead(src), names: src.names}
	for _, f := range pageFuncs {
		if err := src.opt.progress(src.label, f.id); err != nil {
			return nil, err
		}
		p, err := f.make(src)
		if err != nil {
			return nil, fmt.Errorf("page %s of %s: %w", f.id, src.label, err)
		}
		if p != nil {
			s.pages = append(s.pages, p)
		}
	}
	return s, nil
}

func pairSet(a, b *source) (*set, error) {
	s := &set{setHead: pairHead(a, b), names: newNameTable()}
	for _, f := range pairFuncs {
		if err := a.opt.progress(s.label, f.id); err != nil {
			return nil, err
		}
		p, err := f.make(s.names, a, b)
		if err != nil {
			return nil, fmt.Errorf("page %s: %w", f.id, err)
		}
		if p != nil {
			s.pages = append(s.pages, p)
		}
	}
	return s, nil
}

func (o *Options) progress(label, page string) error {
	if o.Progress == nil {
		return nil
	}
	return o.Progress(label, page)
}
