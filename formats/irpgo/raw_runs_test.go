package irpgo

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// TestSeveralRuns: a reader, a merge and a check remark on what several runs or processes have left in one file. As
// LLVM, a reader that is lenient says nothing.
func TestSeveralRuns(t *testing.T) {
	for _, tc := range []struct{ file, want string }{
		{"runs/pool.profraw", "address of a target is of an earlier run in 12 of 18 cases, 67 % of the calls, want of the run that wrote the file; in a pool (%m)"},
		{"runs/fork.profraw", "profile is of the same program at the same addresses as the one before it, want of another program; if a forked process"},
		{"clang22/pool.profraw", ""}, // without address randomization
		{"clang22/dispatch-all.profraw", ""},
		{"clang22/ir-vtable.profraw", ""},
		{"clang22/host.profraw", ""},
		{"rustc195/generate-run1.profraw", ""},
	} {
		t.Run(tc.file, func(t *testing.T) {
			data := oracle.ReadFile(t, "../../testdata/irpgo/"+tc.file)
			var remarks []string
			opt := ReaderOptions{Warn: func(w profile.Warning) {
				if !errors.Is(w.Err, flaw.ErrRemark) {
					t.Error(w)
				}
				remarks = append(remarks, w.Err.Error())
			}}
			m := NewMerger(MergeOptions{})
			if _, err := m.Add(openReader(t, "f", data, opt), 1); err != nil {
				t.Error(err)
			}
			merged := remarks
			remarks = nil
			oracle.NoError(t, openReader(t, "f", data, opt).readable())
			rep := Check("f", data)
			switch {
			case !slices.Equal(merged, remarks) || len(rep.Remarks) != len(remarks) || len(rep.Findings) > 0:
				t.Errorf("merge: %q\nreader: %q\ncheck: %v, %v", merged, remarks, rep.Remarks, rep.Findings)
			case tc.want == "" && len(remarks) > 0 || tc.want != "" && (len(remarks) != 1 || !strings.Contains(remarks[0], tc.want)):
				t.Errorf("%q, want %q", remarks, tc.want)
			}
			remarks, opt.Lenient = nil, true
			if oracle.NoError(t, openReader(t, "f", data, opt).readable()); len(remarks) > 0 {
				t.Errorf("lenient: %q", remarks)
			}
		})
	}
}

// TestFarAddresses: which addresses may be of the program in an earlier run.
func TestFarAddresses(t *testing.T) {
	program := addressMap{callees: []addressRef{{0x5581_2345_6000, 1}, {0x5581_2345_9000, 2}}, ptr: 8}
	narrow := addressMap{callees: []addressRef{{0x5655_6000, 1}, {0x5655_9000, 2}}, ptr: 4}
	fixed := addressMap{callees: []addressRef{{0x40_1000, 1}, {0x40_9000, 2}}, ptr: 8}
	for _, c := range []struct {
		m    *addressMap
		addr uint64
		want bool
	}{
		{&program, 0x55ee_1111_1000, true},
		{&program, 0x5600_0000_1000, true},
		{&program, 0x5581_2345_8000, false}, // another function of this run
		{&program, 0x5581_2350_0000, false},
		{&program, 0x7fee_1111_1000, false}, // of a library
		{&program, 0x0000_0040_1000, false},
		{&narrow, 0x5a11_1000, true},
		{&narrow, 0x5655_8000, false},
		{&narrow, 0xf7ee_1000, false}, // of a library
		{&fixed, 0x80_1000, false},
		{new(addressMap), 0x5a11_1000, false},
	} {
		calls, tables := c.m.farFrom(IndirectCallTarget), c.m.farFrom(VTableTarget)
		if got := calls.has(c.addr); got != c.want {
			t.Errorf("%#x: %v", c.addr, got)
		}
		if tables.has(c.addr) {
			t.Errorf("%#x: a virtual table", c.addr)
		}
	}
}
