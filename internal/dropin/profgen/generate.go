package profgen

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/profuse-pgo/profuse/formats/sampleprof"
	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/internal/dropin/withcolor"
	"github.com/profuse-pgo/profuse/internal/files/atomicfile"
	"github.com/profuse-pgo/profuse/internal/llvm/llvmerr"
	"github.com/profuse-pgo/profuse/profgen"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/symbolize"
)

// generate makes a profile of the unsymbolized profile and the program.
func (t *tool) generate() error {
	program, closer, err := t.openProgram()
	defer closer()
	if err != nil {
		return err
	}
	t.warnOfProgram(program)
	counts, err := t.readCounts(program)
	switch {
	case err != nil:
		return err
	case t.opt.skip: // llvm-profgen then writes nothing: an unsymbolized profile is its input
		return nil
	case program.Probes && !t.opt.dwarf:
		return errors.New("a profile by pseudo probes is not supported by profuse; --use-dwarf-correlation makes one by lines")
	}
	p, err := program.Lines(counts, profgen.LineOptions{
		AllFunctions: t.opt.allFunctions, SumTotals: t.opt.sumTotals, TrimCold: t.opt.trimCold, LLVMCompat: true,
	})
	if p == nil {
		return t.refuse(t.opt.binary, err)
	}
	if t.opt.symbols {
		p.Symbols = program.Names()
	}
	return t.finish(p)
}

// refine does with a profile what llvm-profgen does with one that it has made.
func (t *tool) refine() error {
	name := t.opt.sampleProfile
	var p *sampleprof.Profile
	err := inputs.File(name, t.Inputs()).One(func(d *inputs.Data) (err error) {
		p, err = sampleprof.Read(name, d.Bytes(), sampleprof.ReaderOptions{Lenient: true})
		return err
	})
	switch {
	case err != nil:
		return t.refuse(name, err)
	case p.Kind.ContextSensitive:
		return errors.New("a profile with contexts is not supported by profuse")
	}
	profgen.Tidy(p, t.opt.trimCold)
	return t.finish(p)
}

func (t *tool) finish(p *sampleprof.Profile) error {
	t.showDensity(p)
	return t.write(p)
}

// openProgram opens the program and the file with its debug information. closer closes both.
func (t *tool) openProgram() (program *profgen.Program, closer func(), err error) {
	var files []*symbolize.File
	closer = func() {
		for _, f := range files {
			f.Close()
		}
	}
	open := func(name string) (*symbolize.File, error) {
		f, err := symbolize.Open(name, symbolize.Options{Inputs: t.Inputs(), NoDebugFiles: true, DWP: t.opt.dwp})
		if err != nil {
			return nil, t.refuse(name, err)
		}
		files = append(files, f)
		return f, nil
	}
	file, err := open(t.opt.binary)
	var opt profgen.Options
	if err == nil && t.opt.debugBinary != "" {
		opt.Debug, err = open(t.opt.debugBinary)
	}
	if err != nil {
		return nil, closer, err
	}
	program, err = profgen.Open(file, opt)
	if program == nil {
		return nil, closer, t.refuse(t.opt.binary, err)
	}
	return program, closer, nil
}

func (t *tool) warnOfProgram(p *profgen.Program) {
	f := &p.Facts
	if f.Duplicates > 0 {
		t.msg.Warning(fmt.Sprintf("Found %d start addresses with multiple symbols", f.Duplicates))
	}
	if f.LostUnits > 0 {
		t.msg.Warning(fmt.Sprintf(" DWO debug information was not loaded for %d modules. Please check the .o, .dwo or .dwp path.", f.LostUnits))
	}
	if f.Functions == 0 {
		t.msg.Warning("Loading of DWARF info completed, but no binary functions have been retrieved.")
	}
	if n := p.Decode(); n > 0 {
		t.msg.Warning(fmt.Sprintf("Found %d invalid instructions", n))
	}
	t.warnOfShare(f.Functions-f.Entries, f.Functions, "of functions failed to determine function entry due to inconsistent name from symbol table and dwarf info.")
}

func (t *tool) warnOfShare(n, of int, what string) {
	if n > 0 && of > 0 {
		t.msg.Warning(fmt.Sprintf("%.2f%%(%d/%d) %s", float64(n)*100/float64(of), n, of, what))
	}
}

func (t *tool) readCounts(p *profgen.Program) (c *profgen.Counts, err error) {
	base := p.Base
	switch {
	case !t.opt.useOffset:
		base = 0
	case t.opt.firstBase:
		base = p.FirstBase
	}
	name := t.opt.unsymbolized
	err = inputs.File(name, t.Inputs()).One(func(d *inputs.Data) (err error) {
		c, err = profgen.ReadUnsymbolized(name, d.Bytes(), base)
		if fe := (*profile.FormatError)(nil); errors.As(err, &fe) {
			return unsymbolizedError(fe, d.Bytes())
		}
		return err
	})
	return c, err
}

// unsymbolizedError words an error of an unsymbolized profile.
func unsymbolizedError(fe *profile.FormatError, data []byte) error {
	switch {
	case errors.Is(fe, profile.ErrUnsupported):
		return errors.New("a profile with contexts is not supported by profuse")
	case errors.Is(fe, profile.ErrTruncated):
		return failure("Invalid raw profile!")
	}
	lines := strings.SplitN(string(data), "\n", fe.Line+1)
	return failuref("Invalid raw profile at line %d: %s", fe.Line, lines[fe.Line-1])
}

func (t *tool) showDensity(p *sampleprof.Profile) {
	o := &t.opt
	d := profgen.Density(p, o.densityCutoff)
	if d == 0 {
		t.msg.Warning("The output profile is empty or the --profile-density-cutoff-hot option is set too low. Please check your command.")
	} else if d < o.densityThreshold {
		t.msg.Warning(fmt.Sprintf("Sample PGO is estimated to optimize better with %.1fx more samples. Please consider increasing sampling rate or profiling for longer duration to get more samples.",
			o.densityThreshold/d))
	}
	if o.showDensity {
		fmt.Fprintf(t.Stdout, "Functions with density >= %.1f account for %.2f%% total sample counts.\n", d, float64(o.densityCutoff)/10000)
	}
}

func (t *tool) write(p *sampleprof.Profile) error {
	o := &t.opt
	opt := sampleprof.WriteOptions{Format: o.format, MD5: o.useMD5}
	if o.format == formatGCC {
		return fmt.Errorf("%s: %s", o.output, llvmerr.SampleWriting.Text)
	}
	if o.format != sampleprof.FormatExtended {
		if o.useMD5 {
			t.msg.Warning("-use-md5 is ignored. Specify --format=extbinary to enable it")
		}
		opt.MD5 = false
	}
	var out io.Writer = t.Stdout
	done := func() error { return nil }
	if o.output != "-" {
		f, err := atomicfile.Create(o.output, atomicfile.Options{Inputs: []string{o.binary, o.unsymbolized, o.sampleProfile}})
		if err != nil {
			return fmt.Errorf("%s: %s", o.output, withcolor.Words(err))
		}
		defer f.Close()
		out, done = f, f.Commit
	}
	err := p.Write(out, opt)
	if err == nil {
		err = done()
	}
	if err != nil {
		return fmt.Errorf("%s: %s", o.output, withcolor.Words(err))
	}
	return nil
}

// refuse words an error about a file.
func (t *tool) refuse(name string, err error) error {
	words := withcolor.Words(err)
	if errors.Is(err, profile.ErrUnrecognized) {
		words = "The file was not recognized as a valid object file"
	}
	if _, ok := errors.AsType[*profile.FormatError](err); ok && !errors.Is(err, profile.ErrUnrecognized) {
		return err
	}
	if _, err := os.Stat(name); err != nil {
		words = withcolor.Words(err)
	}
	return fmt.Errorf("%s: %s", name, words)
}
