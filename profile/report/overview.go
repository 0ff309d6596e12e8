package report

import (
	"encoding/hex"
	"fmt"
	"html/template"
	"slices"
	"strconv"
	"strings"

	"github.com/profuse-pgo/profuse/profile"
)

const (
	topRows   = 20 // the length of the lists of the hottest functions and stacks
	topFrames = 12 // bounds the frames of a stack in such a list
)

// A fact is a line of the overview.
type fact struct {
	Name, Value string
	Mono        bool
}

// overviewPage shows what is hot first: how much of the program ran, the hottest functions and
// stacks. The distribution of the counts and the profile's identity follow.
func overviewPage(src *source) (*page, error) {
	n := survey(src)
	return newPage("overview", "Overview", struct {
		Verdict          string
		Findings         []string
		Sound            bool
		Identity, Totals []fact
		Heat             *heatChart
		Curve            *cutoffChart
		Functions        *topTable
		Stacks           *topTable
		Sets             []setTotal
	}{
		n.verdict(src), src.found(), src.checked && len(src.findings) == 0, identityFacts(src), n.totals(src), n.heatChart(), newCutoffChart(src), n.functions, n.stacks, n.sets,
	}, nil)
}

func (n *surveyed) verdict(src *source) string {
	s := &src.summary
	if s.Functions == 0 {
		return ""
	}
	text := fmt.Sprintf("%s of %s functions ran (%s).", countText(s.Covered), countText(s.Functions), percentText(float64(s.Covered)/float64(s.Functions)))
	if h := n.heat[hot]; src.heat.counts && h.Functions > 0 {
		text += fmt.Sprintf(" %s of them are hot and have %s of all counts.", countText(h.Functions), percentText(h.OfCounts))
	}
	return text
}

func (s *source) found() []string {
	var out []string
	for _, finding := range s.findings {
		out = append(out, clean(finding))
	}
	return out
}

func identityFacts(src *source) []fact {
	id := &src.id
	var out []fact
	add := func(name, value string) {
		if value != "" {
			out = append(out, fact{Name: name, Value: value})
		}
	}
	add("File", id.File)
	add("Family", id.Family)
	add("Format", id.Format)
	add("Version", id.Version)
	add("Written by", id.Producer)
	add("Readable by", id.ReadableBy)
	add("Variant", strings.Join(id.Variant, ", "))
	var builds []string
	for i, b := range id.BuildIDs {
		if i == maxStaticRows {
			builds = append(builds, "and "+countText(uint64(len(id.BuildIDs)-i))+" more")
			break
		}
		builds = append(builds, hex.EncodeToString(b))
	}
	if len(builds) > 0 {
		name := map[bool]string{false: "Build id", true: "Build ids"}[len(builds) > 1]
		out = append(out, fact{name, strings.Join(builds, ", "), true})
	}
	add("Not shown here", strings.Join(id.Omits, ", "))
	return out
}

// A surveyed profile is the data that the overview collects in one walk.
type surveyed struct {
	heat      [ran + 1]heatClass
	functions *topTable
	stacks    *topTable // of the first set
	sets      []setTotal
	edges     [profile.MemOpSize + 1]uint64
	traces    uint64
}

type heatClass struct {
	Name      string
	Functions uint64
	OfCounts  float64 // their share of the total
	total     float64
}

type setTotal struct {
	Name, Description string
	Stacks            uint64
	Values            []namedValue
}

type namedValue struct {
	Name  string
	Value uint64
	Unit  profile.Unit
}

type topTable struct {
	Value  string // what is counted
	Unit   profile.Unit
	Calls  bool // there is also a column of calls
	Files  bool
	Shares bool
	Rows   []topRow
	More   uint64 // items that are not listed
	What   string // name of the stack set; empty for functions
}

// A topRow is a function or stack. Share is of the total, and Cumulative the share of all rows so far.
type topRow struct {
	Name, File        string
	Frames            []string // of a stack, the callee first
	MoreFrames        int
	Count, Calls      uint64
	Share, Cumulative float64
	Labels            []string
}

// A topList keeps the rows with the greatest counts, the first of equal ones.
type topList struct {
	rows []topRow
	seen uint64
}

func (l *topList) admits(count uint64) bool {
	l.seen++
	return count > 0 && (len(l.rows) < topRows || count > l.rows[len(l.rows)-1].Count)
}

func (l *topList) insertRow(r topRow, labels []profile.Label) {
	for _, label := range labels {
		r.Labels = append(r.Labels, clean(label.Value))
	}
	at, _ := slices.BinarySearchFunc(l.rows, r.Count, func(a topRow, count uint64) int {
		if a.Count >= count {
			return -1
		}
		return 1
	})
	l.rows = slices.Insert(l.rows[:min(len(l.rows), topRows-1)], at, r)
}

func (s *source) functionCount(f *profile.Function) uint64 {
	if s.summary.OfCalls {
		return f.Calls
	}
	return f.Total()
}

// survey walks over functions, stacks and edges once for all that the overview shows.
func survey(src *source) *surveyed {
	n := &surveyed{}
	var top topList
	sum := 0.0
	for f := range profile.ReusedFunctions(src.view) {
		h, count := src.heat.of(f), src.functionCount(f)
		n.heat[h].Functions++
		n.heat[h].total += float64(count)
		sum += float64(count)
		if src.heat.counts && top.admits(count) {
			top.insertRow(topRow{Name: src.symbolName(&f.Symbol), File: clean(f.File), Count: count, Calls: f.Calls}, f.Labels)
		}
	}
	for h := range n.heat {
		n.heat[h].Name = heat(h).String()
		if sum > 0 {
			n.heat[h].OfCounts = n.heat[h].total / sum
		}
	}
	if src.heat.counts {
		t := &topTable{Value: "Count", Unit: profile.Count, Shares: true, Calls: !src.summary.OfCalls && src.features.Calls && !src.features.CallsAreCoverage}
		if src.summary.OfCalls {
			t.Value = "Calls"
		}
		t.fillRows(&top, sum)
		n.functions = t
	}
	for at, set := range src.view.Stacks() {
		n.addSet(src, at == 0, set)
	}
	for _, e := range src.edges().edges {
		if e.kind > 0 && int(e.kind) < len(n.edges) {
			n.edges[e.kind]++
		}
	}
	for range src.view.Traces() {
		n.traces++
	}
	return n
}

func (n *surveyed) addSet(src *source, first bool, set profile.StackSet) {
	total := setTotal{Name: clean(set.Name), Description: clean(set.Description)}
	for _, v := range set.Values {
		total.Values = append(total.Values, namedValue{Name: clean(v.Name), Unit: v.Unit})
	}
	var top topList
	sum := 0.0
	for s := range set.ReusedStacks {
		for i := range total.Values {
			v := &total.Values[i].Value
			if total.Stacks == 0 {
				*v = s.Values[i]
			} else {
				*v = combine(set.Values[i].Combine, *v, s.Values[i])
			}
		}
		total.Stacks++
		sum += float64(s.Values[0])
		if first && top.admits(s.Values[0]) {
			row := topRow{Count: s.Values[0], MoreFrames: max(0, len(s.Frames)-topFrames)}
			for i := range s.Frames[:len(s.Frames)-row.MoreFrames] {
				row.Frames = append(row.Frames, src.frameName(&s.Frames[i]))
			}
			top.insertRow(row, s.Labels)
		}
	}
	n.sets = append(n.sets, total)
	if first && total.Stacks > 0 {
		n.stacks = &topTable{Value: total.Values[0].Name, Unit: total.Values[0].Unit, Shares: set.Values[0].Combine == profile.Sum, What: total.Name}
		n.stacks.fillRows(&top, sum)
	}
}

func (t *topTable) fillRows(top *topList, sum float64) {
	counts := 0.0
	for i := range top.rows {
		row := &top.rows[i]
		if sum > 0 {
			row.Share = float64(row.Count) / sum
			counts += float64(row.Count)
			row.Cumulative = min(counts/sum, 1)
		}
		t.Files = t.Files || row.File != ""
	}
	t.Rows, t.More = top.rows, top.seen-uint64(len(top.rows))
}

func (s *source) frameName(f *profile.Frame) string {
	name := s.symbolName(&f.Symbol)
	switch {
	case f.Line != 0 && s.features.Lines:
		return name + ":" + strconv.Itoa(int(f.Line))
	case s.features.LineOffsets:
		return name + ":+" + strconv.Itoa(int(f.Line))
	case s.features.Bytecodes && f.BCI >= 0:
		return name + "@" + strconv.Itoa(int(f.BCI))
	}
	return name
}

func (n *surveyed) totals(src *source) []fact {
	s := &src.summary
	var out []fact
	add := func(name string, count uint64, wanted bool) {
		if wanted {
			out = append(out, fact{Name: name, Value: countText(count)})
		}
	}
	of := func(name string, part, whole uint64) {
		value := countText(part)
		if whole > 0 {
			value += " (" + percentText(float64(part)/float64(whole)) + ")"
		}
		out = append(out, fact{Name: name, Value: value})
	}
	add("Functions", s.Functions, true)
	counted := src.features.Calls || src.features.Blocks
	if counted {
		of("Functions that ran", s.Covered, s.Functions)
	}
	add("Blocks", s.Blocks, s.Blocks > 0)
	if s.Blocks > 0 {
		of("Blocks that ran", s.CoveredBlocks, s.Blocks)
	}
	if src.heat.counts {
		add("Greatest block count", s.Counts.Max, !s.OfCalls)
		add("Total of block counts", s.Counts.Total, !s.OfCalls)
		add("Most calls of a function", s.MaxCalls, src.features.Calls && !src.features.CallsAreCoverage)
		add("Total of calls", s.Counts.Total, s.OfCalls)
	}
	for kind := profile.Call; kind <= profile.MemOpSize; kind++ {
		add("Edges: "+strings.ReplaceAll(kind.String(), "_", " "), n.edges[kind], n.edges[kind] > 0)
	}
	add("Traces of first calls", n.traces, n.traces > 0)
	return out
}

// A heatChart has a bar of the functions by heat, and one of their counts.
type heatChart struct {
	Classes []heatClass
	Bars    []heatBar
	Counts  bool
	Text    string
}

type heatBar struct {
	Name     string
	Segments []segment
}

// A segment is a part of a bar, in percent of its length.
type segment struct {
	Class, Title string
	At, Length   template.HTMLAttr
	Label        string
	LabelClass   string
}

func (n *surveyed) heatChart() *heatChart {
	c := &heatChart{}
	total := uint64(0)
	for _, h := range []heat{hot, warm, cold, ran, never} {
		if k := n.heat[h]; k.Functions > 0 {
			c.Classes = append(c.Classes, k)
			total += k.Functions
			c.Counts = c.Counts || h == hot
		}
	}
	if total == 0 || len(c.Classes) == 1 && n.heat[ran].Functions+n.heat[never].Functions > 0 {
		return nil // the profile says only that there are functions
	}
	var words []string
	c.addBar("Functions", func(k heatClass) (float64, string) {
		share := float64(k.Functions) / float64(total)
		words = append(words, countText(k.Functions)+" "+k.Name)
		return share, k.Name + ": " + countText(k.Functions) + " functions, " + percentText(share)
	})
	if c.Counts {
		c.addBar("Counts", func(k heatClass) (float64, string) {
			return k.OfCounts, k.Name + ": " + percentText(k.OfCounts) + " of all counts"
		})
	}
	c.Text = "Functions by how hot they are: " + strings.Join(words, ", ")
	return c
}

// addBar adds a bar. Labels of short segments are left out, or shown where there is room.
func (c *heatChart) addBar(name string, share func(heatClass) (float64, string)) {
	bar, at := heatBar{Name: name}, 0.0
	for _, k := range c.Classes {
		part, title := share(k)
		s := segment{Class: "fill-" + k.Name, Title: title, At: percentAttr("x", at), Length: percentAttr("width", part)}
		if part > 0.12 {
			s.Label = k.Name + " " + percentText(part)
		}
		if part < 0.3 {
			s.LabelClass = " seldom"
		}
		if part > 0 {
			bar.Segments = append(bar.Segments, s)
		}
		at += part
	}
	c.Bars = append(c.Bars, bar)
}
