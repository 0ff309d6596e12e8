package irpgo_test

import (
	"bytes"
	"cmp"
	"debug/elf"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/internal/llvm/llvmerr"
	"github.com/profuse-pgo/profuse/profile"
)

// TestCorrelateDamagedProgram: a program that lacks something, or describes counters that are not its own, is
// refused or read without them, with words that say which.
func TestCorrelateDamagedProgram(t *testing.T) {
	rename := func(from, to string) func(*testing.T, []byte) []byte {
		return func(t *testing.T, b []byte) []byte {
			if !bytes.Contains(b, []byte(from)) {
				t.Fatalf("no %q in the program", from)
			}
			return bytes.ReplaceAll(b, []byte(from), []byte(to))
		}
	}
	section := func(t *testing.T, b []byte, name string) *elf.Section {
		t.Helper()
		f, err := elf.NewFile(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		s := f.Section(name)
		if s == nil {
			t.Fatalf("no section %s", name)
		}
		return s
	}
	// astray lets n records refer to counters behind the last.
	const recordSize, counterPtr = 64, 16
	astray := func(n int) func(t *testing.T, b []byte) []byte {
		return func(t *testing.T, b []byte) []byte {
			counters, data := section(t, b, "__llvm_prf_cnts"), section(t, b, "__llvm_covdata")
			if n < 0 {
				n = int(data.Size) / recordSize
			}
			for i := range n {
				binary.LittleEndian.PutUint64(b[int(data.Offset)+i*recordSize+counterPtr:], counters.Addr+counters.Size)
			}
			return b
		}
	}
	const (
		missing = ": correlation data is not there, want a program built for this kind of correlation, not stripped: mismatching profile"
		useless = "program: correlation data is none, want a program built for correlation: mismatching profile"
	)
	for _, c := range []struct {
		name, kind   string
		damage       func(t *testing.T, b []byte) []byte
		fails, words string // the error, and how LLVM puts it
		lost         int    // functions without error
		warning      string // the first
	}{
		{name: "sound", kind: "debug-info", damage: rename("CFG", "CFG")},
		{
			name: "no counters", kind: "binary", damage: rename("__llvm_prf_cnts", "__llvm_prf_cntX"),
			fails: "program: __llvm_prf_cnts" + missing, words: "could not find section (__llvm_prf_cnts)",
		},
		{
			name: "no counters, with debug information", kind: "debug-info", damage: rename("__llvm_prf_cnts", "__llvm_prf_cntX"),
			fails: "program: __llvm_prf_cnts" + missing, words: "could not find section (__llvm_prf_cnts)",
		},
		{
			name: "no names", kind: "binary", damage: rename("__llvm_covnames", "__llvm_covnameX"),
			fails: "program: __llvm_covnames" + missing, words: "could not find section (__llvm_covnames)",
		},
		{
			name: "names that are none", kind: "binary",
			damage: func(t *testing.T, b []byte) []byte {
				names := section(t, b, "__llvm_covnames")
				copy(b[names.Offset:], bytes.Repeat([]byte{0xff}, int(names.Size)))
				return b
			},
			fails: "program: __llvm_covnames at 0xe70: uncompressed size is a ULEB128 of more than 64 bits, want at most 64 bits: corrupt profile",
		},
		{
			name: "a record of no counters", kind: "binary", damage: astray(1), lost: 1,
			warning: "program: __llvm_covdata at 0x3f0 (record 0): address of the counters is 0xd470, want from 0xd300 to before 0xd470: mismatching profile",
		},
		{
			name: "records of no counters", kind: "binary", damage: astray(-1),
			fails: useless, words: "could not find any profile data metadata in correlated file",
			warning: "program: __llvm_covdata at 0x3f0 (record 0): address of the counters is 0xd470, want from 0xd300 to before 0xd470: mismatching profile",
		},
		{
			name: "no hashes", kind: "debug-info", damage: rename("CFG Hash\x00", "CFG hash\x00"),
			fails: useless, words: "could not find any profile data metadata in correlated file",
			warning: "main: program: .debug_info at 0xcc: description of the counters is incomplete, want name, hash, address and number: mismatching profile",
		},
	} {
		program, _ := correlateFixture(t, c.kind)
		whole, err := correlate(c.kind, bytes.Clone(program), nil)
		if err != nil {
			t.Fatal(err)
		}
		warning := ""
		got, err := correlate(c.kind, c.damage(t, bytes.Clone(program)), func(w profile.Warning) { warning = cmp.Or(warning, w.String()) })
		if warning != c.warning {
			t.Errorf("%s:\n warns %s\n  want %s", c.name, warning, c.warning)
		}
		switch {
		case c.fails != "":
			if err == nil || err.Error() != c.fails || !strings.HasSuffix(llvmerr.Message(err), c.words) {
				t.Errorf("%s:\n got %v\nwant %s, with LLVM's words %s", c.name, err, c.fails, c.words)
			}
		case err != nil || len(got.Functions) != len(whole.Functions)-c.lost:
			t.Errorf("%s: %v, want all functions but %d", c.name, err, c.lost)
		}
	}
}
