package report

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/profuse-pgo/profuse/internal/parallel"
)

type document struct {
	Title  string
	Policy string
	Style  string
	Script string
	Sets   []documentSet
	Blocks []block
	// Served means that the browser fetches the bodies and data of pages when the user opens them; see Handler.
	Served bool

	facts  []setFacts // by set
	labels []string   // of the profiles
	ids    []string   // of the pages, in their order
}

type documentSet struct {
	Index        int
	Label, About string
	Pages        []*page
}

type documentFacts struct {
	Sets   []setFacts `json:"sets"`
	Served bool       `json:"served,omitempty"`
}

// setFacts are the facts about a set that scripts need before they read its data; Pages has ids.
type setFacts struct {
	Label    string   `json:"label"`
	Features []string `json:"features"`
	Pages    []string `json:"pages"`
}

type madePage struct {
	page   *page
	blocks []block // the page's data
	err    error
	named  chan struct{} // closed when the page has added all its names
}

// addPages makes the pages of a set, as many at a time as there are CPUs, and adds them with their data.
// The numbers of names follow the order of the pages: a page adds its names after the page before it,
// and lets other pages work while it waits. addPages omits a set without pages, such as the comparison
// of two profiles that cannot be compared.
func (d *document) addPages(s *set, progress func(label, page string) error) error {
	index, names := len(d.Sets), newNameTable()
	made := make([]madePage, len(s.pages))
	for i := range made {
		made[i].named = make(chan struct{})
	}
	busy := make(chan struct{}, runtime.GOMAXPROCS(0)) // an element for each page that is being made
	var work sync.WaitGroup
	var stopped error
	start := func(i int, making *sync.WaitGroup) {
		busy <- struct{}{}
		if progress != nil && stopped == nil {
			stopped = progress(s.label, s.pages[i].id)
		}
		skip := stopped != nil // the page is not made, but passes the turn on
		making.Add(1)
		pause := sync.OnceFunc(making.Done)
		work.Go(func() {
			own := names.after(func() {
				if i > 0 {
					pause()
					<-busy
					<-made[i-1].named
					busy <- struct{}{}
				}
			})
			p := &made[i]
			if !skip {
				p.page, p.err = s.pages[i].make(own)
			}
			own.wait()
			close(p.named)
			if p.err == nil {
				p.blocks, p.err = p.page.encode(fmt.Sprintf("data-%d-%s", index, s.pages[i].id))
			}
			pause()
			<-busy
		})
	}
	for _, late := range []bool{false, true} {
		var making sync.WaitGroup // pages that are not finished and do not wait for names
		for i := range s.pages {
			if s.pages[i].late == late {
				start(i, &making)
			}
		}
		making.Wait()
	}
	<-made[len(made)-1].named
	ownNames, nameErr := encodeBlock(fmt.Sprintf("names-%d", index), names.encode())
	work.Wait()
	err := stopped
	var pages []*page
	var blocks []block
	for i := range made {
		err = cmp.Or(err, made[i].err)
		if p := made[i].page; p != nil {
			pages, blocks = append(pages, p), append(blocks, made[i].blocks...)
		}
	}
	if err = cmp.Or(err, nameErr); err != nil || len(pages) == 0 {
		return err
	}
	d.Blocks = append(append(d.Blocks, blocks...), ownNames)
	d.addSet(s, pages)
	return nil
}

// encode returns the blocks of a page's data, and drops the data.
func (p *page) encode(id string) ([]block, error) {
	if p == nil || p.data == nil {
		return nil, nil
	}
	data, parts := p.data, p.parts
	p.data, p.parts = nil, nil
	first, err := encodeBlock(id, data)
	if err != nil {
		return nil, err
	}
	more, err := encodeParts(id, parts)
	return append([]block{first}, more...), err
}

// addSet adds a set, and the facts about it for scripts.
func (d *document) addSet(s *set, pages []*page) {
	facts := setFacts{Label: s.label, Features: s.features}
	for _, p := range pages {
		facts.Pages = append(facts.Pages, p.ID)
		if !slices.Contains(d.ids, p.ID) {
			d.ids = append(d.ids, p.ID)
		}
	}
	if !s.pair {
		d.labels = append(d.labels, s.label)
	}
	d.Sets = append(d.Sets, documentSet{len(d.Sets), s.label, s.about, pages})
	d.facts = append(d.facts, facts)
}

func (d *document) addBlock(id string, data any) error {
	b, err := encodeBlock(id, data)
	if err != nil {
		return err
	}
	d.Blocks = append(d.Blocks, b)
	return nil
}

func encodeParts(id string, parts []func() any) ([]block, error) {
	blocks, errs := make([]block, len(parts)), make([]error, len(parts))
	parallel.Each(len(parts), func(i int) {
		blocks[i], errs[i] = encodeBlock(fmt.Sprintf("%s-%d", id, i), parts[i]())
	})
	return blocks, errors.Join(errs...)
}

// coreScripts come before the scripts of the pages, which use them.
var coreScripts = []string{"core", "frame", "table", "plot", "tree"}

const titleLabels = 4

// finish adds the parts that depend on all sets: the facts about them, the title, and
// the style, the scripts and the policy of their pages.
func (d *document) finish() error {
	if err := d.addBlock("facts", documentFacts{d.facts, d.Served}); err != nil {
		return err
	}
	if d.Title == "" {
		labels := d.labels
		if n := len(labels); n > titleLabels+1 {
			labels = append(slices.Clone(labels[:titleLabels]), fmt.Sprintf("%d more", n-titleLabels))
		}
		d.Title = strings.Join(labels, ", ") + " – profuse report"
	}
	d.Style = "\n" + d.joinAssets([]string{"report", "plot"}, ".css", "", "")
	d.Script = "\n'use strict';\nconst profuse = {};\n" + d.joinAssets(coreScripts, ".js", "{\n", "}\n")
	d.Policy = fmt.Sprintf("default-src 'none'; style-src '%s'; script-src '%s'; base-uri 'none'; form-action 'none'", hashOf(d.Style), hashOf(d.Script))
	if d.Served {
		d.Policy += "; connect-src 'self'"
	}
	return nil
}

// joinAssets joins the files of the core and of the pages. It puts each file between before and after, which give
// a script a scope of its own; scripts share only the properties of the object profuse.
func (d *document) joinAssets(core []string, suffix, before, after string) string {
	var b strings.Builder
	write := func(name string) {
		b.WriteString(before)
		b.Write(asset(name))
		b.WriteString(after)
	}
	for _, name := range core {
		write(name + suffix)
	}
	for _, id := range d.ids {
		for _, name := range pageAssets(id, suffix) {
			write(name)
		}
	}
	return b.String()
}

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// write writes the file. It inserts style, script and data between the parts that the templates make,
// byte for byte: the policy holds hashes of style and script.
func (d *document) write(w io.Writer) error {
	head, err := execute("report-head", d)
	if err != nil {
		return err
	}
	body, err := execute("report-body", d)
	if err != nil {
		return err
	}
	b := bufio.NewWriter(w)
	b.WriteString(string(head))
	fmt.Fprintf(b, "<style>%s</style>\n", d.Style)
	b.WriteString(string(body))
	for _, data := range d.Blocks {
		fmt.Fprintf(b, "<script type=%q id=%q>%s</script>\n", data.mime, data.id, data.text)
	}
	fmt.Fprintf(b, "<script>%s</script>\n", d.Script)
	b.WriteString("</body>\n</html>\n")
	return b.Flush()
}
