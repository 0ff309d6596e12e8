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
	"github.com/profuse-pgo/profuse/internal/tally"
	"github.com/profuse-pgo/profuse/profile/compare"
	"github.com/profuse-pgo/profuse/symbolize"
)

type gate struct {
	base     string            // file of the last good profile; "" without --against
	values   []string          // of the options in gateLimits
	flags    *cli.Flags        // of the command
	programs *sources.Programs // of the command
}

// A gateLimit is an option with a limit, its default value, and the verdict for a comparison with a profile. forProgram is
// the subject of the verdict for a comparison with a program; "" if there is none.
type gateLimit struct {
	name, value, usage string
	verdict            verdict
	forProgram         string
}

// The indexes of the limits.
const (
	totalRatio = iota
	hotTurnover
	lostFunctions
	changedWeight
	overlap
)

var gateLimits = []gateLimit{
	{
		"min-total-ratio", "0.5", "`R` with --against: fail if the total count is less than R times the total count of LAST_GOOD; not for programs",
		verdict{what: "Total count", least: true, ratio: true},
		"",
	},
	{
		"max-hot-turnover", "25%", "`P%` with --against: fail if more than P % of the hot functions are no longer hot; for a program, if they are gone or have changed",
		verdict{what: "No longer hot"},
		"Hot, and gone or changed",
	},
	{
		"max-lost-functions", "10%", "`P%` with --against: fail if more than P % of the functions that ran no longer run; for a program, if they are gone or renamed",
		verdict{what: "No longer run"},
		"Functions that are gone",
	},
	{
		"max-changed", "25%", "`P%` with --against: fail if functions that have changed, by the hashes of their control flow, have more than P % of the weight: compilers discard it",
		verdict{what: "Weight of changed functions"},
		"Weight of changed functions",
	},
	{
		"min-overlap", "75%", "`P%` with --against: fail if the profiles give less than P % of their weight to the same functions; for a program, if less than P % of the weight fits it",
		verdict{what: "Weight in common", least: true},
		"Weight that fits",
	},
}

func (g *gate) declare(f *cli.Flags) {
	g.flags, g.values = f, make([]string, len(gateLimits))
	f.StringVar(&g.base, "against", "", "`LAST_GOOD` also compare FILE with this profile, or with this program")
	for i, l := range gateLimits {
		f.StringVar(&g.values[i], l.name, l.value, l.usage)
	}
}

// unusedOption returns an option that was given but has no effect without --against; "" if there is none.
func (g *gate) unusedOption() (name string) {
	g.flags.Given(func(option string) {
		if option == "markdown" || slices.ContainsFunc(gateLimits, func(l gateLimit) bool { return l.name == option }) {
			name = option
		}
	})
	return name
}

type verdict struct {
	Name  string  `json:"name"`  // the option without its dashes
	Limit float64 `json:"limit"` // ratio, or share from 0 to 1
	Found float64 `json:"found"`
	OK    bool    `json:"ok"`
	// Applies is false if the profiles cannot be compared in this way, as the totals of different
	// families; OK is then true.
	Applies bool `json:"applies"`

	what  string // "Total"
	least bool   // the limit is a minimum
	ratio bool   // not a share
}

func (v *verdict) set(found float64, applies bool) {
	v.Found, v.Applies = found, applies
	v.OK = !applies || v.least && found >= v.Limit || !v.least && found <= v.Limit
}

// A gateResult is the comparison of two profiles, or of a profile with a program.
type gateResult struct {
	verdicts []verdict
	against  againstJSON // without verdicts

	// What is printed, in this order. sides says what was compared; name prints a file name.
	sides  func(name func(string) string) [][2]string
	counts [][2]string
	unit   string     // of the parts: "Samples"
	parts  [][]string // how the weight of a profile fits a program
	// Functions behind the verdicts: listings for two profiles, functions for a program.
	listings  []changeList
	functions func(p *console.Printer) (header []string, rows [][]string)
}

// limits parses the options into verdicts, in the order of gateLimits.
func (g *gate) limits() (verdicts []verdict, err error) {
	for i, l := range gateLimits {
		v, text := l.verdict, g.values[i]
		v.Name = l.name
		if v.ratio {
			if v.Limit, err = strconv.ParseFloat(text, 64); err != nil || !(v.Limit >= 0) {
				return nil, cli.Usagef("option --%s takes a number from 0 up, not %q", l.name, text)
			}
		} else {
			n, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
			if err != nil || !(n >= 0 && n <= 100) {
				return nil, cli.Usagef("option --%s takes a percentage from 0 to 100, not %q", l.name, text)
			}
			v.Limit = n / 100
		}
		verdicts = append(verdicts, v)
	}
	return verdicts, nil
}

// compare compares the profile in a file with the last good profile, or with a program. A limit does not
// apply if there is nothing to compare: totals of different families, or a base that never ran.
func (g *gate) compare(env *cli.Env, file string) (*gateResult, error) {
	limits, err := g.limits()
	if err != nil {
		return nil, err
	}
	if sources.IsProgram(g.base, true) {
		return g.compareWithProgram(env, file, limits)
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
	lost := slices.Clone(r.Stopped) // ran before; now without counts or gone
	for _, c := range r.Disappeared {
		if c.Before != compare.NeverRan {
			lost = append(lost, c)
		}
	}
	var changed []compare.Change
	changedShare := 0.0
	for _, c := range r.HashChanged {
		if c.New > 0 {
			changed = append(changed, c)
			changedShare += c.NewShare
		}
	}
	j := &gateResult{
		verdicts: limits,
		sides:    func(name func(string) string) [][2]string { return sideRows(r, "Last good", name) },
		counts: [][2]string{
			{itemsTitle(r), pair(r.Base.Items, r.New.Items)},
			{"That ran", pair(r.Base.Ran, r.New.Ran)},
			{"Hot", pair(r.Base.Hot, r.New.Hot)},
		},
		listings: []changeList{
			{"gone cold", "gone_cold", cold, true},
			{"no longer run", "lost", lost, true},
			{"control flow changed", "hash_changed", changed, true},
		},
	}
	base, other := newSideJSON(&r.Base), newSideJSON(&r.New)
	j.against.Base, j.against.New = &base, &other
	for _, l := range j.listings {
		j.against.Changes = append(j.against.Changes, newChangeListJSON(l, gateListed))
	}
	ran := r.Base.Total > 0
	ratio := 0.0
	if ran && sameUnits(r) {
		ratio = r.New.Total / r.Base.Total
	}
	limits[totalRatio].set(ratio, ran && sameUnits(r))
	limits[hotTurnover].set(r.HotTurnover, ran)
	limits[lostFunctions].set(tally.Share(len(lost), r.Base.Ran), ran)
	limits[changedWeight].set(changedShare, r.Hashes && r.New.Total > 0)
	limits[overlap].set(r.Overlap, ran)
	return j, nil
}

// compareWithProgram compares the profile in a file with the program g.base. The family of the profile
// must support that. There is no total to compare.
func (g *gate) compareWithProgram(env *cli.Env, file string, limits []verdict) (*gateResult, error) {
	var fit *family.Fit
	err := sources.ReadOne(env, file, func(d *inputs.Data) error {
		index, _, err := families.Of(d.Name(), d.Bytes())
		if err != nil {
			return err
		}
		program := family.Program{Path: g.base, Options: symbolize.Options{Arch: g.programs.Arch, Inputs: sources.Options(env), Workers: g.programs.Workers}}
		if families.All[index].Fit == nil {
			return program.NotComparable()
		}
		fit, err = families.All[index].Fit(program, d.Name(), d.Bytes(), console.Warnings(env))
		return err
	})
	if err != nil {
		return nil, err
	}
	found := [...]float64{hotTurnover: fit.HotLost, lostFunctions: fit.Lost, changedWeight: fit.Changed, overlap: 1 - fit.Stale}
	var verdicts []verdict
	for i, v := range limits {
		if v.what = gateLimits[i].forProgram; v.what != "" && found[i] != family.NoLimit {
			v.set(found[i], fit.Ran > 0)
			verdicts = append(verdicts, v)
		}
	}
	return &gateResult{verdicts: verdicts, sides: fit.Facts, unit: fit.Unit, parts: fit.Parts, functions: fit.Functions, against: againstJSON{Fit: fit.JSON}}, nil
}

func (r *gateResult) passed() bool {
	return !slices.ContainsFunc(r.verdicts, func(v verdict) bool { return !v.OK })
}

// row returns the cells of the verdict: subject, value, limit, and whether the profile passed.
func (v *verdict) row() []string {
	print := func(n float64) string { return console.Percent(n) }
	if v.ratio {
		print = func(n float64) string { return fmt.Sprintf("%.2f ×", n) }
	}
	row := []string{v.what, print(v.Found), "at most " + print(v.Limit), "ok"}
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

func (r *gateResult) print(w io.Writer, env *cli.Env, markdown bool) {
	p := comparisonPrinter{Printer: console.Printer{W: w, Term: env.Terminal(env.Stdout)}, markdown: markdown, top: gateListed}
	if !markdown {
		fmt.Fprintln(w)
	}
	p.facts("### Profile check: "+r.conclusion(), r.sides(p.fileName))
	if r.counts != nil && !markdown {
		p.List(r.counts)
	}
	if r.parts != nil {
		p.table([]string{r.unit, "Share", "Functions", "Of the profile"}, r.parts)
	}
	r.printVerdicts(&p)
	for _, l := range r.listings {
		p.changes(l)
	}
	if r.functions != nil {
		header, rows := r.functions(&p.Printer)
		if n := len(rows); n > gateListed {
			header[len(header)-1] += fmt.Sprintf(" (%s of %s)", cli.Count(gateListed), cli.Count(n))
			rows = rows[:gateListed]
		}
		if len(rows) > 0 {
			p.table(header, rows)
		}
	}
	if !markdown {
		fmt.Fprintf(w, "\n%s\n", r.conclusion())
	}
}

func (r *gateResult) printVerdicts(p *comparisonPrinter) {
	if p.markdown {
		fmt.Fprintf(p.W, "\n| | found | allowed | |\n|---|--:|---|---|\n")
		for i := range r.verdicts {
			p.row(r.verdicts[i].row()...)
		}
		return
	}
	rows := make([][]string, len(r.verdicts))
	for i := range r.verdicts {
		row := r.verdicts[i].row()
		rows[i] = append(row[1:], row[0])
	}
	p.Table([]string{"Found", "Allowed", "", "Limit"}, rows)
}

func (r *gateResult) conclusion() string {
	var failed []string
	for _, v := range r.verdicts {
		if !v.OK {
			failed = append(failed, "--"+v.Name)
		}
	}
	if len(failed) == 0 {
		return "passed"
	}
	return "FAILED: " + strings.Join(failed, ", ")
}

// againstJSON is a gateResult in JSON. The names are part of the interface.
type againstJSON struct {
	Base     *sideJSON        `json:"base,omitempty"` // not with a program
	New      *sideJSON        `json:"new,omitempty"`
	Passed   bool             `json:"passed"`
	Verdicts []verdict        `json:"verdicts"`
	Changes  []changeListJSON `json:"changes,omitempty"` // at most gateListed functions of each kind
	Fit      any              `json:"fit,omitempty"`     // with a program: how the profile fits it
}

func (r *gateResult) json() *againstJSON {
	r.against.Passed, r.against.Verdicts = r.passed(), r.verdicts
	return &r.against
}
