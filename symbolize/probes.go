package symbolize

import "github.com/profuse-pgo/profuse/internal/program/dwarf"

func init() {
	dwarf.ProbesOf = func(file any, yield func(*dwarf.Probe)) error { return file.(*File).probes(yield) }
	dwarf.RowsOf = func(file any, yield func(addrs []uint64) bool) error { return file.(*File).rows(yield) }
}

// probes calls yield for what the debug information says of the counters of each
// function, in its order. Those of compilation units that cannot be read are
// missing; the error is the reason, or that there is no debug information that could
// be opened.
func (f *File) probes(yield func(*dwarf.Probe)) error {
	d, err := f.debugData()
	if err != nil {
		return err
	}
	return f.guard(func() error { return d.data.Probes(yield) })
}

// rows calls yield with the addresses at which lines begin, unit by unit. yield must not read the
// file.
func (f *File) rows(yield func(addrs []uint64) bool) error {
	d, err := f.debugData()
	if err != nil {
		return err
	}
	return f.guard(func() error { return d.data.Rows(yield) })
}
