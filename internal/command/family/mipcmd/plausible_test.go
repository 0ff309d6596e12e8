package mipcmd

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/formats/mip"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// TestPlausible: numbers that no linker or run gives are remarked on, and those of real
// maps and profiles are not.
func TestPlausible(t *testing.T) {
	read := func(name string) *mip.Profile {
		path := filepath.Join(oracle.Root(t), "testdata", "mip", name)
		data := oracle.ReadFile(t, path)
		p, err := mip.Read(path, data, nil)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	for _, name := range []string{"all", "blocks", "counts", "function"} {
		for _, ext := range []string{".mip", ".mipmap"} {
			if got := plausibleRemarks(read(name + ext)); len(got) > 0 {
				t.Errorf("%s%s: %v", name, ext, got)
			}
		}
	}
	for _, c := range []struct {
		damage func(f *mip.Function) // of the second function, which has a call and blocks
		want   string
	}{
		{func(f *mip.Function) { f.RawOffset ^= 1 << 20 }, "raw offset of pick is "},
		{func(f *mip.Function) { f.RawOffset ^= 4 }, "raw offset of "},
		{func(f *mip.Function) { f.Address ^= 1 << 40 }, "address of pick is "},
		{func(f *mip.Function) { f.Address ^= 1 << 4 }, "size of "},
		{func(f *mip.Function) { f.Size ^= 1 << 12 }, "size of pick is "},
		{func(f *mip.Function) { f.Size = 0 }, "size of pick is 0"},
		{func(f *mip.Function) { f.Blocks[2].Offset ^= 1 << 30 }, "offset of a block of pick is "},
		{func(f *mip.Function) { f.MergeCount = 0 }, "number of profiles with a call of pick is 0"},
		{func(f *mip.Function) { f.MergeCount = 5 }, "number of calls of pick is 4"},
		{func(f *mip.Function) { f.CallCount = 0 }, "number of calls of pick is 0"},
		{func(f *mip.Function) { f.CallCount ^= 1 << 50 }, "number of calls of pick is "},
		{func(f *mip.Function) { f.TimestampSum ^= 1 << 10 }, "sum of the ranks of first calls of pick is "},
		{func(f *mip.Function) { f.Name = "pi\x83k" }, "function name of "},
	} {
		p := read("all.mip")
		c.damage(&p.Functions[1])
		all := ""
		for _, err := range plausibleRemarks(p) {
			all += err.Error() + "\n"
		}
		if !strings.Contains(all, c.want) {
			t.Errorf("%q, want %q", all, c.want)
		}
	}
}
