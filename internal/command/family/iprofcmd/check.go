package iprofcmd

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/formats/iprof"
	"github.com/profuse-pgo/profuse/internal/command/family"
	"github.com/profuse-pgo/profuse/internal/command/sources"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
	"github.com/profuse-pgo/profuse/internal/program/classfile"
	"github.com/profuse-pgo/profuse/internal/saturate"
	"github.com/profuse-pgo/profuse/profile"
)

// checkFile checks an iprof file. A recording without names of methods cannot be compared with
// classes. Records are the entries of all sets.
func checkFile(res *family.Checked, name string, data []byte, classes *classIndex) {
	p, findings := iprof.Check(name, data)
	if p != nil {
		own := &checked{}
		if classes != nil && !p.Placeholder() {
			own.Classes = classes.compare(p)
		}
		res.Own, res.Records = own, entries(p)
		res.SetVersion(p.Version.String())
	}
	for _, f := range findings {
		if f.Severity == "error" {
			res.Findings = append(res.Findings, newFinding(f))
		} else {
			res.Remarks = append(res.Remarks, newFinding(f))
		}
	}
}

type checked struct {
	Classes *classesFacts `json:"classes,omitempty"` // with --classes
}

// Print prints the comparison with the classes, if there is one.
func (c *checked) Print(w io.Writer) {
	if c.Classes != nil {
		c.Classes.Print(w)
	}
}

// newFinding describes a finding: its position, and how often it was found.
func newFinding(f iprof.Finding) family.Finding {
	e := &console.Error{Class: profile.ErrCorrupt}
	if f.Err != nil {
		e.Class, e.Field, e.Got, e.Want = profile.ClassOf(f.Err), f.Err.Field, f.Err.Got, f.Err.Want
	}
	e.SetPosition(f.Position)
	if where := f.Position.Where(); where != "" {
		e.Message = where + ": "
	}
	e.Message += f.Message
	switch {
	case f.Of > 0:
		e.Message += fmt.Sprintf(" (%d of %d, %s)", f.Count, f.Of, cli.Percent(f.Count, f.Of))
	case f.Count > 1:
		e.Message += fmt.Sprintf(" (%d times)", f.Count)
	}
	if f.Err != nil {
		e.Message += ": " + e.Class.Error()
	}
	return family.Finding{Error: e, Rule: f.Rule, Severity: f.Severity, Count: f.Count, Of: f.Of}
}

type classIndex struct {
	index    *classfile.Index
	packages map[string]bool
	term     cli.Terminal
}

// newClassIndex reads the classes; nil if none are given.
func newClassIndex(env *cli.Env, p *sources.Programs) (*classIndex, error) {
	index, err := p.ReadClasses(env)
	if index == nil || err != nil {
		return nil, err
	}
	c := &classIndex{index: index, packages: make(map[string]bool), term: env.Terminal(env.Stdout)}
	for class := range index.Classes() {
		c.packages[packageOf(class.Name)] = true
	}
	return c, nil
}

// packageOf returns the package of a class, "" for the unnamed one.
func packageOf(class string) string {
	if i := strings.LastIndexByte(class, '.'); i >= 0 {
		return class[:i]
	}
	return ""
}

// isGeneratedClass reports, by its name, whether the image builder generates the class: lambdas,
// hidden classes, proxies. Such a class has no class file.
func isGeneratedClass(name string) bool {
	return strings.ContainsAny(name, "/[") || strings.Contains(name, "$$") || strings.Contains(name, "$Proxy") || strings.Contains(name, "LambdaForm$")
}

// A methodStatus says whether the class files have a method with its types, or no longer have it.
type methodStatus struct{ exists, gone bool }

// status returns the status of a method. An unknown method of another package is not gone: it may be in another jar or
// in the runtime.
func (c *classIndex) status(ref iprof.MethodRef) methodStatus {
	if _, ok := c.index.Method(ref.Class, ref.Name, ref.Parameters, ref.Return); ok {
		return methodStatus{exists: true}
	}
	_, known := c.index.Class(ref.Class)
	return methodStatus{gone: known || c.packages[packageOf(ref.Class)] && !isGeneratedClass(ref.Class)}
}

// classesFacts counts the entries of a profile whose methods still exist.
type classesFacts struct {
	Classes int               `json:"classes"` // in the class files
	Sets    []classesSetFacts `json:"sets"`
	Gone    []goneMethodFacts `json:"gone_methods"`
	term    cli.Terminal
}

// classesSetFacts counts the entries of one set. The other entries have methods of generated
// classes, or of packages without class files.
type classesSetFacts struct {
	Set          string `json:"set"`
	Entries      int    `json:"entries"`
	EntriesExist int    `json:"entries_exist"` // all methods exist
	EntriesGone  int    `json:"entries_gone"`  // a method is gone
	Count        int64  `json:"count"`
	CountExist   int64  `json:"count_exist"`
	CountGone    int64  `json:"count_gone"`
}

// goneMethodFacts describe a method of the profile that no longer exists. The counts are of entries
// with the method in the first frame.
type goneMethodFacts struct {
	Method     string `json:"method"`
	Descriptor string `json:"descriptor"`
	// Why is "class" if the class is gone, "types" if it has methods of this name with other types, otherwise "method".
	Why     string `json:"why"`
	Calls   int64  `json:"calls"`
	Samples int64  `json:"samples"`
	Entries int    `json:"entries"` // of all sets
}

// compare compares each set with the classes, except locks, which have no methods. An entry exists if
// all its methods exist, and is gone if any method is gone.
func (c *classIndex) compare(p *iprof.Profile) *classesFacts {
	f := &classesFacts{Classes: c.index.Len(), Sets: []classesSetFacts{}, Gone: []goneMethodFacts{}, term: c.term}
	index := make(map[iprof.MethodID]int)
	for k := range iprof.NumKinds {
		if k == iprof.Monitors || p.Sections[k].Len() == 0 {
			continue
		}
		set, gone := compareSet(p, k, c.status)
		f.Sets = append(f.Sets, set)
		for _, m := range gone {
			i, ok := index[m.Method]
			if !ok {
				i = len(f.Gone)
				index[m.Method] = i
				ref, _ := p.Ref(m.Method)
				f.Gone = append(f.Gone, goneMethodFacts{
					Method: ref.Class + "." + ref.Name, Descriptor: classfile.Descriptor(ref.Parameters, ref.Return), Why: c.why(ref),
				})
			}
			g := &f.Gone[i]
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

// compareSet counts the entries of a set by the status of their methods, and returns the methods that are gone, by count,
// descending. A method that is not in the table is gone, but not returned.
func compareSet(p *iprof.Profile, k iprof.Kind, status func(iprof.MethodRef) methodStatus) (f classesSetFacts, gone []methodCount) {
	methods := make(map[iprof.MethodID]methodStatus)
	gone = methodCounts(p, k, func(m *methodCount) bool {
		ref, ok := p.Ref(m.Method)
		if !ok {
			methods[m.Method] = methodStatus{gone: true}
			return false
		}
		s := status(ref)
		methods[m.Method] = s
		return s.gone
	})
	s := &p.Sections[k]
	f.Set, f.Entries, f.Count = k.String(), s.Len(), s.Total()
	for i := range s.Len() {
		exist, anyGone := true, false
		for _, frame := range s.Context(i) {
			m := methods[frame.Method]
			exist, anyGone = exist && m.exists, anyGone || m.gone
		}
		switch {
		case exist:
			f.EntriesExist++
			f.CountExist, _ = saturate.AddSigned(f.CountExist, s.Count(i))
		case anyGone:
			f.EntriesGone++
			f.CountGone, _ = saturate.AddSigned(f.CountGone, s.Count(i))
		}
	}
	return f, gone
}

func (c *classIndex) why(ref iprof.MethodRef) string {
	class, ok := c.index.Class(ref.Class)
	switch {
	case !ok:
		return "class"
	case slices.ContainsFunc(class.Methods, func(m classfile.Method) bool { return m.Name == ref.Name }):
		return "types"
	}
	return "method"
}

// maxGoneListed limits the table; JSON has all.
const maxGoneListed = 20

// Print prints the shares of each set's counts, and the methods that are gone, most calls first.
func (f *classesFacts) Print(w io.Writer) {
	p := &console.Printer{W: w, Term: f.term}
	var rows [][]string
	for _, s := range f.Sets {
		rows = append(rows, []string{
			cli.Percent(s.CountExist, s.Count), cli.Percent(s.CountGone, s.Count), cli.Percent(s.Count-s.CountExist-s.CountGone, s.Count), s.Set,
		})
	}
	p.Table([]string{"Exist", "Gone", "Not judged", fmt.Sprintf("Counts, by %s", cli.Quantity(f.Classes, "class", "classes"))}, rows)
	listed := f.Gone
	if more := len(f.Gone) - maxGoneListed; more > 0 {
		listed = append(listed[:maxGoneListed:maxGoneListed], goneMethodFacts{Method: fmt.Sprintf("… and %s more", cli.Count(more))})
	}
	printTable(p, []string{"Calls", "Samples", "Methods gone"}, listed, func(g *goneMethodFacts) []string {
		if g.Why == "" {
			return []string{"", "", g.Method}
		}
		why := map[string]string{"class": "no such class", "types": "now with other types", "method": "no such method"}[g.Why]
		return []string{cli.Count(g.Calls), cli.Count(g.Samples), fmt.Sprintf("%s%s: %s", g.Method, g.Descriptor, why)}
	})
}
