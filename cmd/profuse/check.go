package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/cli"
	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/internal/inputs"
	"github.com/profuse-pgo/profuse/irpgo"
	"github.com/profuse-pgo/profuse/memprof"
	"github.com/profuse-pgo/profuse/mip"
	"github.com/profuse-pgo/profuse/profile"
)

func checkCommand() *cli.Command {
	return &cli.Command{
		Name:  "check",
		Args:  "[OPTION]... FILE...",
		Short: "tell whether profiles are sound",
		Long: `Reads each FILE from end to end, as strictly as possible, and prints a line for it
and one for everything that is wrong. Takes what "profuse merge" takes, folders
and archives included. A remark is something that sound profiles seldom have.

With --against the one FILE is also judged by the last profile that was good: a
pipeline stops here before it ships one of too few runs. Of what formats they
are does not matter.

The exit code is 0 if all files are sound and no limit is broken, 1 if not, 2 if
the command line is wrong.`,
		Setup: func(f *cli.Flags) cli.Action {
			c := &checkRun{}
			f.BoolVar(&c.json, "json", false, "print the findings as a JSON array with one object per file, and with --against the verdict in the object")
			f.BoolVar(&c.markdown, "markdown", false, "with --against: print the verdict as Markdown, for a comment on a change")
			f.BoolVar(&c.quiet, "q", false, "print nothing of files that are sound")
			f.Var(&c.classes, "classes", classesUsage+": tell which methods of iprof profiles they lack")
			declareProfiledBinary(f, &c.binaries)
			c.gate.flags(f)
			return c.run
		},
	}
}

// checkRun is one run of "profuse check".
type checkRun struct {
	json     bool
	quiet    bool
	classes  cli.List
	binaries cli.List
	markdown bool
	gate     gate
}

// checked is what was found out about one file.
type checked struct {
	File    string `json:"file"`
	Sound   bool   `json:"sound"`
	Format  string `json:"format"`  // "" if unknown
	Version uint32 `json:"version"` // 0 if it has none
	// FormatVersion is that of iprof, "1.0.0".
	FormatVersion string        `json:"format_version,omitempty"`
	Records       int           `json:"records"` // read before anything stopped it
	Findings      []finding     `json:"findings"`
	Classes       *classesFacts `json:"classes,omitempty"` // with --classes
	// Remarks are odd, but no reason to call the file unsound.
	Remarks []finding `json:"remarks,omitempty"`
	Omitted int       `json:"omitted,omitempty"` // findings and remarks beyond those above
	// Against is the verdict of --against.
	Against json.RawMessage `json:"against,omitempty"`
}

// finding is one thing that is wrong; what is not known is left out.
type finding struct {
	Class    string `json:"class"`
	Rule     string `json:"rule,omitempty"`
	Severity string `json:"severity,omitempty"`
	Section  string `json:"section,omitempty"`
	Offset   *int64 `json:"offset,omitempty"`
	Line     int    `json:"line,omitempty"`
	Column   int    `json:"column,omitempty"`
	Record   *int   `json:"record,omitempty"`
	Field    string `json:"field,omitempty"`
	Found    string `json:"found,omitempty"`
	Want     string `json:"want,omitempty"`
	Count    int    `json:"count,omitempty"` // of places, Section and so on being the first
	Of       int    `json:"of,omitempty"`
	Message  string `json:"message"`
}

func newFinding(err error) finding {
	f := finding{Class: profile.Class(err).Error(), Message: cli.Message(err)}
	var fe *profile.FormatError
	if errors.As(err, &fe) {
		f.Section, f.Line, f.Field, f.Found, f.Want = fe.Section, fe.Line, fe.Field, fe.Found, fe.Want
		if fe.Offset >= 0 {
			f.Offset = &fe.Offset
		}
		if fe.Record >= 0 {
			f.Record = &fe.Record
		}
		place := *fe
		place.File = "" // the line before has it
		f.Message = place.Error()
	}
	return f
}

func (c *checkRun) run(ctx context.Context, env *cli.Env, args []string) error {
	if len(args) == 0 {
		return cli.Usagef("no files to check")
	}
	var verdict *judgement
	if c.gate.base != "" {
		if len(args) != 1 {
			return cli.Usagef("--against judges one profile, not %d", len(args))
		}
		if c.json && c.markdown {
			return cli.Usagef("options --json and --markdown exclude each other")
		}
		var err error
		c.gate.binaries = c.binaries
		if verdict, err = c.gate.judge(env, args[0]); err != nil {
			return err
		}
	}
	args, err := inputs.ExpandResponse(args)
	if err != nil {
		return err
	}
	var programs *memprof.Binaries
	if len(c.binaries) > 0 {
		if programs, err = memprof.OpenBinaries(c.binaries, memprof.BinaryOptions{}); err != nil {
			return err
		}
		defer programs.Close()
	}
	classes, err := newIprofClasses(env, c.classes)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(env.Stdout)
	all := []checked{}
	sound := true
	add := func(r checked) {
		r.Sound = len(r.Findings) == 0
		sound = sound && r.Sound
		if verdict != nil && c.json {
			r.Against = verdict.json()
		}
		switch {
		case c.json && (!c.quiet || !r.Sound || r.Against != nil):
			all = append(all, r)
		case c.json || c.markdown && r.Sound:
		case c.quiet && r.Sound:
		default:
			r.print(&printer{w: out, term: env.Terminal(env.Stdout)})
		}
	}
	var r inputs.Reader
	defer r.Close()
	for _, arg := range bundleFiles(args) {
		ins, err := inputs.Expand([]string{arg}, inputs.Options{Stdin: env.Stdin})
		if err != nil {
			add(checked{File: arg, Findings: []finding{newFinding(err)}})
		}
		for _, in := range ins {
			err := in.Each(&r, func(d *inputs.Data) error {
				if classes != nil && !isIprof(d.Name(), d.Bytes()) {
					return errors.New("not an iprof profile, which --classes is for")
				}
				if f, _ := formats.Detect(d.Bytes()); f.Family() == formats.MemProf {
					add(checkMemProf(d, f, programs))
					return ctx.Err()
				}
				add(checkData(d, classes))
				return ctx.Err()
			})
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				add(checked{File: in.Name, Findings: []finding{newFinding(err)}})
			}
		}
	}
	if c.json {
		enc := json.NewEncoder(out)
		enc.SetIndent("", "  ")
		if err := enc.Encode(all); err != nil {
			return err
		}
	}
	if verdict != nil {
		switch {
		case c.markdown:
			verdict.markdown(out)
		case !c.json && (!c.quiet || !verdict.passed()):
			verdict.print(out, env)
		}
		sound = sound && verdict.passed()
	}
	if err := out.Flush(); err != nil {
		return err
	}
	if !sound {
		return cli.ErrReported
	}
	return nil
}

// print writes "FILE: ok: …", or "FILE: not sound" and the findings below it.
func (r checked) print(p *printer) {
	what := r.Format
	if r.Version > 0 {
		what += fmt.Sprintf(" version %d", r.Version)
	}
	if r.FormatVersion != "" {
		what += " version " + r.FormatVersion
	}
	if what == "" {
		what = "not a profile that is known"
	} else {
		what += fmt.Sprintf(", records: %d", r.Records)
	}
	if r.Sound {
		fmt.Fprintf(p.w, "%s: ok: %s\n", printable(r.File), what)
	} else {
		fmt.Fprintf(p.w, "%s: %s: %s\n", printable(r.File), p.term.Paint(cli.Red, "not sound"), what)
	}
	for _, f := range r.Findings {
		p.item(printable(f.Message))
	}
	for _, f := range r.Remarks {
		p.item("remark: " + printable(strings.TrimSuffix(f.Message, ": "+f.Class)))
	}
	if r.Omitted > 0 {
		p.item(fmt.Sprintf("… and %s more", cli.Count(uint64(r.Omitted))))
	}
	if r.Classes != nil {
		r.Classes.print(p.w)
	}
}

// checkData checks the contents of one file.
func checkData(d *inputs.Data, classes *iprofClasses) checked {
	res := checked{File: d.Name(), Findings: []finding{}}
	note := func(err error) { res.Findings = append(res.Findings, newFinding(err)) }
	f, known := formats.Detect(d.Bytes())
	if isIprof(d.Name(), d.Bytes()) {
		f, known = formats.IprofProfile, true
	}
	if known {
		res.Format = f.String()
	}
	if f.Family() == formats.MIP {
		checkMIP(&res, d, f, note)
		return res
	}
	if f == formats.IprofProfile {
		checkIprof(&res, d, classes)
		return res
	}
	rep := irpgo.Check(d.Name(), d.Bytes())
	if rep.Info != nil {
		res.Version = rep.Info.Version
	}
	res.Records = rep.Records
	for _, err := range rep.Findings {
		note(err)
	}
	for _, err := range rep.Remarks {
		res.Remarks = append(res.Remarks, newFinding(err))
	}
	res.Omitted = rep.Omitted
	return res
}

func checkMIP(res *checked, d *inputs.Data, f formats.Format, note func(error)) {
	data := d.Bytes()
	if f == formats.Binary {
		var err error
		if data, _, err = mip.FindMap(d.Name(), data, mip.BinaryOptions{}); err != nil {
			note(err)
			return
		}
	}
	r, err := mip.NewReader(d.Name(), data, mip.ReaderOptions{Warn: func(w mip.Warning) { note(w.Err) }})
	if err != nil {
		note(err)
		return
	}
	res.Version = uint32(r.Info().Version)
	if r.Info().FileType == mip.FileRaw {
		return // without the map it is a header and counters
	}
	p, err := r.Profile()
	if err != nil {
		note(err)
		return
	}
	res.Records = len(p.Functions)
	if err := p.Validate(); err != nil {
		note(err)
	}
}
