// Package debuginfo finds the source lines of the functions and blocks of MIP
// profiles, in the debug information of the programs that were profiled.
//
//	file, err := symbolize.Open("app", symbolize.Options{})
//	…
//	defer file.Close()
//	program, err := debuginfo.New(file)
//	…
//	full, err := program.Expand(p) // with the blocks that have no probe
//	…
//	sources, err := program.Sources(full, warn)
//	view := full.View("app.mip", mip.ViewOptions{Info: info, Sources: sources})
//
// The program must be the file that ran, with debug information that package symbolize
// finds; [Find] and [Program.Check] detect other builds. Missing data about some
// functions is a warning; missing data about all functions is an error. Errors about the contents of
// the program are *[profile.FormatError]; package symbolize limits what hostile programs cost.
package debuginfo

import (
	"bytes"
	"fmt"

	"github.com/profuse-pgo/profuse/formats/mip"
	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/mip/blocks"
	"github.com/profuse-pgo/profuse/internal/mip/buildid"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/symbolize"
)

// rawSection is the section to which addresses of functions are relative.
const rawSection = "__llvm_mipraw"

// A Program is a program or library that was profiled. Its methods may be
// called by several goroutines at once.
type Program struct {
	file *symbolize.File
	raw  uint64 // address of the raw section
}

// New returns the program in an open file. A file without a section for raw
// profiles is an error that matches [profile.ErrMismatch].
func New(f *symbolize.File) (*Program, error) {
	raw := f.Section(rawSection)
	if raw == nil {
		return nil, &notProfiled{f.Name}
	}
	return &Program{f, raw.Addr}, nil
}

// Find returns the program of the profile in the file name: among the programs given by
// name the first that is instrumented and has the profile's build id, if both are known,
// or else the one in a folder that has the build id. buildID is nil if it is not known.
// If there is none, the error matches [profile.ErrMismatch].
func Find(programs *symbolize.Programs, name string, buildID []byte) (*Program, error) {
	others := 0 // programs of another build
	for _, file := range programs.Files {
		program, err := New(file)
		if err != nil {
			continue // it is not instrumented
		}
		if id := file.BuildID; buildID == nil || id == nil || bytes.Equal(id, buildID) {
			return program, nil
		}
		others++
	}
	for file, err := range programs.Find(buildID) {
		if err != nil {
			return nil, err
		}
		if program, err := New(file); err == nil {
			return program, nil
		}
	}
	const wantProfiled = "the one that was profiled, to know sources and blocks without probes"
	lack := flaw.File(name).Field("program")
	switch {
	case others > 0:
		lack = lack.Got("not among those given, which are of other builds").Wantf("build id %x", buildID)
	case len(programs.Folders) > 0 && buildID == nil:
		lack = lack.Gotf("not found in folders: the build id, which is in a file beside a profile (%s), is not known", buildid.Suffix).
			Want(wantProfiled)
	default:
		lack = lack.Got("not among those given, none of which is instrumented for MIP profiles").Want(wantProfiled)
	}
	return nil, lack.Mismatch()
}

// notProfiled is the error for a file that cannot be the program of any MIP profile.
type notProfiled struct{ file string }

func (e *notProfiled) Error() string {
	return fmt.Sprintf("%s: has no section %s, which addresses of functions are relative to: it is not the program that was profiled", e.file, rawSection)
}

func (e *notProfiled) Unwrap() error { return profile.ErrMismatch }

// File returns the file for other lookups.
func (p *Program) File() *symbolize.File { return p.file }

// Address returns the link-time address of an offset from the start of the raw section,
// such as [mip.Function].Address.
func (p *Program) Address(offset int64) uint64 { return p.raw + uint64(offset) }

// Frames calls yield for each address, relative to the raw section, with its index and its
// frames, innermost first. It calls warn, if not nil, with the first reasons why some
// addresses have no frames, and fails if none has.
func (p *Program) Frames(at []int64, warn func(profile.Warning), yield func(i int, frames []symbolize.Frame)) error {
	addrs := make([]uint64, len(at))
	for i, a := range at {
		addrs[i] = p.Address(a)
	}
	known := 0
	err := p.file.Batch(addrs, func(i int, frames []symbolize.Frame) {
		if len(frames) > 0 {
			known++
		}
		yield(i, frames)
	})
	if err != nil && warn != nil {
		problems := []error{err}
		if joined, ok := err.(interface{ Unwrap() []error }); ok {
			problems = joined.Unwrap()
		}
		for _, problem := range problems {
			warn(profile.Warning{File: p.file.Name, Err: problem})
		}
	}
	if len(at) > 0 && known == 0 {
		return fmt.Errorf("%s: has no source line of any function: was it built with -g?", p.file.Name)
	}
	return nil
}

// Check compares the addresses of functions with the symbols of the program. If they differ, the program
// is another build, and the error matches [profile.ErrMismatch]. A program without symbols passes.
func (p *Program) Check(of *mip.Profile) error {
	count, first := 0, ""
	for i := range of.Functions {
		f := &of.Functions[i]
		addr := p.Address(f.Address)
		if s, ok, err := p.file.Symbol(addr); err == nil && ok && s.Addr != addr {
			if count++; count == 1 {
				first = f.Name
			}
		}
	}
	if count == 0 {
		return nil
	}
	return flaw.File(p.file.Name).Field("functions that do not begin where its symbols do").
		Gotf("%d, %s the first", count, first).Want("the build that was profiled").Mismatch()
}

// Expand returns the profile with the coverage of blocks without a probe, inferred with
// the table in the program. See [blocks.Table.Expand].
func (p *Program) Expand(of *mip.Profile) (*mip.Profile, error) {
	section := p.file.Section(blocks.Section)
	if section == nil || !of.Type.Has(mip.BlockCoverage) {
		return of, nil
	}
	data, err := section.Data()
	if err != nil {
		return nil, err
	}
	if len(data) == 0 {
		return of, nil // a separate debug file
	}
	table, err := blocks.Read(p.file.Name, data)
	if err != nil {
		return nil, err
	}
	full, err := table.Expand(of)
	return full, flaw.InFile(err, p.file.Name)
}
