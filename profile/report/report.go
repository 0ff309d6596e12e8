package report

import (
	"errors"
	"fmt"
	"io"

	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/profile/coverage"
)

// A Source is a profile to show.
type Source struct {
	View     profile.View
	Label    string   // names the profile on the page; empty for the name of its file without folders
	Findings []string // what a check of the file found, a sentence each, if it was Checked
	Checked  bool
	// Coverage is what the page of coverage shows; nil for the coverage of the view. A source without
	// a view has only the page of coverage.
	Coverage *coverage.Coverage
	// Change, if not nil, is what the page compares the coverage with.
	Change *CoverageChange
}

// Options adjust Write. The zero value is right for most uses.
type Options struct {
	Title   string // of the page; empty for one made of the labels
	Mangled bool   // shows names as they are in the profile
	// SourceDirs are the folders of the program's source files. The report shows the
	// files with counts beside their lines.
	SourceDirs []string
	// ReadSource, if not nil, returns the text of a source file by its recorded path; SourceDirs are
	// then not read. Do not trust the path: it may come from an attacker's profile or program.
	ReadSource func(path string) ([]byte, error)
	// Progress, if not nil, is called before each page is made, with the label of
	// its profile and the name of the page. An error from it ends the work.
	Progress func(label, page string) error
}

// pageFuncs make the pages of one profile, in the order of the tabs. A function returns nil if the
// profile has nothing to show on its page. Late pages start after the others have finished, to limit
// peak memory: the treemap takes the most.
var pageFuncs = []struct {
	id   string
	late bool
	make func(*source) (*page, error)
}{
	{"overview", false, overviewPage},
	{"functions", true, functionsPage},
	{"flame", true, flamePage},
	{"treemap", false, treemapPage},
	{"timeline", false, timelinePage},
	{"values", true, valuesPage},
	{"allocations", false, allocationsPage},
	{coverageID, false, coveragePage},
}

const coverageID = "coverage"

const comparisonID = "comparison"

// A set is the pages of one profile, or the comparison of two. The report shows one set at a time.
type set struct {
	label, about string
	features     []string
	pair         bool // of two profiles
	pages        []pageMaker
}

type pageMaker struct {
	id   string
	late bool
	make func(names *nameTable) (*page, error)
}

// Write writes the report of one or more profiles to w. It also compares exactly
// two. It goes through each view several times.
func Write(w io.Writer, sources []Source, opt Options) error {
	sets, err := newSets(sources, opt)
	if err != nil {
		return err
	}
	d := &document{Title: clean(opt.Title)}
	for _, s := range sets {
		if err := d.addPages(s, opt.Progress); err != nil {
			return err
		}
	}
	if err := d.finish(); err != nil {
		return err
	}
	return d.write(w)
}

func newSets(sources []Source, opt Options) ([]*set, error) {
	if len(sources) == 0 {
		return nil, errors.New("no profile to report on")
	}
	var all []*source
	for i, s := range sources {
		all = append(all, newSource(i, s, opt))
	}
	uniqueLabels(all)
	var sets []*set
	for _, src := range all {
		s := &set{label: src.label, features: src.features.Names()}
		if src.view != nil {
			s.about = src.id.String()
		}
		for _, f := range pageFuncs {
			if src.view == nil && f.id != coverageID {
				continue
			}
			s.addPage(f.id, f.late, func(names *nameTable) (*page, error) { return f.make(src.with(names)) })
		}
		sets = append(sets, s)
	}
	if len(all) == 2 && all[0].view != nil && all[1].view != nil {
		a, b := all[0], all[1]
		s := &set{label: "Comparison", about: a.label + " and " + b.label, pair: true}
		s.addPage(comparisonID, false, func(names *nameTable) (*page, error) { return comparisonPage(a.with(names), b) })
		sets = append(sets, s)
	}
	return sets, nil
}

func (s *set) addPage(id string, late bool, make func(*nameTable) (*page, error)) {
	s.pages = append(s.pages, pageMaker{id, late, func(names *nameTable) (*page, error) {
		p, err := make(names)
		if err != nil {
			return nil, fmt.Errorf("page %s of %s: %w", id, s.label, err)
		}
		return p, nil
	}})
}
