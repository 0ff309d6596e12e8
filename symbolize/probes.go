package symbolize

import "github.com/profuse-pgo/profuse/internal/program/dwarf"

func init() {
	dwarf.ProbesOf = func(file any, yield func(*dwarf.Probe)) error { return file.(*File).probes(yield) }
	dwarf.RowsOf = func(file any, yield func(addrs []uint64) bool) error { return file.(*File).rows(yield) }
}

// probes calls yield with the counters of each function in the debug information, in its
// order. It skips compilation units that cannot be read. The error says why a unit or the
// debug information as a whole could not be read.
func (f *File) probes(yield func(*dwarf.Probe)) error {
	d, err := f.debugData()
	if err != nil {
		return err
	}
	return f.guard(func() error { return d.data.Probes(yield) })
}

// rows calls yield with the addresses at which lines begin, unit by unit. yield must not read the file.
func (f *File) rows(yield func(addrs []uint64) bool) error {
	d, err := f.debugData()
	if err != nil {
		return err
	}
	return f.guard(func() error { return d.data.Rows(yield) })
}
