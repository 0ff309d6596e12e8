package sampleprof

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/profuse-pgo/profuse/test/oracle"
)

// TestReleases: all releases read our files, and write them but for details in docs/differences.md.
func TestReleases(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, release := range []int{14, 16, 19, 22} {
		llvm := oracle.LLVM(t, release)
		for i, kind := range kinds {
			data := randomText(uint64(i)+40, 12, kind, false)
			p := sumOf(t, MergeOptions{LLVMCompat: true}, [][]byte{data}, addProfile).Profile()
			oracle.WriteFile(t, at("in"), data)
			want := mustWrite(t, p, WriteOptions{Format: FormatText})
			for _, mode := range []struct {
				args []string
				opt  WriteOptions
			}{
				{[]string{"--text"}, WriteOptions{Format: FormatText}},
				{[]string{"--binary"}, WriteOptions{Format: FormatBinary}},
				{[]string{"--extbinary"}, WriteOptions{}},
				{[]string{"--extbinary", "--use-md5"}, WriteOptions{MD5: true}},
			} {
				if mode.opt.Format == FormatBinary && kind != (Kind{}) {
					continue
				}
				ours := mustWrite(t, p, mode.opt)
				oracle.WriteFile(t, at("ours"), ours)
				run := func(args ...string) []byte {
					args = append([]string{"merge", "--sample", "-o", at("out")}, args...)
					if _, stderr, code := oracle.RunIn(t, dir, llvm, args...); code != 0 {
						t.Fatalf("LLVM %d %v: %s", release, args, stderr)
					}
					return oracle.ReadFile(t, at("out"))
				}
				if got := run("--text", at("ours")); !mode.opt.MD5 && !bytes.Equal(got, want) {
					t.Errorf("LLVM %d, %s, %v: reads other samples", release, kind, mode.args)
				}
				theirs := run(append(mode.args, at("in"))...)
				if q := mustRead(t, theirs); len(q.odd) > 0 {
					t.Errorf("LLVM %d, %s, %v: %v", release, kind, mode.args, q.odd)
				}
				if release < 17 && mode.opt.Format == "" {
					// The summary has the first of several checksums of a function in map order.
					if kind.ContextSensitive && kind.ProbeBased {
						continue
					}
					theirs = bytes.Clone(theirs)
					asWritten(ours, theirs)
				}
				if !bytes.Equal(ours, theirs) {
					t.Errorf("LLVM %d, %s, %v: %d bytes, not %d as LLVM's", release, kind, mode.args, len(ours), len(theirs))
				}
			}
		}
	}
}

// asWritten changes a file of LLVM 16 and before to what LLVM 22 writes, if only metadata and a flag differ.
func asWritten(ours, theirs []byte) {
	const names, header = 1, 9 + 1 + 8
	if len(ours) != len(theirs) {
		return
	}
	if flags := header + names*sectionEntry + 8; le.Uint64(ours[flags:])&flagMD5 != 0 {
		le.PutUint64(theirs[flags:], le.Uint64(theirs[flags:])&^flagUnique)
	}
	sections, _ := Sections("", ours)
	for _, s := range sections {
		a, b := ours[s.Offset:s.Offset+s.Size], theirs[s.Offset:s.Offset+s.Size]
		if sectionType(s.Type) == metadataSection && bytes.Equal(sorted(a), sorted(b)) {
			copy(b, a)
		}
	}
}

func sorted(b []byte) []byte {
	b = slices.Clone(b)
	slices.Sort(b)
	return b
}

// TestCompilers: compilers generate the same code from our files in every encoding as from llvm-profgen's.
func TestCompilers(t *testing.T) {
	folder := filepath.Join(oracle.Root(t), "testdata", "sampleprof")
	dir := t.TempDir()
	tested := 0
	for _, release := range []int{14, 16, 19, 22} {
		clang := oracle.Tool(t, fmt.Sprintf("clang-%d", release))
		compile := func(profile string) []byte {
			args := []string{"-O2", "-gmlt", "-S", "-x", "c++", "-o", "-", filepath.Join(folder, "src", "work.cpp")}
			if profile != "" {
				args = append(args, "-fprofile-sample-use="+profile)
			}
			stdout, stderr, code := oracle.RunIn(t, dir, clang, args...)
			if code != 0 {
				t.Fatalf("clang %d: %s", release, stderr)
			}
			return []byte(stdout)
		}
		original := filepath.Join(folder, "lines.afdo")
		want := compile(original)
		if bytes.Equal(want, compile("")) {
			t.Errorf("clang %d does not use the profile", release)
		}
		for _, c := range []struct {
			from    string
			options []WriteOptions
		}{
			{"lines.afdo", []WriteOptions{
				{},
				{Compress: true},
				{MD5: true},
				{Format: FormatBinary},
				{Format: FormatText},
				{Split: true},
				{Compress: true, MD5: true, Split: true},
				{Lossless: true},
			}},
			{"lines-md5.afdo", []WriteOptions{{Lossless: true}, {MD5: true}}},
		} {
			data := oracle.ReadFile(t, filepath.Join(folder, c.from))
			r := finished(t, [][]byte{data}, 1)
			for _, opt := range c.options {
				name := filepath.Join(dir, "profile")
				oracle.WriteFile(t, name, mustWrite(t, r, opt))
				tested++
				if got := compile(name); !bytes.Equal(got, want) {
					t.Errorf("clang %d, %s, %+v: other code", release, c.from, opt)
				}
			}
		}
	}
	t.Logf("%d profiles compiled with", tested)
}
