package ordercmd

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/profuse-pgo/profuse/docs/schema"
	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/internal/command/sources"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
	"github.com/profuse-pgo/profuse/internal/memlimit"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/profile/order"
)

// evalCommand is "profuse order eval". Package profile/order has the model.
func evalCommand() *cli.Command {
	return &cli.Command{
		Name:  "eval",
		Args:  "[OPTION]... --trace FILE PROGRAM [ORDER]...",
		Short: "count the page faults of function orders",
		Long: `Counts the pages of code that runs of a program touch, and the page faults, for the
program as it is and for each ORDER: a list of symbols for lld or ld64, or another
build of the program with its own layout. A trace (--trace) has the functions of a
run in the order of their first calls: a .mip with call counts, or an IRPGO profile
with temporal traces. eval prints the mean over all traces.

It is a model: memory is empty at first, and the first call into a page loads the
whole page. A call needs the whole function, but not its cold part, which is a
function of its own; every run needs _start and the sections .init, .fini and .plt. "Curve area" is the area under the curve of page faults over
first calls, divided by the number of first calls. Functions of PROGRAM that an
ORDER does not list follow in their present order.

A profile says nothing about functions that it does not have, such as those of libraries
compiled without instrumentation. Column "maybe" has the further pages that would be touched
if all of these ran. A build that inlines other calls, such as one with -fprofile-use, may
lack functions that the traces call; eval then says how many.`,
		Profiles: true,
		Setup: func(f *cli.Flags) cli.Action {
			c := &evalRun{pages: []uint64{4 << 10, 16 << 10, 64 << 10}, until: []float64{25, 50, 75, 90}}
			f.Var(&c.traces, "trace", "`FILE` profile with first calls; repeatable")
			f.Func("page-size", "`SIZES` page sizes, separated by commas (default 4K,16K,64K)", c.setPages)
			f.Func("until", "`PERCENTS` count page faults up to these shares of first calls (default 25,50,75,90)", c.setUntil)
			c.programs.DeclareArch(f)
			f.BoolVar(&c.json, "json", false, "print a JSON object")
			return c.run
		},
	}
}

type evalRun struct {
	traces   cli.List  // profiles with first calls
	pages    []uint64  // page sizes in bytes
	until    []float64 // percent of the first calls
	programs sources.Programs
	json     bool
}

// setPages parses --page-size: powers of two, with K for 2^10 and M for 2^20.
func (c *evalRun) setPages(s string) error {
	c.pages = nil
	for word := range strings.SplitSeq(s, ",") {
		digits, unit := word, uint64(1)
		for suffix, factor := range map[string]uint64{"K": 1 << 10, "k": 1 << 10, "M": 1 << 20} {
			if d, ok := strings.CutSuffix(word, suffix); ok {
				digits, unit = d, factor
			}
		}
		n, err := strconv.ParseUint(digits, 10, 32)
		if err != nil || n == 0 || n&(n-1) != 0 {
			return fmt.Errorf("want powers of two, such as 4096 or 16K")
		}
		c.pages = append(c.pages, n*unit)
	}
	return nil
}

func (c *evalRun) setUntil(s string) error {
	c.until = nil
	for word := range strings.SplitSeq(s, ",") {
		p, err := strconv.ParseFloat(strings.TrimSuffix(word, "%"), 64)
		if err != nil || !(p > 0 && p <= 100) {
			return fmt.Errorf("want numbers above 0, up to 100")
		}
		c.until = append(c.until, p)
	}
	return nil
}

// evaluation has the scores of all orders. docs/schema/order-eval.schema.json describes its JSON.
type evaluation struct {
	schema.Head
	Program string        `json:"program"`
	Traces  int           `json:"traces"` // of all profiles of --trace
	Orders  []orderScores `json:"orders"` // the first is the program as it is
}

// orderScores has the scores of one order, or of a program as it is, one for each page size.
type orderScores struct {
	Name      string `json:"name"`
	Functions int    `json:"functions"` // of the program
	CodeBytes uint64 `json:"code_bytes"`

	Unprofiled      int    `json:"unprofiled"` // functions that are not in the profiles and may run
	UnprofiledBytes uint64 `json:"unprofiled_bytes"`

	Listed  int         `json:"listed"`  // symbols in an order file that the program has; 0 for programs
	Unknown int         `json:"unknown"` // symbols in an order file that the program does not have
	Scores  []pageScore `json:"scores"`
}

// pageScore is the model's result for one page size, the mean over all traces, rounded to two digits.
type pageScore struct {
	PageSize uint64  `json:"page_size"`
	Pages    float64 `json:"pages_touched"`  // pages with code of called functions
	Unknown  float64 `json:"pages_unknown"`  // further pages if all unprofiled functions run
	Touched  float64 `json:"bytes_touched"`  // size of Pages
	Executed float64 `json:"bytes_executed"` // size of the called functions
	Called   float64 `json:"functions_called"`
	Missing  float64 `json:"functions_missing"` // called, but not in the program

	Until []faultsUpTo `json:"page_faults_until"`
	// CurveArea is the area under the curve of page faults over first calls, divided by the number of first calls.
	CurveArea float64 `json:"curve_area"`
}

type faultsUpTo struct {
	Percent float64 `json:"percent_of_first_calls"`
	Faults  float64 `json:"page_faults"`
}

// run evaluates the program as it is, then each order, on the same traces.
func (c *evalRun) run(_ context.Context, env *cli.Env, args []string) error {
	if len(args) == 0 {
		return cli.Usagef("no program given")
	}
	if len(c.traces) == 0 {
		return cli.Usagef("missing option --trace FILE")
	}
	program, err := readImage(env, args[0], c.programs.Arch)
	if err != nil {
		return err
	}
	var traces []order.Trace
	var profiled []string
	for _, file := range c.traces {
		t, functions, err := readTraces(env, file, &c.programs)
		if err != nil {
			return err
		}
		traces, profiled = append(traces, t...), append(profiled, functions...)
	}
	e := &evaluation{Head: schema.For("order-eval"), Program: args[0], Traces: len(traces)}
	for i, file := range args {
		image, o := program, orderScores{Name: file}
		if i > 0 {
			if image, err = c.arrange(env, program, file, &o); err != nil {
				return err
			}
		}
		scores, err := image.Evaluate(traces, order.EvalOptions{PageSizes: c.pages, Shares: c.until, Profiled: profiled})
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		o.Functions, o.CodeBytes = image.Functions, image.Size
		o.Unprofiled, o.UnprofiledBytes = scores[0].Unprofiled, scores[0].UnprofiledBytes
		for _, s := range scores {
			o.Scores = append(o.Scores, newPageScore(s, c.until))
		}
		e.Orders = append(e.Orders, o)
	}
	var text bytes.Buffer
	if c.json {
		console.WriteJSON(&text, e, "")
	} else {
		e.print(&text)
	}
	_, err = text.WriteTo(env.Stdout)
	return err
}

// arrange returns the program in the layout of an order file or of another program.
func (c *evalRun) arrange(env *cli.Env, program *order.Image, file string, o *orderScores) (*order.Image, error) {
	if sources.IsProgram(file, false) {
		return readImage(env, file, c.programs.Arch)
	}
	order, err := readOrder(env, file)
	if err != nil {
		return nil, err
	}
	image, m := program.Arrange(order)
	o.Listed, o.Unknown = len(m.Symbols), len(m.Missing)
	if o.Listed == 0 {
		return nil, fmt.Errorf("%s: has no function of the program", file)
	}
	return image, nil
}

func newPageScore(s order.Score, until []float64) pageScore {
	p := pageScore{
		PageSize: s.PageSize, Pages: rounded(s.Pages), Unknown: rounded(s.Unknown), Touched: rounded(s.Touched), Executed: rounded(s.Executed),
		Called: rounded(s.Called), Missing: rounded(s.Missing), CurveArea: rounded(s.Area), Until: []faultsUpTo{},
	}
	for i, u := range until {
		p.Until = append(p.Until, faultsUpTo{u, rounded(s.Until[i])})
	}
	return p
}

func rounded(v float64) float64 { return math.Round(v*100) / 100 }

// print prints what was measured, notes on uncertain numbers, and a table for each page size. "Change" compares
// the curve areas of an order and of the program as it is.
func (e *evaluation) print(w io.Writer) {
	// The functions that run are the same for all page sizes.
	first := &e.Orders[0].Scores[0]
	fmt.Fprintf(w, "%s: %s of %s called, %s bytes of code, in %s", e.Program, decimal(first.Called),
		cli.Quantity(e.Orders[0].Functions, "function", "functions"), decimal(first.Executed), cli.Quantity(e.Traces, "trace", "traces"))
	if first.Missing > 0 {
		fmt.Fprintf(w, "; the traces call %s functions that it does not have", decimal(first.Missing))
	}
	fmt.Fprintln(w)
	for i := range e.Orders {
		o := &e.Orders[i]
		if o.Unprofiled > 0 && o.Listed == 0 {
			fmt.Fprintf(w, "%s: %s (%s bytes) are not in the profile; if all of them run, they touch the pages in column Maybe, too\n",
				o.Name, cli.Quantity(o.Unprofiled, "function", "functions"), cli.Count(o.UnprofiledBytes))
		}
		if i > 0 && o.Scores[0].Missing > first.Missing {
			fmt.Fprintf(w, "%s: the traces call %s that this build does not have, perhaps because it inlines other calls: the figures are rough\n",
				o.Name, cli.Quantity(uint64(math.Ceil(o.Scores[0].Missing)), "function", "functions"))
		}
		if o.Listed > 0 {
			fmt.Fprintf(w, "%s: lists %s functions of the program, and %s others\n", o.Name, cli.Count(o.Listed), cli.Count(o.Unknown))
		}
	}
	for k := range e.Orders[0].Scores {
		header := []string{"Touched", "Maybe", "Used"}
		for _, u := range first.Until {
			header = append(header, "Faults to "+decimal(u.Percent)+" %")
		}
		header = append(header, "Curve area", "Change", fmt.Sprintf("Pages of %s bytes", cli.Count(e.Orders[0].Scores[k].PageSize)))
		rows := make([][]string, len(e.Orders))
		for i := range e.Orders {
			o := &e.Orders[i]
			s, base := &o.Scores[k], &e.Orders[0].Scores[k]
			row := []string{decimal(s.Pages), "+" + decimal(s.Unknown), fmt.Sprintf("%.1f %%", 100*s.Executed/s.Touched)}
			for _, u := range s.Until {
				row = append(row, decimal(u.Faults))
			}
			change := ""
			if i > 0 && base.CurveArea > 0 {
				change = fmt.Sprintf("%+.1f %%", 100*(s.CurveArea/base.CurveArea-1))
			}
			rows[i] = append(row, decimal(s.CurveArea), change, console.Printable(o.Name))
		}
		(&console.Printer{W: w}).Table(header, rows)
	}
}

// decimal prints a number with at most two digits after the point.
func decimal(v float64) string { return strconv.FormatFloat(rounded(v), 'f', -1, 64) }

// readOrder reads a list of symbols, one on each line; # begins a comment.
func readOrder(env *cli.Env, path string) (names []string, err error) {
	opt := sources.Options(env)
	opt.Recognize = memlimit.RecognizeText
	err = inputs.File(path, opt).Each(nil, func(d *inputs.Data) error {
		for line := range strings.Lines(string(d.Bytes())) {
			name, _, _ := strings.Cut(line, "#")
			if name = strings.TrimSpace(name); name != "" {
				names = append(names, name)
			}
		}
		return nil
	})
	return names, err
}

// readTraces reads the orders of first calls in a profile, and the names of its functions: any other function may
// have run.
func readTraces(env *cli.Env, path string, programs *sources.Programs) (traces []order.Trace, functions []string, err error) {
	v, err := sources.OpenView(env, path, programs)
	if err != nil {
		return nil, nil, err
	}
	for f := range profile.ReusedFunctions(v) {
		functions = append(functions, linkerName(&f.Symbol))
	}
	for t := range v.Traces() {
		trace := order.Trace{Weight: float64(t.Weight)}
		for i := range t.Functions {
			if name := linkerName(&t.Functions[i]); name != "" {
				trace.Functions = append(trace.Functions, name)
			}
		}
		traces = append(traces, trace)
	}
	if len(traces) == 0 {
		return nil, nil, fmt.Errorf("%s: has no order of first calls: IRPGO profiles have one as temporal traces "+
			"(clang -fprofile-generate -mllvm -pgo-temporal-instrumentation), a .mip with call counts", path)
	}
	return traces, functions, nil
}
