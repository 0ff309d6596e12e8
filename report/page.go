package report

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"path"
	"path/filepath"
	"slices"

	"github.com/profuse-pgo/profuse/profile"
)

// A page is one tab of the report.
type page struct {
	id    string        // "flame": of its section, data block and script
	title string        // of the tab
	body  template.HTML // what is read without scripts
	data  any           // for the script, marshalled to JSON; nil if there is none
}

// maxStaticRows bounds the lists that are read without scripts.
const maxStaticRows = 200

// A source is one profile and what its pages share.
type source struct {
	index    int // among the profiles of the report
	view     profile.View
	id       profile.Identity
	features profile.Features
	label    string
	opt      Options
	// names holds what the data of all pages of the profile refers to.
	names *nameTable
	// summary has all of DefaultCutoffs.
	summary profile.Summary
	heat    heatScale

	demangled *demangledNames
}

func newSource(index int, s Source, opt Options) *source {
	src := &source{
		index: index, view: s.View, id: s.View.Identity(), features: s.View.Features(), label: s.Label, opt: opt,
		names: newNameTable(), demangled: newDemangledNames(),
	}
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

// cleanIdentity cleans what is shown of an identity.
func cleanIdentity(id *profile.Identity) {
	for _, text := range []*string{&id.File, &id.Family, &id.Format, &id.Version, &id.Producer} {
		*text = clean(*text)
	}
	for _, list := range []*[]string{&id.Variant, &id.Omits} {
		*list = slices.Clone(*list)
		for i := range *list {
			(*list)[i] = clean((*list)[i])
		}
	}
}

// uniqueLabels tells profiles apart whose files are called the same.
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

// symbolName is what a function or type is called on the page. It is no key:
// different symbols may be called the same. Signatures belong to the name.
func (s *source) symbolName(sym *profile.Symbol) string {
	name := sym.String()
	if !s.opt.Mangled {
		name = s.demangled.of(name)
	}
	return clean(name + sym.Signature)
}

//go:embed assets
var assets embed.FS

// asset returns an embedded file; nil if there is none of this name.
func asset(name string) []byte {
	data, err := assets.ReadFile("assets/" + name)
	if err != nil {
		return nil
	}
	return data
}

// pageAsset joins the embedded files of a page, ID.js and then all ID_*.js in
// the order of their names.
func pageAsset(id, suffix string) string {
	text := asset(id + suffix)
	more, err := fs.Glob(assets, "assets/"+id+"_*"+suffix)
	if err != nil {
		panic(err) // of the pattern, which is our own
	}
	for _, name := range more {
		text = append(text, asset(path.Base(name))...)
	}
	return string(text)
}

// execute runs assets/NAME.tmpl. Besides what html/template has, templates have
// the functions of templateFuncs.
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
