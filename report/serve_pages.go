package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"runtime"
	"sync"
)

// A servedSet is a set whose pages are made when they are asked for.
type servedSet struct {
	setHead
	pages []servedPage
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

// tabJSON and pageJSON are what frame.js asks for.
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

func newServedSets(all []*source) []*servedSet {
	busy := make(chan struct{}, runtime.GOMAXPROCS(0))
	var sets []*servedSet
	for _, src := range all {
		s := &servedSet{setHead: profileHead(src)}
		for _, f := range pageFuncs {
			s.add(busy, f.id, func() (*page, *nameTable, error) {
				own := src.fork()
				p, err := f.make(own)
				return p, own.names, err
			})
		}
		sets = append(sets, s)
	}
	if len(all) == 2 {
		a, b := all[0], all[1]
		s := &servedSet{setHead: pairHead(a, b)}
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
	for _, s := range sets {
		var pages []documentPage
		for _, p := range s.pages {
			pages = append(pages, documentPage{ID: p.id})
		}
		d.addSet(&s.setHead, pages)
	}
	if err := d.finish(); err != nil {
		return nil, err
	}
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
