package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/cli"
	"github.com/profuse-pgo/profuse/instrument/blocks"
	"github.com/profuse-pgo/profuse/mip"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/symbolize"
)

// mipRawSection is the section from which functions are counted.
const mipRawSection = "__llvm_mipraw"

// mipDebug finds the source of functions in the program that was profiled, or
// in its .dSYM bundle.
type mipDebug struct {
	file *symbolize.File
	raw  uint64 // address of the raw section
}

func openMIPDebug(path, arch string) (*mipDebug, error) {
	in, err := mipPath(path)
	if err != nil {
		return nil, err
	}
	f, err := symbolize.Open(in.Name, symbolize.Options{Arch: arch})
	if err != nil {
		return nil, err
	}
	raw := f.Section(mipRawSection)
	if raw == nil {
		f.Close()
		return nil, fmt.Errorf("%s: has no section %s, from which functions are counted: it is not the program that was profiled",
			in.Name, mipRawSection)
	}
	return &mipDebug{f, raw.Addr}, nil
}

// close closes the file. It may be called on nil.
func (d *mipDebug) close() {
	if d != nil {
		d.file.Close()
	}
}

// frames calls yield for each address, counted from the raw section, with its
// index and its frames, innermost first. The warnings say why some are not
// known.
func (d *mipDebug) frames(at []int64, yield func(i int, frames []symbolize.Frame)) (warnings []string, err error) {
	addrs := make([]uint64, len(at))
	for i, a := range at {
		addrs[i] = d.raw + uint64(a)
	}
	known := 0
	err = d.file.Batch(addrs, func(i int, frames []symbolize.Frame) {
		if len(frames) > 0 {
			known++
		}
		yield(i, frames)
	})
	if err != nil {
		for line := range strings.Lines(err.Error()) {
			warnings = append(warnings, strings.TrimSuffix(line, "\n"))
		}
	}
	if len(at) > 0 && known == 0 {
		return warnings, fmt.Errorf("%s: knows no source of any function: is it built with -g?", d.file.Name())
	}
	return warnings, nil
}

// doubts returns why the program may not be the one that was profiled; "" if
// it may. Functions of another build are elsewhere.
func (d *mipDebug) doubts(profilePath string, p *mip.Profile) string {
	if want, err := buildIDOf(profilePath); err == nil && want != nil {
		if got := d.file.BuildID(); got != nil && !bytes.Equal(got, want) {
			return fmt.Sprintf("%s is another build than the one profiled: its build id is %x, that kept in %s%s is %x",
				d.file.Name(), got, profilePath, mip.BuildIDSuffix, want)
		}
	}
	away, first := 0, ""
	for i := range p.Functions {
		f := &p.Functions[i]
		addr := d.raw + uint64(f.Address)
		if s, ok, err := d.file.Symbol(addr); err == nil && ok && s.Addr != addr {
			if away++; away == 1 {
				first = f.Name
			}
		}
	}
	if away == 0 {
		return ""
	}
	return fmt.Sprintf("%s is another build than the one profiled: %s, %s the first, do not begin where its symbols do",
		d.file.Name(), cli.Quantity(uint64(away), "function", "functions"), first)
}

// expand returns the profile with the blocks that have no probe, where the
// program says how their coverage follows from that of others.
func (d *mipDebug) expand(p *mip.Profile) (*mip.Profile, error) {
	section := d.file.Section(blocks.Section)
	if section == nil || !p.Type.Has(mip.BlockCoverage) {
		return p, nil
	}
	data, err := section.Data()
	if err != nil {
		return nil, err
	}
	table, err := blocks.Read(d.file.Name(), data)
	if err != nil {
		return nil, err
	}
	full, err := table.Expand(p)
	return full, profile.InFile(err, d.file.Name())
}

// innermost returns the source of the innermost frame: what runs there first,
// which may be inlined.
func innermost(frames []symbolize.Frame) sourceFacts {
	if len(frames) == 0 {
		return sourceFacts{}
	}
	return sourceFacts{cleanPath(frames[0].File), frames[0].Line}
}

// declaration returns where the function that was not inlined is declared, or
// else the source line of its first instruction.
func declaration(frames []symbolize.Frame) sourceFacts {
	if len(frames) == 0 {
		return sourceFacts{}
	}
	outer := frames[len(frames)-1]
	if outer.StartLine > 0 {
		return sourceFacts{cleanPath(outer.File), outer.StartLine}
	}
	return sourceFacts{cleanPath(outer.File), outer.Line}
}

// cleanPath makes the spellings of a path one that compilers use beside each
// other, "/src/./a.h" and "/src/a.h". What is above a "..", nobody knows here.
func cleanPath(path string) string { return strings.ReplaceAll(path, "/./", "/") }
