package report

import (
	"bytes"
	"cmp"
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"sync"

	"github.com/profuse-pgo/profuse/internal/pagestyle"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/profile/coverage"
)

// A page is one tab of the report.
type page struct {
	ID    string        // "flame": of its section, data block and script
	Title string        // of the tab
	Body  template.HTML // what a page without scripts shows
	data  any           // for the script, marshalled to JSON; nil if there is none
	// parts make more data, which the script asks for by number. They put no names into the table of names.
	parts []func() any
}

func newPage(id, title string, text, data any) (*page, error) {
	body, err := execute(id, text)
	if err != nil {
		return nil, err
	}
	return &page{ID: id, Title: title, Body: body, data: data}, nil
}

func (p *page) HasScript() bool { return pageAssets(p.ID, ".js") != nil }

// maxStaticRows bounds the lists of a page without scripts.
const maxStaticRows = 200

// A source is one profile with the data that its pages share.
type source struct {
	view     profile.View
	id       profile.Identity
	features profile.Features
	label    string
	opt      Options
	coverage *coverage.Coverage // nil if it follows from the view
	change   *CoverageChange    // may be nil
	findings []string
	checked  bool
	names    *nameTable      // holds the names that the data of pages refers to
	summary  profile.Summary // has all shares of profile.DefaultCutoffs
	heat     heatScale

	edges    func() *edgeTable
	readable *readableNames
}

// newSource reads the parts of a profile that all pages need. index is the number of the profile, from 0.
func newSource(index int, s Source, opt Options) *source {
	src := &source{
		view: s.View, label: s.Label, opt: opt, coverage: s.Coverage, change: s.Change, findings: s.Findings, checked: s.Checked,
		names: newNameTable(),
	}
	src.readable = newReadableNames(src)
	if s.View == nil {
		src.label = clean(cmp.Or(src.label, "coverage"))
		return src
	}
	src.edges = sync.OnceValue(func() *edgeTable { return newEdgeTable(s.View) })
	src.id, src.features = s.View.Identity(), s.View.Features()
	cleanIdentity(&src.id)
	if src.label == "" {
		src.label = filepath.Base(src.id.File)
	}
	if src.id.File == "" && s.Label == "" {
		src.label = fmt.Sprintf("profile %d", index+1)
	}
	src.label = clean(src.label)
	src.summary = profile.Summarize(s.View, profile.DefaultCutoffs())
	src.heat = newHeatScale(src.features, src.summary)
	return src
}

// with returns a source of the same profile that puts names into the given table.
func (s *source) with(names *nameTable) *source {
	own := *s
	own.names = names
	return &own
}

func cleanIdentity(id *profile.Identity) {
	for _, text := range []*string{&id.File, &id.Family, &id.Format, &id.Version, &id.Producer, &id.ReadableBy} {
		*text = clean(*text)
	}
	for _, list := range []*[]string{&id.Variant, &id.Omits} {
		*list = slices.Clone(*list)
		for i := range *list {
			(*list)[i] = clean((*list)[i])
		}
	}
}

func uniqueLabels(all []*source) {
	number := make(map[string]int)
	for _, s := range all {
		number[s.label]++
	}
	for i, s := range all {
		if number[s.label] > 1 {
			s.label = fmt.Sprintf("%d: %s", i+1, s.label)
		}
	}
}

// symbolName returns the name of a function or type for display, with its signature.
// Different symbols may have the same name.
func (s *source) symbolName(sym *profile.Symbol) string {
	if s.opt.Mangled {
		return clean(sym.String() + sym.Signature)
	}
	return s.readable.symbol(sym) + clean(sym.Signature)
}

// functionName is symbolName for the function of the view with an index.
func (s *source) functionName(index int, sym *profile.Symbol) string {
	if s.opt.Mangled {
		return clean(sym.String() + sym.Signature)
	}
	return s.readable.functions()[index] + clean(sym.Signature)
}

//go:embed assets
var assets embed.FS

// asset returns an embedded file, also of package pagestyle; nil if there is none of this name.
func asset(name string) []byte {
	data, err := assets.ReadFile("assets/" + name)
	if err != nil {
		data, err = pagestyle.Files.ReadFile(name)
	}
	if err != nil {
		return nil
	}
	return data
}

// pageAssets returns the names of the embedded files of a page, ID.js and then all ID_*.js
// in their order. None if ID.js is missing.
func pageAssets(id, suffix string) []string {
	if asset(id+suffix) == nil {
		return nil
	}
	more, err := fs.Glob(assets, "assets/"+id+"_*"+suffix)
	if err != nil {
		panic(err) // the pattern is wrong
	}
	names := []string{id + suffix}
	for _, name := range more {
		names = append(names, path.Base(name))
	}
	return names
}

// execute runs assets/NAME.tmpl. Templates can use the functions of html/template and templateFuncs.
func execute(name string, data any) (template.HTML, error) {
	t, err := template.New(name).Funcs(templateFuncs).Parse(string(asset(name + ".tmpl")))
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	if err := t.Execute(&b, data); err != nil {
		return "", err
	}
	return template.HTML(b.String()), nil
}
