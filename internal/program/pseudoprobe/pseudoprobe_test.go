package pseudoprobe

import (
	"debug/elf"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/internal/cursor"
	"github.com/profuse-pgo/profuse/internal/llvm/guid"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/hostile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// program returns the sections of a program, and the addresses of its functions.
func program(t *testing.T, path string) (descs, probes []byte, start func(uint64) uint64) {
	t.Helper()
	f := oracle.Must(elf.Open(path))(t)
	defer f.Close()
	data := func(name string) []byte {
		return oracle.Must(f.Section(name).Data())(t)
	}
	symbols := oracle.Must(f.Symbols())(t)
	starts := make(map[uint64]uint64)
	for _, s := range symbols {
		starts[guid.Of(s.Name)] = s.Value
	}
	return data(DescSection), data(ProbeSection), func(id uint64) uint64 { return starts[id] }
}

// TestAgainstLLVM compares the probes with those that llvm-profgen prints.
func TestAgainstLLVM(t *testing.T) {
	profgen := oracle.Tool(t, "llvm-profgen-22")
	source := filepath.Join(oracle.Root(t), "testdata", "sampleprof", "src", "work.cpp")
	printed := regexp.MustCompile(`^ \[Probe\]:\tFUNC: (\S+) Index: (\d+) .*Type: (\w+)`)
	for _, release := range []int{14, 16, 19, 22} {
		clang := oracle.Tool(t, fmt.Sprintf("clang++-%d", release))
		for _, flags := range [][]string{{"-O2"}, {"-O1", "-ffunction-sections"}, {"-O2", "-fsplit-machine-functions"}} {
			path := filepath.Join(t.TempDir(), "program")
			if _, stderr, code := oracle.Run(t, clang, append(flags, "-g", "-fpseudo-probe-for-profiling", source, "-o", path)...); code != 0 {
				t.Fatal(stderr)
			}
			stdout, stderr, _ := oracle.Run(t, profgen, "--binary="+path, "--show-pseudo-probe", "--show-disassembly-only", "--perfscript=/dev/null", "-o", "/dev/null")
			var want, pending []string
			for line := range strings.Lines(stdout) {
				if m := printed.FindStringSubmatch(line); m != nil {
					pending = append(pending, strings.Join(m[1:], " "))
				} else if at, _, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
					if _, err := strconv.ParseUint(at, 16, 64); err == nil {
						for _, p := range pending {
							want = append(want, at+" "+p)
						}
						pending = nil
					}
				}
			}
			descs, probes, start := program(t, path)
			names := make(map[uint64]string)
			for d, err := range Descs(descs) {
				if err != nil || d.GUID != guid.Of(d.Name) || d.Hash == 0 {
					t.Fatalf("%+v, %v", d, err)
				}
				names[d.GUID] = d.Name
			}
			var got []string
			inlined := 0
			for e, err := range Entries(probes, start) {
				oracle.NoError(t, err)
				if e.Kind == Inlined {
					inlined++
					if names[e.Callee] == "" {
						t.Errorf("clang %d: %+v", release, e)
					}
					continue
				}
				kind := [...]string{"Block", "IndirectCall", "DirectCall"}[e.Kind]
				got = append(got, fmt.Sprintf("%x %s %d %s", e.Addr, names[e.Function], e.Index, kind))
			}
			slices.Sort(got)
			slices.Sort(want)
			got, want = slices.Compact(got), slices.Compact(want)
			if !slices.Equal(got, want) || len(want) < 20 || inlined < 5 {
				t.Errorf("clang %d %q: %d inlined\n%s\nwant\n%s\n%s", release, flags, inlined, strings.Join(got, "\n"), strings.Join(want, "\n"), stderr)
			}
		}
	}
}

// u64 appends a number of 8 bytes.
func u64(b []byte, n uint64) []byte {
	for range 8 {
		b, n = append(b, byte(n)), n>>8
	}
	return b
}

// example is a section with all that may be in one: an address, a difference, a discriminator, a part of
// a function, and functions inlined into each other.
func example() []byte {
	b := u64(nil, 7)
	b = append(b, 3, 1)
	b = u64(append(b, 1, 0), 0x1000)                // block 1 at an address
	b = append(b, 2, addressDelta|2, 0x7c)          // call 2, 4 bytes before
	b = append(b, 3, addressDelta|4<<4, 0x90, 1, 5) // block 3, 144 after, with a discriminator
	b = u64(append(b, 2), 8)                        // at call 2: function 8
	b = append(b, 0, 1)
	b = u64(append(b, 4), 9)
	b = append(b, 1, 0, 1, addressDelta, 0)
	b = u64(b, 10)
	b = append(b, 2, 0)
	b = u64(append(b, 0, sentinel), 11)
	return append(b, 4, addressDelta|1, 2)
}

func entries(data []byte) (got []string, err error) {
	for e, failed := range Entries(data, func(id uint64) uint64 { return map[uint64]uint64{7: 0x100, 11: 0x2000}[id] }) {
		if failed != nil {
			return got, failed
		}
		got = append(got, fmt.Sprintf("%d:%d %d %#x %d", e.Function, e.Index, e.Kind, e.Addr, e.Callee))
	}
	return got, nil
}

func TestEntries(t *testing.T) {
	got, err := entries(example())
	want := []string{
		"7:1 0 0x1000 0", "7:2 2 0xffc 0", "7:3 0 0x108c 0", "7:2 3 0x108c 8", "8:4 3 0x108c 9", "9:1 0 0x108c 0", "10:4 1 0x2002 0",
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
}

// TestTruncated: what is cut is an error, unless it is between functions.
func TestTruncated(t *testing.T) {
	data := example()
	whole := len(data) - (8 + 2 + 10 + 3)
	for n, cut := range hostile.Cuts(data, 1) {
		_, err := entries(cut)
		if fe := hostile.Check(t, "", cut, err); (fe == nil) != (n == 0 || n == whole) || fe != nil && fe.Section != ProbeSection {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	desc := append(u64(u64(nil, 1), 2), 1, 'f')
	for n, cut := range hostile.Cuts(desc, 1) {
		for d, err := range Descs(cut) {
			if err == nil {
				t.Errorf("%d bytes: %+v", n, d)
			}
		}
	}
}

// TestHostile: nothing is too deep or too long.
func TestHostile(t *testing.T) {
	var deep []byte
	deep = append(u64(deep, 1), 0, 1)
	for range 10_000 {
		deep = append(u64(append(deep, 1), 1), 0, 1)
	}
	if _, err := entries(deep); !errors.Is(err, profile.ErrUnsupported) {
		t.Error(err)
	}
	many := cursor.AppendULEB(u64(nil, 1), 1<<62)
	if _, err := entries(append(many, 0)); err == nil {
		t.Error("2^62 probes in no bytes")
	}
}

// FuzzEntries: no input makes more entries than it has room for.
func FuzzEntries(f *testing.F) {
	f.Add(example())
	f.Fuzz(func(t *testing.T, data []byte) {
		n := 0
		for _, err := range Entries(data, func(uint64) uint64 { return 1 }) {
			if err == nil {
				n++
			}
		}
		for d, err := range Descs(data) {
			if err == nil && len(d.Name) > len(data) {
				t.Errorf("%+v", d)
			}
		}
		if 3*n > len(data) {
			t.Errorf("%d entries in %d bytes", n, len(data))
		}
	})
}
