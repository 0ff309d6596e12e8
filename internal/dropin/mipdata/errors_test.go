package mipdata

import (
	"bytes"
	"debug/elf"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/profuse-pgo/profuse/formats/mip"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/symbolize"
	"github.com/profuse-pgo/profuse/test/fulldisk"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// large writes a profile of more than output is buffered for.
func large(t *testing.T) string {
	t.Helper()
	p := &mip.Profile{Type: mip.FunctionCoverage, ModuleHash: 1}
	for i := range 200 {
		p.Functions = append(p.Functions, mip.Function{Name: strings.Repeat("f", 100), RawOffset: uint64(32 + i), MergeCount: 1})
	}
	name := filepath.Join(t.TempDir(), "large.mip")
	writeMIP(t, name, p)
	return name
}

// TestOutputFails: a command whose output cannot be written says so and fails.
func TestOutputFails(t *testing.T) {
	small, large := fixture(t, "all.mip"), large(t)
	text := filepath.Join(t.TempDir(), "large.yaml")
	run(t, "mip2yaml", "-p", large, "-o", text)
	for _, tc := range []struct {
		args string
		err  error
		want string
	}{
		{"info -p " + small, syscall.ENOSPC, "error: IO failure on output stream: No space left on device\n"},
		{"show -p " + large, errors.New("gone"), "error: IO failure on output stream: gone\n"},
		{"mip2yaml -p " + large, syscall.ENOSPC, "error: no space left on device\nerror: Invalid argument\n"},
		{"create -p - " + fixture(t, "all.mipmap"), syscall.ENOSPC, "error: IO failure on output stream: No space left on device\n"},
		{"yaml2mip -p - " + text, syscall.ENOSPC, "error: IO failure on output stream: No space left on device\n"},
		{"yaml2mip -p - " + text, errors.New("gone"), "error: gone\nerror: Invalid argument\n"},
	} {
		var stderr bytes.Buffer
		code := Main(strings.Fields(tc.args), Env{Stdout: &fulldisk.Writer{Err: tc.err}, Stderr: &stderr})
		if code != 1 || stderr.String() != tc.want {
			t.Errorf("%s: exit code %d, said\n%swant\n%s", tc.args, code, &stderr, tc.want)
		}
	}
}

// TestSharedRecord: merge warns about functions that share a raw record before it merges.
func TestSharedRecord(t *testing.T) {
	for names, want := range map[string]string{
		"fg":  "g shares its raw record with another function; both are counted when one is called",
		"fgh": "2 functions, g the first, share their raw records with others; all are counted when one is called",
	} {
		p := &mip.Profile{Type: mip.FunctionCoverage, ModuleHash: 1}
		for _, n := range names {
			p.Functions = append(p.Functions, mip.Function{Name: string(n), RawOffset: 32, MergeCount: 1})
		}
		name := filepath.Join(t.TempDir(), "p")
		writeMIP(t, name, p)
		_, stderr := run(t, "merge", "-p", name, t.TempDir())
		if !strings.HasPrefix(stderr, "warning: "+name+": "+want+"\n") {
			t.Errorf("%s: said %s", names, stderr)
		}
	}
}

// TestDebugFails: what is wrong with the file given by --debug.
func TestDebugFails(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	if err := os.Mkdir(in("empty.dSYM"), 0o777); err != nil {
		t.Fatal(err)
	}
	oracle.WriteFile(t, in("short"), []byte("\x7fE"))
	for name, want := range map[string]string{
		"empty.dSYM": "error: No such file or directory\n",
		"short":      "error: The file was not recognized as a valid object file\n",
	} {
		var stderr bytes.Buffer
		code := Main([]string{"show", "-p", fixture(t, "all.mip"), "--debug", in(name)}, Env{Stdout: new(bytes.Buffer), Stderr: &stderr})
		if code != 1 || stderr.String() != want {
			t.Errorf("%s: exit code %d, said %s", name, code, &stderr)
		}
	}
}

// TestDamagedDebugInfo: what the debug information of a program does not give
// is left out, and why is said.
func TestDamagedDebugInfo(t *testing.T) {
	data := oracle.ReadFile(t, debugProgram)
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	line := f.Section(".debug_line")
	clear(data[line.Offset : line.Offset+line.Size])
	dir := t.TempDir()
	program, profile := filepath.Join(dir, "program"), filepath.Join(dir, "p")
	oracle.WriteFile(t, program, data)
	run(t, "create", "-p", profile, debugProgram)
	stdout, stderr := run(t, "show", "-p", profile, "--debug", program)
	want := "warning: " + program + ": .debug_line at 0x0: "
	if !strings.HasPrefix(stdout, "_ZN6shapes4areaEi\n") || !strings.HasPrefix(stderr, want) {
		t.Errorf("printed\n%ssaid\n%s", stdout, stderr)
	}
}

func TestUnknownPlaces(t *testing.T) {
	if fileOf(symbolize.Frame{}) != "<invalid>" || functionOf(symbolize.Frame{}) != "<invalid>" {
		t.Error("a frame without file and function has a name for them")
	}
	for number, want := range map[string]string{
		"7": "i386", "0x01000007": "x86_64", "12": "armv7", "0x0100000c": "arm64", "18": "18", "x86_64": "x86_64",
	} {
		if got := archName(number); got != want {
			t.Errorf("architecture %s is %s, want %s", number, got, want)
		}
	}
}

// TestRefuseObject: the last line says which kind of failure it was.
func TestRefuseObject(t *testing.T) {
	for _, tc := range []struct{ err, want error }{
		{syscall.EIO, syscall.EIO},
		{profile.ErrUnrecognized, errNoObject},
		{profile.ErrTruncated, errBadObject},
		{profile.ErrUnsupported, errInvalid},
	} {
		var stderr bytes.Buffer
		x := &tool{Env: Env{Stderr: &stderr}}
		x.msg.W = &stderr
		if got := x.refuseObject("x", tc.err); got != tc.want {
			t.Errorf("%v: %v, want %v", tc.err, got, tc.want)
		}
	}
	if got := reason(errors.New("why")); got != "why" {
		t.Errorf("the reason is %q", got)
	}
}
