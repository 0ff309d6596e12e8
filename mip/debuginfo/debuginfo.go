// Package debuginfo finds where the functions and blocks of MIP profiles are in
// the sources, in the debug information of the programs that were profiled.
//
//	program, err := debuginfo.Open("app", "")
//	…
//	defer program.Close()
//	full, err := program.Expand(p) // with the blocks that have no probe
//	…
//	sources, problems, err := program.Sources(full)
//	view := full.View("app.mip", mip.ViewOptions{Info: info, Sources: sources})
//
// The program must be the file that ran, with debug information that package symbolize
// finds; [Program.OtherBuild] and [Program.Displaced] detect other files. Missing data of
// single functions is a problem, described in words; it is an error only if there is no
// data at all. Errors about the program's contents are *[profile.FormatError]; the limits
// for hostile programs are those of package symbolize.
package debuginfo

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/profuse-pgo/profuse/instrument/blocks"
	"github.com/profuse-pgo/profuse/mip"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/symbolize"
)

// rawSection is the section that the addresses of functions are relative to.
const rawSection = "__llvm_mipraw"

// A Program is a program or library that was profiled. Its methods may be
// called by several goroutines at once.
type Program struct {
	file *symbolize.File
	raw  uint64 // address of the raw section
}

// Open opens a program, or the one in a .dSYM bundle. arch selects the slice of a
// universal file. A file without a section for raw profiles is an error that matches
// [profile.ErrMismatch].
func Open(path, arch string) (*Program, error) {
	path, err := mip.BinaryFile(path)
	if err != nil {
		return nil, err
	}
	f, err := symbolize.Open(path, symbolize.Options{Arch: arch})
	if err != nil {
		return nil, err
	}
	p, err := New(f)
	if err != nil {
		f.Close()
	}
	return p, err
}

// New returns the program that an open file is. The error is as of [Open].
func New(f *symbolize.File) (*Program, error) {
	raw := f.Section(rawSection)
	if raw == nil {
		return nil, &notProfiled{f.Name()}
	}
	return &Program{f, raw.Addr}, nil
}

// notProfiled: a file is not the program that was profiled, whichever that is.
type notProfiled struct{ file string }

func (e *notProfiled) Error() string {
	return fmt.Sprintf("%s: has no section %s, from which functions are counted: it is not the program that was profiled", e.file, rawSection)
}

func (e *notProfiled) Unwrap() error { return profile.ErrMismatch }

// Close closes the file. It may be called on nil.
func (p *Program) Close() error {
	if p == nil {
		return nil
	}
	return p.file.Close()
}

// File returns the file for other lookups.
func (p *Program) File() *symbolize.File { return p.file }

// Address returns the link-time address of an offset from the start of the raw section,
// such as [mip.Function].Address.
func (p *Program) Address(offset int64) uint64 { return p.raw + uint64(offset) }

// Frames calls yield for each address, relative to the raw section, with its index and its
// frames, innermost first. The problems describe why some have no frames. It is an error
// if none has.
func (p *Program) Frames(at []int64, yield func(i int, frames []symbolize.Frame)) (problems []string, err error) {
	addrs := make([]uint64, len(at))
	for i, a := range at {
		addrs[i] = p.Address(a)
	}
	known := 0
	err = p.file.Batch(addrs, func(i int, frames []symbolize.Frame) {
		if len(frames) > 0 {
			known++
		}
		yield(i, frames)
	})
	if err != nil {
		for line := range strings.Lines(err.Error()) {
			problems = append(problems, strings.TrimSuffix(line, "\n"))
		}
	}
	if len(at) > 0 && known == 0 {
		return problems, fmt.Errorf("%s: knows no source of any function: is it built with -g?", p.file.Name())
	}
	return problems, nil
}

// OtherBuild returns the program's build id and true if it differs from want. Unknown ids
// do not differ.
func (p *Program) OtherBuild(want []byte) (got []byte, other bool) {
	got = p.file.BuildID()
	return got, want != nil && got != nil && !bytes.Equal(got, want)
}

// Displaced counts the functions that begin at another address than their symbols, as
// those of another build do, and returns the name of the first. It returns 0 for a program
// without symbols.
func (p *Program) Displaced(of *mip.Profile) (count int, first string) {
	for i := range of.Functions {
		f := &of.Functions[i]
		addr := p.Address(f.Address)
		if s, ok, err := p.file.Symbol(addr); err == nil && ok && s.Addr != addr {
			if count++; count == 1 {
				first = f.Name
			}
		}
	}
	return count, first
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
	table, err := blocks.Read(p.file.Name(), data)
	if err != nil {
		return nil, err
	}
	full, err := table.Expand(of)
	return full, profile.InFile(err, p.file.Name())
}
