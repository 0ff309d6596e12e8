package irpgocmd

import (
	"errors"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/formats/irpgo"
	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/internal/command/family"
	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/program/covmap"
	"github.com/profuse-pgo/profuse/internal/program/object"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/symbolize"
)

// A demand is what compilers look for in a profile when they build a program: a record for each function, by name, hash
// and number of counters.
type demand struct {
	arch    string
	buildID []byte
	shapes  map[string][]shape // by PGO name
	total   int                // shapes of all functions

	records, mapping, debugInfo bool // what says so

	plain, sensitive bool          // there are functions without and with a context-sensitive hash
	variant          irpgo.Variant // if hasVariant
	hasVariant       bool
}

// A shape is how a function is instrumented. One name may have several: copies of an inline function that were compiled
// with different flags.
type shape struct {
	hash     uint64
	counters uint32 // 0 if unknown: coverage mappings do not say it
}

func (s shape) isCS() bool { return (&irpgo.Record{Hash: s.hash}).IsCS() }

// readDemand reads a program, library, object file or static archive that was built with instrumentation.
func readDemand(p family.Program, warn func(profile.Warning)) (*demand, error) {
	path, err := object.BundledFile(p.Path)
	if err != nil {
		return nil, err
	}
	d := &demand{shapes: make(map[string][]shape)}
	opt := p.Options.Inputs
	opt.Recognize = nil // a program or an archive
	err = object.ReadFile(inputs.File(path, opt), func(data []byte) error {
		err := object.Images(path, data, p.Options.Arch, func(name string, data []byte) error { return d.addImage(name, data, p.Options, warn) })
		if err != nil {
			return err
		}
		return d.addMapping(path, data, p.Options.Arch)
	})
	if err != nil {
		return nil, err
	}
	d.count()
	return d, nil
}

// count sets what d knows of all its shapes.
func (d *demand) count() {
	for _, shapes := range d.shapes {
		d.total += len(shapes)
		for _, s := range shapes {
			d.plain, d.sensitive = d.plain || !s.isCS(), d.sensitive || s.isCS()
		}
	}
}

// addImage adds the functions of the data records of an image. If the program was built for correlation with debug
// information, it has only the counters, and the debug information describes them.
func (d *demand) addImage(name string, data []byte, opt symbolize.Options, warn func(profile.Warning)) error {
	opt.NoDebugFiles = true
	f, err := symbolize.New(name, data, opt)
	if err != nil {
		return err
	}
	defer f.Close()
	d.arch, d.buildID = f.Arch, f.BuildID
	c, err := irpgo.Correlate(f, irpgo.CorrelateOptions{From: "data"})
	source := &d.records
	if errors.Is(err, profile.ErrEmpty) {
		c, err = irpgo.Correlate(f, irpgo.CorrelateOptions{From: "debug-info", Warn: warn})
		source = &d.debugInfo
		if errors.Is(err, profile.ErrMismatch) {
			return nil // not instrumented
		}
	}
	if err != nil {
		return err
	}
	*source = true
	if c.HasVariant {
		d.variant, d.hasVariant = d.variant|c.Variant, true
	}
	for i := range c.Functions {
		fn := &c.Functions[i]
		d.add(fn.Name, shape{fn.Hash, fn.Counters})
	}
	return nil
}

// addMapping adds the functions of a coverage mapping. It has every function for which the front end made code, while the
// linker may drop their data records.
func (d *demand) addMapping(path string, data []byte, arch string) error {
	maps, err := covmap.Read(path, data, covmap.Options{Arch: arch, LeaveOut: true})
	if errors.Is(err, profile.ErrEmpty) {
		return nil
	}
	for _, m := range maps {
		for i := range m.Records {
			if r := &m.Records[i]; r.Hash != 0 { // else it is without code
				d.mapping = true
				d.add(r.Name, shape{hash: r.Hash})
			}
		}
	}
	if d.mapping {
		d.hasVariant = true // only the front end writes mappings
	}
	return err
}

func (d *demand) add(name string, s shape) {
	if name == "" {
		return
	}
	all := d.shapes[name]
	for i := range all {
		have := &all[i]
		if have.hash == s.hash && (have.counters == s.counters || have.counters == 0 || s.counters == 0) {
			have.counters = max(have.counters, s.counters)
			return
		}
	}
	d.shapes[name] = append(all, s)
}

// compared says what the profile is compared by, for people, and in a word for JSON.
func (d *demand) compared() (word, text string) {
	switch {
	case d.records && d.mapping:
		return "data_records_and_mapping", "names, hashes and numbers of counters, of data records and coverage mapping"
	case d.records:
		return "data_records", "names, hashes and numbers of counters, of data records"
	case d.debugInfo:
		return "debug_info", "names, hashes and numbers of counters, of debug information"
	}
	return "mapping", "names and hashes, of the coverage mapping"
}

// admit returns an error if the program is not instrumented, or not as the profile: none of its hashes would fit. A
// profile without functions may be of any kind.
func (d *demand) admit(p *irpgo.Profile, program, name string) error {
	var got, want string
	switch kinds := map[bool]string{true: "by the IR pass (-fprofile-generate, rustc -C profile-generate)", false: "by the front end (-fprofile-instr-generate)"}; {
	case d.total == 0:
		return flaw.File(program).Field("instrumentation").Got("none").
			Want("a build of the new sources that is instrumented " + kinds[p.Variant.Has(irpgo.IRLevel)]).
			Hint("objects and static libraries will do, but not the objects of link-time optimization").Mismatch()
	case len(p.Functions) == 0:
	case d.hasVariant && p.Variant.Has(irpgo.IRLevel) != d.variant.Has(irpgo.IRLevel):
		got, want = kinds[d.variant.Has(irpgo.IRLevel)], kinds[p.Variant.Has(irpgo.IRLevel)]
	case !slices.ContainsFunc(p.Functions, func(f irpgo.Function) bool {
		return slices.ContainsFunc(f.Records, func(r *irpgo.Record) bool { return d.judges(p, r) })
	}):
		got, want = "context-sensitive (-fcs-profile-generate)", "without contexts (-fprofile-generate)"
		if !d.sensitive {
			got, want = want, got
		}
	}
	if want == "" {
		return nil
	}
	return flaw.File(program).Field("instrumentation").Got(got).Want(want + ", as of the profile " + name).Mismatch()
}

// judges reports whether the program says whether a record of a profile fits: a build with -fcs-profile-generate says
// nothing of records without contexts, and other builds nothing of context-sensitive records. Hashes of the front end may
// have the bit of context-sensitive ones, but it means nothing there.
func (d *demand) judges(p *irpgo.Profile, r *irpgo.Record) bool {
	switch {
	case !p.Variant.Has(irpgo.IRLevel):
		return true
	case r.IsCS():
		return d.sensitive
	}
	return d.plain
}

// oldName returns the name that compilers since LLVM 18 look for if the profile lacks a function: the name that older
// releases gave it. It is "" for functions that are not local.
func oldName(name string) string {
	if file, symbol, ok := strings.Cut(name, ";"); ok {
		return file + ":" + symbol
	}
	return ""
}
