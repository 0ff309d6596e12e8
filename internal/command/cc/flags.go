package cc

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/profuse-pgo/profuse/formats/mip"
	"github.com/profuse-pgo/profuse/internal/mip/asm"
	"github.com/profuse-pgo/profuse/internal/mip/instrument"
)

// errFlags is returned for -fmachine-profile flags that are malformed, or that
// contradict each other or the compiler's options.
var errFlags = errors.New("invalid flags")

// machineFlags are the values of the -fmachine-profile flags in a command line.
// The last of several equal flags counts.
type machineFlags struct {
	Generate         bool // -f[no-]machine-profile-generate: instrument
	FunctionCoverage bool // -f[no-]machine-profile-function-coverage
	BlockCoverage    bool // -f[no-]machine-profile-block-coverage
	// CallGraph, -f[no-]machine-profile-call-graph, records call counts and the
	// order of first calls; by default unless FunctionCoverage.
	CallGraph       bool
	LinkUnit        string // -fmachine-profile-link-unit-name=NAME
	GroupCount      int    // -fmachine-profile-function-group-count=N: 1
	SelectedGroup   int    // -fmachine-profile-selected-function-group=I: 0
	MinInstructions int    // -fmachine-profile-min-instruction-count=N
	// SpecialCaseList is a file for instrument.ParseSpecialCaseList,
	// -fmachine-profile-special-case-list=FILE or, as in the reference, -mllvm
	// -machine-profile-special-case-list=FILE.
	SpecialCaseList string
	Runtime         bool // -f[no-]machine-profile-runtime: link the runtime; true
	Dump            bool // -f[no-]machine-profile-dump: write a profile at exit; true
	// Use lists the profiles to lay out functions by, separated by commas,
	// -fmachine-profile-use=FILE[,FILE]...; "" after -fno-machine-profile-use. It excludes Generate.
	Use string
	// RuntimeBuffer is the size in bytes of the program's table of call edges,
	// 0 for none: -fmachine-profile-runtime-buffer=N.
	RuntimeBuffer int
	// The reference implementation does not have the following flags.
	Split          bool // -f[no-]machine-profile-split: with Use, move blocks that never ran out of functions; true
	AllBlockProbes bool // -f[no-]machine-profile-all-block-probes: infer nothing
	Atomic         bool // -f[no-]machine-profile-atomic: count exactly in threads
	// Threads, -f[no-]machine-profile-threads, says whether the program's threads run the same functions
	// at the same time, see instrument.Options.Threads. By default they do in Rust and with -pthread.
	Threads tristate
	Signals bool // -f[no-]machine-profile-signals: link a runtime that can write a profile on signals
	// SmallRuntime, -fmachine-profile-small-runtime=FILE, links a runtime that writes to
	// FILE only, see runtime.Options.File. It needs FunctionCoverage.
	SmallRuntime string
	ShortProbes  bool // -f[no-]machine-profile-short-probes, see instrument.Options
	CallsReturn  bool // -f[no-]machine-profile-calls-return, see instrument.Options
	// AssemblerSources, -f[no-]machine-profile-assembler-sources, instruments the functions
	// of assembler sources.
	AssemblerSources bool

	// Given are the flags as arguments for another process of the driver.
	Given []string
}

// tristate is a switch whose default depends on the program.
type tristate int8

const (
	unset tristate = iota
	switchedOn
	switchedOff
)

const flagStem = "machine-profile-"

const (
	edgeSize         = 12      // bytes of a call edge in the runtime's buffer
	maxRuntimeBuffer = 1 << 30 // within reach of code displacements, with room for the program
)

// parseFlags returns the flags in a command line, and its other arguments in order.
func parseFlags(args []string) (machineFlags, []string, error) {
	f := machineFlags{GroupCount: 1, Runtime: true, Dump: true, Split: true}
	var callGraph tristate
	var rest []string
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if arg == "-mllvm" && i+1 < len(args) {
			if list, ok := strings.CutPrefix(strings.TrimLeft(args[i+1], "-"), flagStem+"special-case-list="); ok {
				arg = "-f" + flagStem + "special-case-list=" + list
				i++
			}
		}
		name, on := strings.CutPrefix(arg, "-f"+flagStem)
		if !on {
			var off bool
			if name, off = strings.CutPrefix(arg, "-fno-"+flagStem); !off {
				rest = append(rest, arg)
				// The value of an option is not an option.
				if n := wordsOf(arg); n == 2 && i+1 < len(args) {
					i++
					rest = append(rest, args[i])
				}
				continue
			}
		}
		if err := f.set(name, on, &callGraph); err != nil {
			return machineFlags{}, nil, fmt.Errorf("%w: %s: %w", errFlags, arg, err)
		}
		f.Given = append(f.Given, arg)
	}
	f.CallGraph = !f.FunctionCoverage
	if callGraph != unset {
		f.CallGraph = callGraph == switchedOn
	}
	if !f.Generate {
		return f, rest, nil
	}
	if f.Use != "" {
		return f, rest, fmt.Errorf("%w: -fmachine-profile-use and -fmachine-profile-generate exclude each other", errFlags)
	}
	return f, rest, f.check()
}

func (f *machineFlags) set(name string, on bool, callGraph *tristate) error {
	switches := map[string]*bool{
		"generate": &f.Generate, "function-coverage": &f.FunctionCoverage, "block-coverage": &f.BlockCoverage,
		"runtime": &f.Runtime, "dump": &f.Dump, "all-block-probes": &f.AllBlockProbes, "atomic": &f.Atomic, "split": &f.Split,
		"signals": &f.Signals, "short-probes": &f.ShortProbes, "calls-return": &f.CallsReturn,
		"assembler-sources": &f.AssemblerSources,
	}
	if p, ok := switches[name]; ok {
		*p = on
		return nil
	}
	given := map[string]*tristate{"threads": &f.Threads, "call-graph": callGraph}
	if p, ok := given[name]; ok {
		if *p = switchedOff; on {
			*p = switchedOn
		}
		return nil
	}
	off := map[string]*string{"use": &f.Use, "small-runtime": &f.SmallRuntime}
	if p, ok := off[name]; ok && !on {
		*p = ""
		return nil
	}
	key, value, ok := strings.Cut(name, "=")
	if !on || !ok {
		return errors.New("unknown flag")
	}
	number := func(p *int, least int) error {
		n, err := strconv.Atoi(value)
		if err != nil || n < least || n > 1<<31-1 {
			return fmt.Errorf("a number of at least %d is needed", least)
		}
		*p = n
		return nil
	}
	switch key {
	case "link-unit-name":
		f.LinkUnit = value
	case "use":
		if f.Use = value; slices.Contains(strings.Split(value, ","), "") {
			return errors.New("a file name is missing")
		}
	case "small-runtime":
		if f.SmallRuntime = value; value == "" {
			return errors.New("a file name is missing")
		}
	case "special-case-list":
		f.SpecialCaseList = value
	case "function-group-count":
		return number(&f.GroupCount, 1)
	case "selected-function-group":
		return number(&f.SelectedGroup, 0)
	case "min-instruction-count":
		return number(&f.MinInstructions, 1)
	case "runtime-buffer":
		return number(&f.RuntimeBuffer, 0)
	default:
		return errors.New("unknown flag")
	}
	return nil
}

func (f *machineFlags) check() error {
	switch {
	case f.FunctionCoverage && f.CallGraph:
		return fmt.Errorf("%w: -fmachine-profile-call-graph and -fmachine-profile-function-coverage exclude each other", errFlags)
	case !f.FunctionCoverage && !f.CallGraph:
		return fmt.Errorf("%w: -fno-machine-profile-call-graph without -fmachine-profile-function-coverage leaves nothing to record", errFlags)
	case f.SmallRuntime != "" && (f.CallGraph || f.Signals):
		return fmt.Errorf("%w: -fmachine-profile-small-runtime writes coverage at exit: it needs -fmachine-profile-function-coverage and excludes -fmachine-profile-signals", errFlags)
	case f.RuntimeBuffer > 0 && !f.CallGraph:
		return fmt.Errorf("%w: -fmachine-profile-runtime-buffer is for call edges, which -fmachine-profile-function-coverage excludes", errFlags)
	case f.RuntimeBuffer > 0 && f.RuntimeBuffer < edgeSize || f.RuntimeBuffer > maxRuntimeBuffer:
		return fmt.Errorf("%w: -fmachine-profile-runtime-buffer=%d: it takes %d bytes for each pair of call site and function called, and at most %d are possible",
			errFlags, f.RuntimeBuffer, edgeSize, maxRuntimeBuffer)
	case f.SelectedGroup >= f.GroupCount:
		return fmt.Errorf("%w: -fmachine-profile-selected-function-group=%d is not below -fmachine-profile-function-group-count=%d",
			errFlags, f.SelectedGroup, f.GroupCount)
	}
	return nil
}

// Profile returns the type of profile to record.
func (f *machineFlags) Profile() mip.ProfileType {
	t := mip.FunctionCoverage
	if f.CallGraph {
		t = mip.FunctionTimestamp | mip.FunctionCallCount
	}
	if f.BlockCoverage {
		t |= mip.BlockCoverage
	}
	if f.RuntimeBuffer > 0 {
		t |= mip.ReturnAddress
	}
	return t
}

// Options returns the instrumentation options for a target. threads is the
// default of the flag Threads. It reads the special case list.
func (f *machineFlags) Options(target asm.Target, threads bool) (instrument.Options, error) {
	opt := instrument.Options{
		Target: target, Profile: f.Profile(), LinkUnit: f.LinkUnit,
		AllBlockProbes: f.AllBlockProbes, ShortProbes: f.ShortProbes, CallsReturn: f.CallsReturn, MinInstructions: f.MinInstructions, Atomic: f.Atomic,
		Threads: f.Threads == switchedOn || f.Threads == unset && threads,
	}
	if f.GroupCount > 1 {
		opt.GroupCount, opt.SelectedGroup = f.GroupCount, f.SelectedGroup
	}
	if f.SpecialCaseList != "" {
		list, err := os.ReadFile(f.SpecialCaseList)
		if err != nil {
			return opt, err
		}
		if opt.Skip, err = instrument.ParseSpecialCaseList(list); err != nil {
			return opt, fmt.Errorf("%s: %w", f.SpecialCaseList, err)
		}
	}
	return opt, nil
}
