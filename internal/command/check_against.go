package command

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/profuse-pgo/profuse/compare"
	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/internal/command/cli"
	"github.com/profuse-pgo/profuse/internal/command/console"
	"github.com/profuse-pgo/profuse/internal/command/family"
	"github.com/profuse-pgo/profuse/internal/command/sources"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/symbolize"
)

// A gate limits how far a profile may differ from the last good one.
type gate struct {
	base string // file of the last good one; "" without a gate

	totalRatio   string // of the totals
	hotTurnover  string // shares, in percent
	lostFunction string
	overlap      string

	programs *sources.Programs
	flagSet  *cli.Flags
}

// idle returns a given option that has no effect without --against; "" if there
// is none.
func (g *gate) idle() (name string) {
	g.flagSet.Given(func(option string) {
		switch option {
		case "markdown", "min-total-ratio", "max-hot-turnover", "max-lost-functions", "min-overlap":
			name = option
		}
	})
	return name
}

func (g *gate) flags(f *cli.Flags) {
	g.flagSet = f
	f.StringVar(&g.base, "against", "", "`LAST_GOOD` also compare FILE with this profile, or a sample profile with this program")
	f.StringVar(&g.totalRatio, "min-total-ratio", "0.5", "`R` with --against: fail if the total count is less than R times that of LAST_GOOD; not for programs")
	f.StringVar(&g.hotTurnover, "max-hot-turnover", "25%", "`P%` with --against: fail if more than P % of the hot functions are no longer hot; in a program, are gone or have changed")
	f.StringVar(&g.lostFunction, "max-lost-functions", "10%", "`P%` with --against: fail if more than P % of the functions that ran no longer run; in a program, are gone or renamed")
	f.StringVar(&g.overlap, "min-overlap", "75%", "`P%` with --against: fail if the profiles give less than P % of their weight to the same functions; of a program, if less than P % of the weight fits it")
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

// A judgement is the outcome of a gate.
type judgement struct {
	result   *compare.Result // nil if fit is not
	fit      *family.Fit     // with a program in place of a profile
	verdicts []verdict
	cold     []compare.Change // hot or warm before; now cold, without counts or gone
	lost     []compare.Change // ran before; now without counts or gone
}

// limits parses the options.
func (g *gate) limits() (v []verdict, err error) {
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

// judge compares the profile in a file with the last good one.
func (g *gate) judge(env *cli.Env, file string) (*judgement, error) {
	limits, err := g.limits()
	if err != nil {
		return nil, err
	}
	if fit, err := g.fit(env, file); fit != nil || err != nil {
		return judgeFit(fit, limits), err
	}
	var views [2]profile.View
	for i, name := range []string{g.base, file} {
		if views[i], err = openView(env, name, g.programs); err != nil {
			return nil, err
		}
	}
	r, err := compare.Views(views[0], views[1], compare.Options{})
	if err != nil {
		return nil, err
	}
	j := &judgement{result: r, verdicts: limits}
	for _, c := range r.LeftHot {
		if c.After == compare.Absent || c.After == compare.NeverRan || c.After == compare.Cold {
			j.cold = append(j.cold, c)
		}
	}
	j.lost = append(j.lost, r.Stopped...)
	for _, c := range r.Disappeared {
		if c.Before != compare.NeverRan {
			j.lost = append(j.lost, c)
		}
	}
	part := func(n, of int) float64 {
		if of == 0 {
			return 0
		}
		return float64(n) / float64(of)
	}
	for i, found := range []float64{0, r.HotTurnover, part(len(j.lost), r.Base.Ran), r.Overlap} {
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

// fit compares the profile in a file with a program. It returns nil if the base is not a program, or if
// the family of the profile compares with profiles alone.
func (g *gate) fit(env *cli.Env, file string) (fit *family.Fit, err error) {
	if !isProgram(g.base) {
		return nil, nil
	}
	in, err := sources.One(env, file)
	if err != nil {
		return nil, err
	}
	var r inputs.Reader
	defer r.Close()
	read := false
	err = in.Each(&r, func(d *inputs.Data) error {
		at, _ := familyOf(d.Name(), d.Bytes())
		if families[at].Fit == nil {
			return nil
		}
		if read {
			return cli.Usagef("%s holds several files; want one profile: merge them first", file)
		}
		read = true
		program, err := symbolize.Open(g.base, symbolize.Options{Arch: g.programs.Arch, Inputs: sources.Options(env), Workers: g.programs.Workers})
		if err != nil {
			return err
		}
		defer program.Close()
		fit, err = families[at].Fit(program, d.Name(), d.Bytes(), console.Warnings(env))
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
	j := &judgement{fit: fit}
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

// row returns a verdict as a row of the table: the subject, the value, the limit, and
// whether the profile passed.
func (v *verdict) row() [4]string {
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

// gateListed limits the functions of each list.
const gateListed = 10

// listings returns the functions behind a judgement.
func (j *judgement) listings() []changeList {
	if j.fit != nil {
		return nil
	}
	return []changeList{
		{"gone cold", "gone_cold", j.cold, true},
		{"no longer run", "lost", j.lost, true},
	}
}

// print prints the judgement for people.
func (j *judgement) print(w io.Writer, env *cli.Env) {
	p := comparisonPrinter{Printer: console.Printer{W: w, Term: env.Terminal(env.Stdout)}, top: gateListed}
	fmt.Fprintln(w)
	if r := j.result; r != nil {
		p.List(sideRows(r, "Last good", console.Printable))
		p.List([][2]string{
			{ofKind(r), pair(r.Base.Items, r.New.Items)},
			{"That ran", pair(r.Base.Ran, r.New.Ran)},
			{"Hot", pair(r.Base.Hot, r.New.Hot)},
		})
	} else {
		for i := range j.fit.Facts {
			j.fit.Facts[i][1] = console.Printable(j.fit.Facts[i][1])
		}
		p.List(j.fit.Facts)
		p.Table(fitHeader, j.fit.Parts)
	}
	rows := make([][]string, len(j.verdicts))
	for i := range j.verdicts {
		row := j.verdicts[i].row()
		rows[i] = []string{row[1], row[2], row[3], row[0]}
	}
	p.Table([]string{"Found", "Allowed", "", "Limit"}, rows)
	for _, l := range j.listings() {
		p.changes(l)
	}
	if j.fit != nil {
		if header, rows := j.fitFunctions(&p.Printer); len(rows) > 0 {
			p.Table(header, rows)
		}
	}
	fmt.Fprintf(w, "\n%s\n", j.conclusion())
}

// fitHeader is above the parts of the weight.
var fitHeader = []string{"Samples", "Share", "Functions", "Of the profile"}

// fitFunctions lists the first functions that do not fit. The header says how many there are.
func (j *judgement) fitFunctions(p *console.Printer) (header []string, rows [][]string) {
	header, rows = j.fit.Functions(p)
	if n := len(rows); n > gateListed {
		header[len(header)-1] += fmt.Sprintf(" (%s of %s)", cli.Count(gateListed), cli.Count(uint64(n)))
		rows = rows[:gateListed]
	}
	return header, rows
}

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
	if j.result != nil {
		for _, row := range sideRows(j.result, "Last good", quoted) {
			p.row(row[:]...)
		}
	} else {
		for _, row := range j.fit.Facts {
			p.row(row[:]...)
		}
		p.table(fitHeader, j.fit.Parts)
	}
	fmt.Fprintf(w, "\n| | found | allowed | |\n|---|--:|---|---|\n")
	for i := range j.verdicts {
		row := j.verdicts[i].row()
		p.row(row[:]...)
	}
	for _, l := range j.listings() {
		p.details(l)
	}
	if j.fit != nil {
		if header, rows := j.fitFunctions(&p.Printer); len(rows) > 0 {
			p.table(header, rows)
		}
	}
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
	Base     *sideJSON        `json:"base,omitempty"` // not with a program
	New      *sideJSON        `json:"new,omitempty"`
	Passed   bool             `json:"passed"`
	Verdicts []verdict        `json:"verdicts"`
	Changes  []changeListJSON `json:"changes,omitempty"`
	Fit      any              `json:"fit,omitempty"` // with a program: how the profile fits it
}

func (j *judgement) json() *againstJSON {
	out := &againstJSON{Passed: j.passed(), Verdicts: j.verdicts}
	if j.fit != nil {
		out.Fit = j.fit.JSON
		return out
	}
	base, other := newSideJSON(&j.result.Base), newSideJSON(&j.result.New)
	out.Base, out.New = &base, &other
	for _, l := range j.listings() {
		out.Changes = append(out.Changes, newChangeListJSON(l, gateListed))
	}
	return out
}
