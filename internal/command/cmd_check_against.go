package command

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/internal/command/families"
	"github.com/profuse-pgo/profuse/internal/command/family"
	"github.com/profuse-pgo/profuse/internal/command/sources"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/tally"
	"github.com/profuse-pgo/profuse/profile/compare"
	"github.com/profuse-pgo/profuse/symbolize"
)

// A gate limits how far a profile may differ from the last good one.
type gate struct {
	base string // file of the last good one; "" without a gate

	// The texts of the options, which limits parses. Their names in this order: --min-total-ratio,
	// --max-hot-turnover, --max-lost-functions, --min-overlap.
	totalRatio   string // of the totals
	hotTurnover  string // shares, in percent
	lostFunction string
	overlap      string

	// programs are those of the command; flagSet tells which options are given, bounds are the
	// names of those that limit.
	programs *sources.Programs
	flagSet  *cli.Flags
	bounds   []string
}

// idle returns a given option that has no effect without --against; "" if there
// is none.
func (g *gate) idle() (name string) {
	g.flagSet.Given(func(option string) {
		if option == "markdown" || slices.Contains(g.bounds, option) {
			name = option
		}
	})
	return name
}

// flags declares --against and its limits. Fit and comparison share them: see the help texts.
func (g *gate) flags(f *cli.Flags) {
	g.flagSet = f
	f.StringVar(&g.base, "against", "", "`LAST_GOOD` also compare FILE with this profile, or a sample profile with this program")
	for _, o := range []struct {
		to                 *string
		name, value, usage string
	}{
		{&g.totalRatio, "min-total-ratio", "0.5", "`R` with --against: fail if the total count is less than R times that of LAST_GOOD; not for programs"},
		{&g.hotTurnover, "max-hot-turnover", "25%", "`P%` with --against: fail if more than P % of the hot functions are no longer hot; for a program, if they are gone or have changed"},
		{&g.lostFunction, "max-lost-functions", "10%", "`P%` with --against: fail if more than P % of the functions that ran no longer run; for a program, if they are gone or renamed"},
		{&g.overlap, "min-overlap", "75%", "`P%` with --against: fail if the profiles give less than P % of their weight to the same functions; for a program, if less than P % of the weight fits it"},
	} {
		f.StringVar(o.to, o.name, o.value, o.usage)
		g.bounds = append(g.bounds, o.name)
	}
}

// A verdict is one comparison with a limit.
type verdict struct {
	Name  string  `json:"name"`  // the option without its dashes
	Limit float64 `json:"limit"` // ratio, or share from 0 to 1
	Found float64 `json:"found"`
	OK    bool    `json:"ok"`
	// Applies is false if the profiles cannot be compared in this way, such as
	// the totals of different formats; OK is then true.
	Applies bool `json:"applies"`

	what  string // "Total"
	least bool   // the limit is a minimum
	ratio bool   // not a share
}

// A judgement is the outcome of a gate: of two profiles, or of a profile and a program.
type judgement struct {
	verdicts []verdict
	// against is the rest of the JSON object: json adds the verdicts to it.
	against againstJSON

	// What is printed, in this order: what was compared, with names as a function returns them; the
	// counts of both profiles; the parts of the weight, under fitHeader; the functions behind it,
	// of two profiles or of a profile that does not fit a program.
	sides     func(name func(string) string) [][2]string
	counts    [][2]string
	parts     [][]string
	listings  []changeList
	functions func(p *console.Printer) (header []string, rows [][]string)
}

// limits parses the options. The verdicts are in the order of judge, the ratio of the totals first.
func (g *gate) limits() (v []verdict, err error) {
	// The first error stays; the values after it do not matter then.
	share := func(name, text, what string, least bool) {
		n, e := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
		if err == nil && (e != nil || !(n >= 0 && n <= 100)) {
			err = cli.Usagef("option --%s takes a percentage from 0 to 100, not %q", name, text)
		}
		v = append(v, verdict{Name: name, Limit: n / 100, what: what, least: least, Applies: true})
	}
	n, e := strconv.ParseFloat(g.totalRatio, 64)
	if e != nil || !(n >= 0) {
		err = cli.Usagef("option --min-total-ratio takes a number from 0 up, not %q", g.totalRatio)
	}
	v = append(v, verdict{Name: "min-total-ratio", Limit: n, what: "Total count", least: true, ratio: true, Applies: true})
	share("max-hot-turnover", g.hotTurnover, "No longer hot", false)
	share("max-lost-functions", g.lostFunction, "No longer run", false)
	share("min-overlap", g.overlap, "Weight in common", true)
	return v, err
}

// judge compares the profile in a file with the last good one, or with a program. A limit does not
// apply, and holds, where the profiles have nothing to compare: totals of different families or a
// base that never ran.
func (g *gate) judge(env *cli.Env, file string) (*judgement, error) {
	limits, err := g.limits()
	if err != nil {
		return nil, err
	}
	if fit, err := g.fit(env, file); fit != nil || err != nil {
		return judgeFit(fit, limits), err
	}
	views, err := sources.OpenViews(env, []string{g.base, file}, g.programs, nil)
	if err != nil {
		return nil, err
	}
	r, err := compare.Views(views[0], views[1], compare.Options{})
	if err != nil {
		return nil, err
	}
	var cold []compare.Change // hot or warm before; now cold, without counts or gone
	for _, c := range r.LeftHot {
		if c.After == compare.Absent || c.After == compare.NeverRan || c.After == compare.Cold {
			cold = append(cold, c)
		}
	}
	// Neither list is one of the comparison's: each takes together what a gate judges as one.
	lost := slices.Clone(r.Stopped) // ran before; now without counts or gone
	for _, c := range r.Disappeared {
		if c.Before != compare.NeverRan {
			lost = append(lost, c)
		}
	}
	j := &judgement{
		verdicts: limits,
		sides:    func(name func(string) string) [][2]string { return sideRows(r, "Last good", name) },
		counts: [][2]string{
			{ofKind(r), pair(r.Base.Items, r.New.Items)},
			{"That ran", pair(r.Base.Ran, r.New.Ran)},
			{"Hot", pair(r.Base.Hot, r.New.Hot)},
		},
		listings: []changeList{
			{"gone cold", "gone_cold", cold, true},
			{"no longer run", "lost", lost, true},
		},
	}
	base, other := newSideJSON(&r.Base), newSideJSON(&r.New)
	j.against.Base, j.against.New = &base, &other
	for _, l := range j.listings {
		j.against.Changes = append(j.against.Changes, newChangeListJSON(l, gateListed))
	}
	// The values are in the order of limits; that of the ratio is set below.
	for i, found := range []float64{0, r.HotTurnover, tally.Share(len(lost), r.Base.Ran), r.Overlap} {
		v := &j.verdicts[i]
		v.Found = found
		switch {
		case v.ratio && !sameUnits(r):
			v.Applies = false
		case v.ratio && r.Base.Total > 0:
			v.Found = r.New.Total / r.Base.Total
		case r.Base.Total == 0:
			v.Applies = false // no function can be lost
		}
		v.OK = !v.Applies || v.least && v.Found >= v.Limit || !v.least && v.Found <= v.Limit
	}
	return j, nil
}

// fit compares the profile in a file with a program. It returns nil if the base is not a program.
// The file must hold one profile, of a family that can be compared so.
func (g *gate) fit(env *cli.Env, file string) (fit *family.Fit, err error) {
	if !sources.IsProgram(g.base) {
		return nil, nil
	}
	err = sources.ReadOne(env, file, func(d *inputs.Data) error {
		at, _, err := families.Of(d.Name(), d.Bytes())
		if err != nil {
			return err
		}
		if families.All[at].Fit == nil {
			return flaw.File(g.base).Field("format").Got("a program").Want("the last good profile").
				Hint("only sample profiles are compared with programs").Mismatch()
		}
		program, err := symbolize.Open(g.base, symbolize.Options{Arch: g.programs.Arch, Inputs: sources.Options(env), Workers: g.programs.Workers})
		if err != nil {
			return err
		}
		defer program.Close()
		fit, err = families.All[at].Fit(program, d.Name(), d.Bytes(), console.Warnings(env))
		return err
	})
	return fit, err
}

// judgeFit holds the limits against how a profile fits a program. It has the total of the
// profile to itself.
func judgeFit(fit *family.Fit, limits []verdict) *judgement {
	if fit == nil {
		return nil
	}
	j := &judgement{sides: fit.Facts, parts: fit.Parts, functions: fit.Functions, against: againstJSON{Fit: fit.JSON}}
	for _, v := range limits {
		switch v.Name {
		case "max-hot-turnover":
			v.what, v.Found = "Hot, and gone or changed", fit.HotLost
		case "max-lost-functions":
			v.what, v.Found = "Functions that are gone", fit.Lost
		case "min-overlap":
			v.what, v.Found = "Weight that fits", 1-fit.Stale
		default:
			continue
		}
		v.Applies = fit.Ran > 0
		v.OK = !v.Applies || v.least && v.Found >= v.Limit || !v.least && v.Found <= v.Limit
		j.verdicts = append(j.verdicts, v)
	}
	return j
}

// passed reports whether the profile is within all limits.
func (j *judgement) passed() bool {
	return !slices.ContainsFunc(j.verdicts, func(v verdict) bool { return !v.OK })
}

// row returns a verdict as a row of the table: the subject, the value, the limit, and whether the
// profile passed. One that does not apply has a dash as its value.
func (v *verdict) row() [4]string {
	// A ratio is a factor, the others are shares.
	print := func(n float64) string { return console.Percent(n) }
	if v.ratio {
		print = func(n float64) string { return fmt.Sprintf("%.2f ×", n) }
	}
	row := [4]string{v.what, print(v.Found), "at most " + print(v.Limit), "ok"}
	if v.least {
		row[2] = "at least " + print(v.Limit)
	}
	switch {
	case !v.Applies:
		row[1], row[3] = "–", "not comparable"
	case !v.OK:
		row[3] = "FAILED"
	}
	return row
}

// gateListed limits the functions of each list, also in JSON.
const gateListed = 10

// print prints the judgement for people.
func (j *judgement) print(w io.Writer, env *cli.Env) {
	p := comparisonPrinter{Printer: console.Printer{W: w, Term: env.Terminal(env.Stdout)}, top: gateListed}
	fmt.Fprintln(w)
	p.List(j.sides(console.Printable))
	if j.counts != nil {
		p.List(j.counts)
	}
	rows := make([][]string, len(j.verdicts))
	for i := range j.verdicts {
		row := j.verdicts[i].row()
		rows[i] = []string{row[1], row[2], row[3], row[0]}
	}
	j.tables(&p.Printer, p.Table, func() { p.Table([]string{"Found", "Allowed", "", "Limit"}, rows) }, p.changes)
	fmt.Fprintf(w, "\n%s\n", j.conclusion())
}

// tables prints the tables of a judgement, each with the function for it.
func (j *judgement) tables(p *console.Printer, table func(header []string, rows [][]string), verdicts func(), changes func(changeList)) {
	if j.parts != nil {
		table(fitHeader, j.parts)
	}
	verdicts()
	for _, l := range j.listings {
		changes(l)
	}
	if j.functions == nil {
		return
	}
	header, rows := j.functions(p)
	if n := len(rows); n > gateListed {
		header[len(header)-1] += fmt.Sprintf(" (%s of %s)", cli.Count(gateListed), cli.Count(uint64(n)))
		rows = rows[:gateListed]
	}
	if len(rows) > 0 {
		table(header, rows)
	}
}

// fitHeader is above the parts of the weight.
var fitHeader = []string{"Samples", "Share", "Functions", "Of the profile"}

// conclusion returns a line about whether the profile passed.
func (j *judgement) conclusion() string {
	var failed []string
	for _, v := range j.verdicts {
		if !v.OK {
			failed = append(failed, "--"+v.Name)
		}
	}
	if len(failed) == 0 {
		return "passed"
	}
	return "FAILED: " + strings.Join(failed, ", ")
}

// markdown prints the judgement for a code review.
func (j *judgement) markdown(w io.Writer) {
	p := comparisonMarkdown{Printer: console.Printer{W: w}, top: gateListed}
	fmt.Fprintf(w, "### Profile check: %s\n\n| | |\n|---|---|\n", j.conclusion())
	for _, row := range j.sides(quoted) {
		p.row(row[:]...)
	}
	j.tables(&p.Printer, p.table, func() {
		fmt.Fprintf(w, "\n| | found | allowed | |\n|---|--:|---|---|\n")
		for i := range j.verdicts {
			row := j.verdicts[i].row()
			p.row(row[:]...)
		}
	}, p.details)
}

// table prints numbers, and names in the last column.
func (p *comparisonMarkdown) table(header []string, rows [][]string) {
	fmt.Fprintln(p.W)
	p.row(header...)
	fmt.Fprintln(p.W, "|"+strings.Repeat("--:|", len(header)-1)+"---|")
	for _, row := range rows {
		p.row(row...)
	}
}

// againstJSON is a judgement in JSON. The names are part of the interface.
type againstJSON struct {
	// Base and New are the two profiles; Changes are the functions behind the verdicts, at most
	// gateListed of each kind.
	Base     *sideJSON        `json:"base,omitempty"` // not with a program
	New      *sideJSON        `json:"new,omitempty"`
	Passed   bool             `json:"passed"`
	Verdicts []verdict        `json:"verdicts"`
	Changes  []changeListJSON `json:"changes,omitempty"`
	Fit      any              `json:"fit,omitempty"` // with a program: how the profile fits it
}

// json returns the judgement as an object, the member "against" of a file's result.
func (j *judgement) json() *againstJSON {
	j.against.Passed, j.against.Verdicts = j.passed(), j.verdicts
	return &j.against
}
