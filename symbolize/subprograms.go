package symbolize

import (
	"errors"

	"github.com/profuse-pgo/profuse/internal/parallel"
	"github.com/profuse-pgo/profuse/internal/program/dwarf"
	"github.com/profuse-pgo/profuse/internal/program/object"
)

func init() {
	dwarf.SubprogramsOf = func(file any, yield func(*dwarf.Subprogram)) (int, error) {
		return file.(*File).subprograms(yield)
	}
	object.RawSymbolsOf = func(file any, yield func(*object.RawSymbol)) error {
		f := file.(*File)
		return f.guard(func() error { return f.image.RawSymbols(yield) })
	}
}

// subprograms calls yield with the functions in the debug information. It skips units that cannot be read; the
// error has the reasons of at most maxProblems.
func (f *File) subprograms(yield func(*dwarf.Subprogram)) (lost int, err error) {
	d, err := f.debugData()
	if err != nil {
		return 0, err
	}
	var problems []error
	for _, split := range []bool{false, true} {
		units := make([]struct {
			found []dwarf.Subprogram
			lost  bool
			err   error
		}, d.data.Units())
		parallel.Each(len(units), func(i int) {
			u := &units[i]
			err := f.guard(func() error {
				u.found, u.lost, u.err = d.data.Subprograms(i, split)
				return nil
			})
			if err != nil {
				u.err = err
			}
		})
		for i := range units {
			for j := range units[i].found {
				yield(&units[i].found[j])
			}
			if units[i].lost {
				lost++
			}
			if units[i].err != nil && len(problems) < maxProblems {
				problems = append(problems, units[i].err)
			}
		}
	}
	return lost, errors.Join(problems...)
}
