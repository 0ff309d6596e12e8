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

	// Of the sets that were added.
	facts  []setFacts
	labels []string // of the profiles
	ids    []string // of the pages, in their order
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

// documentFacts is what frame.js knows of the sets.
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
	for i, s := range sets {
		var pages []documentPage
		for _, p := range s.pages {
			pages = append(pages, documentPage{ID: p.id, Title: p.title, Body: p.body})
			if p.data == nil {
				continue
			}
			if err := d.add(fmt.Sprintf("data-%d-%s", i, p.id), p.data); err != nil {
				return nil, err
			}
		}
		// After the pages, which have put their names into the table.
		if err := d.add(fmt.Sprintf("names-%d", i), s.names.encode()); err != nil {
			return nil, err
		}
		d.addSet(&s.setHead, pages)
	}
	return d, d.finish()
}

// addSet adds a set, and what scripts are to know of it.
func (d *document) addSet(head *setHead, pages []documentPage) {
	facts := setFacts{Label: head.label, Features: head.features}
	for i := range pages {
		p := &pages[i]
		p.HasScript = pageAsset(p.ID, ".js") != ""
		facts.Pages = append(facts.Pages, p.ID)
		if !slices.Contains(d.ids, p.ID) {
			d.ids = append(d.ids, p.ID)
		}
	}
	if !head.pair {
		d.labels = append(d.labels, head.label)
	}
	d.Sets = append(d.Sets, documentSet{len(d.Sets), head.label, head.about, pages})
	d.facts = append(d.facts, facts)
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

// coreScripts come before those of the pages, which use them.
var coreScripts = []string{"core", "frame", "table", "plot", "tree"}

// titleLabels is how many profiles a title names.
const titleLabels = 4

// finish adds what the sets decide: the facts about them, the title, and the
// style, the scripts and the policy of their pages.
func (d *document) finish() error {
	if err := d.add("facts", documentFacts{d.facts, d.Served}); err != nil {
		return err
	}
	if d.Title == "" {
		labels := d.labels
		if n := len(labels); n > titleLabels+1 {
			labels = append(slices.Clone(labels[:titleLabels]), fmt.Sprintf("%d more", n-titleLabels))
		}
		d.Title = strings.Join(labels, ", ") + " – profuse report"
	}
	d.Style = joinAssets([]string{"report", "plot"}, d.ids, ".css", "", "")
	d.Script = joinAssets(coreScripts, d.ids, ".js", "{\n", "}\n")
	d.Policy = fmt.Sprintf("default-src 'none'; style-src '%s'; script-src '%s'; base-uri 'none'; form-action 'none'", hashOf(d.Style), hashOf(d.Script))
	if d.Served {
		d.Policy += "; connect-src 'self'"
	}
	return nil
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
