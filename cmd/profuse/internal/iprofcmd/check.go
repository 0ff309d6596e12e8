package iprofcmd

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/classfile"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/cli"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/console"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/family"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/sources"
	"github.com/profuse-pgo/profuse/iprof"
	"github.com/profuse-pgo/profuse/profile"
)

// checkIprof checks an iprof file. Errors make it unsound; what is odd only is
// a remark.
func checkIprof(res *family.Checked, name string, data []byte, classes *iprofClasses) {
	rep := iprof.Check(name, data)
	if p := rep.Profile; p != nil {
		own := &checked{FormatVersion: p.Version.String()}
		if classes != nil && !p.Placeholder() {
			own.Classes = classes.judge(p)
		}
		res.Own, res.Records = own, p.Entries()
	}
	for _, f := range rep.Findings {
		if f.Severity == iprof.Broken {
			res.Findings = append(res.Findings, newIprofFinding(f))
		} else {
			res.Remarks = append(res.Remarks, newIprofFinding(f))
		}
	}
}

// checked is what is found out about iprof profiles alone.
type checked struct {
	FormatVersion string        `json:"format_version,omitempty"`
	Classes       *classesFacts `json:"classes,omitempty"` // with --classes
}

func (c *checked) Version() string { return c.FormatVersion }

func (c *checked) Print(w io.Writer) {
	if c.Classes != nil {
		c.Classes.Print(w)
	}
}

func newIprofFinding(f iprof.Finding) console.Finding {
	out := console.Finding{
		Class: profile.ErrCorrupt.Error(), Rule: f.Rule, Severity: f.Severity.String(),
		Section: f.Place.Section, Line: f.Place.Line, Column: f.Place.Column, Count: f.Count, Of: f.Of, Message: f.Message,
	}
	switch {
	case f.Err != nil:
		out.Class, out.Field, out.Found, out.Want = profile.Class(f.Err).Error(), f.Err.Field, f.Err.Found, f.Err.Want
	case f.Severity != iprof.Broken:
		out.Class = f.Severity.String()
	}
	if f.Place.Offset >= 0 {
		out.Offset = &f.Place.Offset
	}
	if f.Place.Record >= 0 {
		out.Record = &f.Place.Record
	}
	if where := f.Place.Where(); where != "" {
		out.Message = where + ": " + out.Message
	}
	switch {
	case f.Of > 0:
		out.Message += fmt.Sprintf(" (%d of %d, %s)", f.Count, f.Of, cli.Percent(uint64(f.Count), uint64(f.Of)))
	case f.Count > 1:
		out.Message += fmt.Sprintf(" (%d times)", f.Count)
	}
	if f.Err != nil {
		out.Message += ": " + out.Class
	}
	return out
}

// iprofClasses are the classes of a program to hold a profile against.
type iprofClasses struct {
	index    *classfile.Index
	packages map[string]bool
	term     cli.Terminal
}

// newIprofClasses reads the classes; nil if there are none.
func newIprofClasses(env *cli.Env, p *sources.Programs) (*iprofClasses, error) {
	index, err := p.ReadClasses(env)
	if index == nil || err != nil {
		return nil, err
	}
	c := &iprofClasses{index: index, packages: make(map[string]bool), term: env.Terminal(env.Stdout)}
	for class := range index.Classes() {
		c.packages[packageOf(class.Name)] = true
	}
	return c, nil
}

func packageOf(class string) string {
	if i := strings.LastIndexByte(class, '.'); i >= 0 {
		return class[:i]
	}
	return ""
}

// isGeneratedClass reports whether the image builder generates a class, so that
// it has no class file: lambdas, hidden classes, proxies.
func isGeneratedClass(name string) bool {
	return strings.ContainsAny(name, "/[") || strings.Contains(name, "$$") || strings.Contains(name, "$Proxy") || strings.Contains(name, "LambdaForm$")
}

func (c *iprofClasses) exists(ref iprof.MethodRef) bool {
	_, ok := c.index.Method(ref.Class, ref.Name, ref.Parameters, ref.Return)
	return ok
}

// gone reports whether the classes would have the method if it still existed.
// Those of other packages are in other jars or in the runtime.
func (c *iprofClasses) gone(ref iprof.MethodRef) bool {
	if c.exists(ref) {
		return false
	}
	_, known := c.index.Class(ref.Class)
	return known || c.packages[packageOf(ref.Class)] && !isGeneratedClass(ref.Class)
}

// classesFacts says how much of a profile is about methods that classes have.
type classesFacts struct {
	Classes int               `json:"classes"` // in the class files
	Sets    []classesSetFacts `json:"sets"`
	Gone    []goneMethodFacts `json:"gone_methods"`
	term    cli.Terminal
}

// classesSetFacts counts the entries of one set. Entries that are neither existing
// nor gone are about generated classes, or packages that the class files lack.
type classesSetFacts struct {
	Set          string `json:"set"`
	Entries      int    `json:"entries"`
	EntriesExist int    `json:"entries_exist"` // of methods that all exist
	EntriesGone  int    `json:"entries_gone"`  // with a method that is gone
	Count        int64  `json:"count"`
	CountExist   int64  `json:"count_exist"`
	CountGone    int64  `json:"count_gone"`
}

type goneMethodFacts struct {
	Method     string `json:"method"`
	Descriptor string `json:"descriptor"`
	// Why is "class" if that is gone, "types" if the class has methods of the
	// name with other types, else "method".
	Why     string `json:"why"`
	Calls   int64  `json:"calls"`
	Samples int64  `json:"samples"`
	Entries int    `json:"entries"` // of all sets, that the method is in the first frame of
}

func (c *iprofClasses) judge(p *iprof.Profile) *classesFacts {
	f := &classesFacts{Classes: c.index.Len(), Sets: []classesSetFacts{}, Gone: []goneMethodFacts{}, term: c.term}
	index := make(map[iprof.MethodID]int)
	for _, k := range iprof.Kinds() {
		if k == iprof.Monitors || p.Section(k).Len() == 0 {
			continue
		}
		exist, _ := p.Relevance(k, c.exists)
		left, gone := p.Relevance(k, func(ref iprof.MethodRef) bool { return !c.gone(ref) })
		f.Sets = append(f.Sets, classesSetFacts{
			Set: k.SetName(), Entries: exist.Of, EntriesExist: exist.Entries, EntriesGone: left.Of - left.Entries,
			Count: exist.Total, CountExist: exist.Count, CountGone: left.Total - left.Count,
		})
		for _, m := range gone {
			at, ok := index[m.Method]
			if !ok {
				at = len(f.Gone)
				index[m.Method] = at
				f.Gone = append(f.Gone, goneMethodFacts{Method: m.Ref.Qualified(), Descriptor: m.Ref.Descriptor(), Why: c.why(m.Ref)})
			}
			g := &f.Gone[at]
			g.Entries += m.Entries
			switch k {
			case iprof.CallCounts:
				g.Calls = m.Self
			case iprof.Samples:
				g.Samples = m.Self
			}
		}
	}
	slices.SortStableFunc(f.Gone, func(a, b goneMethodFacts) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(b.Samples, a.Samples), cmp.Compare(b.Entries, a.Entries))
	})
	return f
}

func (c *iprofClasses) why(ref iprof.MethodRef) string {
	class, ok := c.index.Class(ref.Class)
	switch {
	case !ok:
		return "class"
	case slices.ContainsFunc(class.Methods, func(m classfile.Method) bool { return m.Name == ref.Name }):
		return "types"
	}
	return "method"
}

// maxGoneListed bounds the table; JSON has all.
const maxGoneListed = 20

func (f *classesFacts) Print(w io.Writer) {
	p := &console.Printer{W: w, Term: f.term}
	share := func(part, whole int64) string { return cli.Percent(uint64(max(part, 0)), uint64(max(whole, 0))) }
	var rows [][]string
	for _, s := range f.Sets {
		rows = append(rows, []string{
			share(s.CountExist, s.Count), share(s.CountGone, s.Count), share(s.Count-s.CountExist-s.CountGone, s.Count), s.Set,
		})
	}
	p.Table([]string{"Exist", "Gone", "Not judged", fmt.Sprintf("Counts, by %s", cli.Quantity(uint64(f.Classes), "class", "classes"))}, rows)
	if len(f.Gone) == 0 {
		return
	}
	rows = nil
	for i, g := range f.Gone {
		if i == maxGoneListed {
			rows = append(rows, []string{"", "", fmt.Sprintf("… and %s more", cli.Count(uint64(len(f.Gone)-i)))})
			break
		}
		why := map[string]string{"class": "no such class", "types": "now with other types", "method": "no such method"}[g.Why]
		rows = append(rows, []string{signed(g.Calls), signed(g.Samples), console.Printable(fmt.Sprintf("%s%s: %s", g.Method, g.Descriptor, why))})
	}
	printJavaTable(p, []string{"Calls", "Samples", "Methods gone"}, rows)
}
