package report

import (
	"bytes"
	"encoding/json"
	"html/template"
	"runtime"
	"sync"
)

type servedSet struct {
	*set
	// parts makes the page with an id at the first call. It returns nil if the profile has no data for the page.
	parts map[string]func() (*servedParts, error)
}

type servedParts struct {
	tab  *answer // what its tab needs, to show that it is there
	page *answer
	more []func() (*answer, error) // further data, made at the first request
}

// frame.js requests tabJSON and pageJSON.
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
	// Types of answers.
	htmlType = "text/html; charset=utf-8"
	jsonType = "application/json"
)

// newServedSets returns sets that make as many pages at a time as there are CPUs.
func newServedSets(sets []*set) (served []servedSet) {
	busy := make(chan struct{}, runtime.GOMAXPROCS(0))
	for _, s := range sets {
		parts := make(map[string]func() (*servedParts, error))
		for _, m := range s.pages {
			parts[m.id] = sync.OnceValues(func() (*servedParts, error) {
				busy <- struct{}{}
				defer func() { <-busy }()
				return newServedParts(m)
			})
		}
		served = append(served, servedSet{s, parts})
	}
	return served
}

func newServedParts(m pageMaker) (*servedParts, error) {
	names := newNameTable()
	p, err := m.make(names)
	if err != nil || p == nil {
		return nil, err
	}
	parts := &servedParts{}
	if parts.tab, err = jsonAnswer(tabJSON{p.Title}); err != nil {
		return nil, err
	}
	for _, part := range p.parts {
		parts.more = append(parts.more, sync.OnceValues(func() (*answer, error) { return jsonAnswer(part()) }))
	}
	parts.page, err = jsonAnswer(pageJSON{p.Title, p.Body, names.encode(), p.data})
	return parts, err
}

func jsonAnswer(v any) (*answer, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return newAnswer(jsonType, "", text)
}

func newShell(sets []*set, opt Options) (*answer, error) {
	d := &document{Title: clean(opt.Title), Served: true}
	for _, s := range sets {
		var pages []*page
		for _, m := range s.pages {
			pages = append(pages, &page{ID: m.id})
		}
		d.addSet(s, pages)
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

func wholeReport(sources []Source, opt Options) (*answer, error) {
	var b bytes.Buffer
	if err := Write(&b, sources, opt); err != nil {
		return nil, err
	}
	// The file contains its own policy.
	return newAnswer(htmlType, "base-uri 'none'", b.Bytes())
}
