package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
)

// A document is the file: all that its template needs.
type document struct {
	Title  string
	Policy string
	Style  string
	Script string
	Sets   []documentSet
	Blocks []documentBlock
	// Served: the bodies of the pages and their data are asked for when they
	// are looked at, see Handler.
	Served bool
}

type documentSet struct {
	Index        int
	Label, About string
	Pages        []documentPage
}

type documentPage struct {
	ID, Title string
	Body      template.HTML
	HasScript bool
}

// A documentBlock is written as it is, see document.write.
type documentBlock struct {
	id    string
	block block
}

// documentFacts is what core.js knows of the sets.
type documentFacts struct {
	Sets   []setFacts `json:"sets"`
	Served bool       `json:"served,omitempty"`
}

type setFacts struct {
	Label    string   `json:"label"`
	Features []string `json:"features"`
	Pages    []string `json:"pages"`
}

// newDocument lays out the sets and marshals their data.
func newDocument(sets []*set, opt Options) (*document, error) {
	d := &document{Title: clean(opt.Title)}
	used := make(map[string]bool)
	var labels []string
	var ids []string // of the pages, in their order
	var facts documentFacts
	for i, s := range sets {
		if !s.pair {
			labels = append(labels, s.label)
		}
		out := documentSet{Index: i, Label: s.label, About: s.about}
		f := setFacts{Label: s.label, Features: s.features}
		for _, p := range s.pages {
			if !used[p.id] {
				used[p.id] = true
				ids = append(ids, p.id)
			}
			out.Pages = append(out.Pages, documentPage{p.id, p.title, p.body, pageAsset(p.id, ".js") != ""})
			f.Pages = append(f.Pages, p.id)
			if p.data != nil {
				if err := d.add(fmt.Sprintf("data-%d-%s", i, p.id), p.data); err != nil {
					return nil, err
				}
			}
		}
		// After the pages, which have put their names into the table.
		if err := d.add(fmt.Sprintf("names-%d", i), s.names.encode()); err != nil {
			return nil, err
		}
		d.Sets = append(d.Sets, out)
		facts.Sets = append(facts.Sets, f)
	}
	if err := d.add("facts", facts); err != nil {
		return nil, err
	}
	d.dress(labels, ids)
	return d, nil
}

// add adds a block of data.
func (d *document) add(id string, data any) error {
	b, err := encodeBlock(data)
	if err != nil {
		return fmt.Errorf("data of %s: %w", id, err)
	}
	d.Blocks = append(d.Blocks, documentBlock{id, b})
	return nil
}

// titleLabels is how many profiles a title names.
const titleLabels = 4

// pairLabel is what the set of pages that compare two profiles is called.
const pairLabel = "Comparison"

// dress gives a document that shows pages of these ids, of sets of these
// labels, its title, style, script and policy.
func (d *document) dress(labels, ids []string) {
	if n := len(labels); n > titleLabels+1 {
		labels = append(labels[:titleLabels:titleLabels], fmt.Sprintf("%d more", n-titleLabels))
	}
	if d.Title == "" {
		labels = slices.DeleteFunc(slices.Clone(labels), func(l string) bool { return l == pairLabel })
		d.Title = strings.Join(labels, ", ") + " – profuse report"
	}
	d.Style = joinAssets([]string{"report", "plot"}, ids, ".css", "", "")
	d.Script = joinAssets([]string{"core", "frame", "table", "plot"}, ids, ".js", "{\n", "}\n")
	d.Policy = fmt.Sprintf("default-src 'none'; style-src '%s'; script-src '%s'; base-uri 'none'; form-action 'none'", hashOf(d.Style), hashOf(d.Script))
	if d.Served {
		d.Policy += "; connect-src 'self'"
	}
}

// joinAssets puts together the files of the core and of the pages that are
// there, the latter between before and after: what the scripts of a page declare
// is its own.
func joinAssets(core, pages []string, suffix, before, after string) string {
	var b strings.Builder
	b.WriteByte('\n')
	for _, name := range core {
		b.Write(asset(name + suffix))
	}
	for _, id := range pages {
		if text := pageAsset(id, suffix); text != "" {
			b.WriteString(before)
			b.WriteString(text)
			b.WriteString(after)
		}
	}
	return b.String()
}

// hashOf returns a text's name in a content security policy.
func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// write writes the file. Style, script and data stand between what the template
// makes: the policy has hashes of the first two, so not a byte may change.
func (d *document) write(w io.Writer) error {
	head, err := execute("report-head", d)
	if err != nil {
		return err
	}
	body, err := execute("report-body", d)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	b.WriteString(string(head))
	fmt.Fprintf(&b, "<style>%s</style>\n", d.Style)
	b.WriteString(string(body))
	for _, data := range d.Blocks {
		fmt.Fprintf(&b, "<script type=%q id=%q>%s</script>\n", data.block.mime, data.id, data.block.text)
	}
	fmt.Fprintf(&b, "<script>%s</script>\n", d.Script)
	b.WriteString("</body>\n</html>\n")
	_, err = w.Write(b.Bytes())
	return err
}
