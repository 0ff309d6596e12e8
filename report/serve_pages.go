package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"runtime"
	"slices"
	"sync"
)

// A servedSet is a set whose pages are made when they are asked for.
type servedSet struct {
	label, about string
	features     []string
	pages        []servedPage
	pair         bool // of two profiles
}

type servedPage struct {
	id string
	// parts makes the page at the first call; nil if the profile has nothing to
	// show there.
	parts func() (*servedParts, error)
}

// servedParts are the answers about one page.
type servedParts struct {
	tab  *answer // what its tab needs, to show that it is there
	page *answer
}

// tabJSON and pageJSON are what core.js asks for.
type tabJSON struct {
	Title string `json:"title"`
}

type pageJSON struct {
	Title string        `json:"title"`
	Body  template.HTML `json:"body"`
	Names names         `json:"names"` // of this page alone
	Data  any           `json:"data"`
}

const (
	htmlType = "text/html; charset=utf-8"
	jsonType = "application/json"
)

func newServedSets(sources []Source, opt Options) []*servedSet {
	var all []*source
	for i, s := range sources {
		all = append(all, newSource(i, s, opt))
	}
	uniqueLabels(all)
	busy := make(chan struct{}, runtime.GOMAXPROCS(0))
	var sets []*servedSet
	for _, src := range all {
		s := &servedSet{label: src.label, about: src.id.String(), features: src.features.Names()}
		for _, f := range pageFuncs {
			s.add(busy, f.id, func() (*page, *nameTable, error) {
				own := src.fork()
				p, err := f.make(own)
				return p, own.names, err
			})
		}
		sets = append(sets, s)
	}
	if len(all) == 2 && len(pairFuncs) > 0 {
		a, b := all[0], all[1]
		s := &servedSet{label: pairLabel, about: a.label + " and " + b.label, pair: true}
		for _, f := range pairFuncs {
			s.add(busy, f.id, func() (*page, *nameTable, error) {
				names := newNameTable()
				p, err := f.make(names, a.fork(), b.fork())
				return p, names, err
			})
		}
		sets = append(sets, s)
	}
	return sets
}

// fork returns a source of the same profile with a table of names of its own,
// for one of several pages that are made at the same time.
func (s *source) fork() *source {
	own := *s
	own.names = newNameTable()
	return &own
}

// add adds a page. As many are made at a time as busy holds.
func (s *servedSet) add(busy chan struct{}, id string, make func() (*page, *nameTable, error)) {
	s.pages = append(s.pages, servedPage{id, sync.OnceValues(func() (*servedParts, error) {
		busy <- struct{}{}
		defer func() { <-busy }()
		p, names, err := make()
		if err != nil {
			return nil, fmt.Errorf("page %s of %s: %w", id, s.label, err)
		}
		if p == nil {
			return nil, nil
		}
		parts := &servedParts{}
		if parts.tab, err = jsonAnswer(tabJSON{p.title}); err != nil {
			return nil, err
		}
		parts.page, err = jsonAnswer(pageJSON{p.title, p.body, names.encode(), p.data})
		return parts, err
	})})
}

func jsonAnswer(v any) (*answer, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return newAnswer(jsonType, "", text)
}

// newShell makes the page at /: the frame of a report, without what is in it.
func newShell(sets []*servedSet, opt Options) (*answer, error) {
	d := &document{Title: clean(opt.Title), Served: true}
	facts := documentFacts{Served: true}
	var labels, ids []string
	for i, s := range sets {
		out := documentSet{Index: i, Label: s.label, About: s.about}
		f := setFacts{Label: s.label, Features: s.features}
		if !s.pair {
			labels = append(labels, s.label)
		}
		for _, p := range s.pages {
			out.Pages = append(out.Pages, documentPage{ID: p.id, HasScript: pageAsset(p.id, ".js") != ""})
			f.Pages = append(f.Pages, p.id)
			ids = append(ids, p.id)
		}
		d.Sets = append(d.Sets, out)
		facts.Sets = append(facts.Sets, f)
	}
	if err := d.add("facts", facts); err != nil {
		return nil, err
	}
	d.dress(labels, slices.Compact(slices.Sorted(slices.Values(ids))))
	var b bytes.Buffer
	if err := d.write(&b); err != nil {
		return nil, err
	}
	return newAnswer(htmlType, d.Policy, b.Bytes())
}

// wholeReport makes the file.
func wholeReport(sources []Source, opt Options) (*answer, error) {
	var b bytes.Buffer
	if err := Write(&b, sources, opt); err != nil {
		return nil, err
	}
	// It has its policy in it.
	return newAnswer(htmlType, "base-uri 'none'", b.Bytes())
}
