package memprof

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/internal/oracle"
)

// memprofSection cuts the memprof section out of an indexed profile.
func memprofSection(t testing.TB, file []byte) (section []byte, offset int64) {
	t.Helper()
	const memprofOffset, binaryIDsOffset = 40, 48 // header of container version 9 and later
	from, to := le.Uint64(file[memprofOffset:]), le.Uint64(file[binaryIDsOffset:])
	return file[from:to], int64(from)
}

// written returns the section at an offset of a file.
func written(t testing.TB, p *Profile, offset int64, opt WriteOptions) []byte {
	t.Helper()
	s, err := NewSection(p, opt)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Place(offset); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := s.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// compareSection compares what the raw profile becomes with a section that LLVM
// made of it. Of the tables of versions 0 to 2, LLVM 19 and older fill the one
// of frames in no order that can be told: there sizes must agree, and what is
// read back.
func compareSection(t *testing.T, raw *RawProfile, program string, file []byte, opt WriteOptions) {
	t.Helper()
	want, offset := memprofSection(t, file)
	p, _ := symbolizeRaw(t, raw, openBinaries(t, program), SymbolizeOptions{LLVMCompat: true})
	got := written(t, p, offset, opt)
	if bytes.Equal(got, want) {
		return
	}
	if opt.LLVMRelease <= 19 && (opt.Version == Version0 || opt.Version == 1 || opt.Version == 2) {
		// Items of a bucket stand in another order: the same bytes otherwise.
		if len(got) == len(want) && byteSums(got) == byteSums(want) && sameUntilFrames(got, want) {
			return
		}
	}
	t.Errorf("%d bytes, want %d; the first difference is at %d", len(got), len(want), firstDifferentByte(got, want))
}

func byteSums(b []byte) (sums [256]int) {
	for _, c := range b {
		sums[c]++
	}
	return sums
}

// sameUntilFrames reports whether two sections agree up to their table of
// frames, the third word of versions 0 and, after the version, 1 and 2.
func sameUntilFrames(a, b []byte) bool {
	at := 8
	if le.Uint64(a) <= 4 {
		at += 8
	}
	payload := int(le.Uint64(a[at:]) - le.Uint64(b[at:]))
	first := firstDifferentByte(a, b)
	return payload == 0 && first > 40
}

func firstDifferentByte(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

// TestSectionsAreLLVMs: the section of one raw profile and its program is that
// of llvm-profdata, byte for byte.
func TestSectionsAreLLVMs(t *testing.T) {
	versions := map[int][]int{16: {0}, 19: {0, 1, 2, 3}, 22: {2, 3, 4}}
	for _, f := range rawFixtures(t) {
		for _, llvm := range f.tools() {
			for _, version := range versions[llvm] {
				for _, full := range []bool{false, true} {
					// The full schema holds an address of LLVM's for histograms;
					// versions 0 and 1 have no other.
					if f.is("histogram") && (full || version < 2) || full && version < 2 {
						continue
					}
					t.Run(fmt.Sprintf("%s/llvm%d/v%d/full=%t", f.name, llvm, version, full), func(t *testing.T) {
						t.Parallel()
						profdata := oracle.LLVM(t, llvm)
						out := filepath.Join(t.TempDir(), "out")
						args := []string{"merge", "--profiled-binary=" + f.program, f.file, "-o", out}
						opt := WriteOptions{Version: version, LLVMRelease: llvm}
						if version == 0 {
							opt.Version = Version0
						}
						if llvm > 16 {
							args = append(args, fmt.Sprintf("--memprof-version=%d", version))
						}
						if full {
							opt.Schema = FullSchema
							args = append(args, "--memprof-full-schema")
						}
						if _, stderr, code := oracle.Run(t, profdata, args...); code != 0 {
							t.Fatal(stderr)
						}
						compareSection(t, f.read(t, RawOptions{LLVMCompat: true}), f.program, readFile(t, out), opt)
					})
				}
			}
		}
	}
}

// TestSectionsOfFixtures compares with what llvm-profdata made when the
// profiles were, for where there is none.
func TestSectionsOfFixtures(t *testing.T) {
	for _, f := range rawFixtures(t) {
		tools := f.tools()
		if len(tools) == 0 {
			continue
		}
		opt := WriteOptions{LLVMRelease: tools[0]}
		if f.version == 2 {
			opt.Version = Version0
		}
		t.Run(f.name, func(t *testing.T) {
			file := readFile(t, strings.TrimSuffix(f.file, ".memprofraw")+".profdata")
			compareSection(t, f.read(t, RawOptions{LLVMCompat: true}), f.program, file, opt)
		})
	}
}
