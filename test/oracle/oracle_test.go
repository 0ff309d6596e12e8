package oracle

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// A probe is a testing.TB that remembers how the helper under test ended.
type probe struct {
	testing.TB
	skipped, failed string
}

func (p *probe) Helper() {}

func (p *probe) Skip(args ...any) { p.Skipf("%s", fmt.Sprint(args...)) }
func (p *probe) Skipf(format string, args ...any) {
	p.skipped = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func (p *probe) Fatal(args ...any) { p.Fatalf("%s", fmt.Sprint(args...)) }
func (p *probe) Fatalf(format string, args ...any) {
	p.failed = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// ends runs f as a test of its own would and returns how it ended.
func ends(t *testing.T, f func(testing.TB)) *probe {
	t.Helper()
	p := &probe{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		f(p)
	}()
	<-done
	return p
}

func TestMissingToolSkipsOrFails(t *testing.T) {
	for _, find := range []struct {
		name string
		run  func(testing.TB)
		want string
	}{
		{"LLVM", func(t testing.TB) { LLVM(t, 99) }, "oracle missing: llvm-profdata-99 is not installed"},
		{"Tool", func(t testing.TB) { Tool(t, "no-such-tool", "nor-this") }, "oracle missing: no-such-tool or nor-this is not installed"},
	} {
		t.Run(find.name, func(t *testing.T) {
			t.Setenv("PATH", t.TempDir())
			t.Setenv(RequireEnv, "")
			if got := ends(t, find.run); got.skipped != find.want || got.failed != "" {
				t.Errorf("not required: skipped %q, failed %q; want skip %q", got.skipped, got.failed, find.want)
			}
			t.Setenv(RequireEnv, "1")
			want := find.want + ", and PROFUSE_REQUIRE_ORACLE=1"
			if got := ends(t, find.run); got.failed != want || got.skipped != "" {
				t.Errorf("required: skipped %q, failed %q; want failure %q", got.skipped, got.failed, want)
			}
		})
	}
}

func TestLLVMTakesPlainNameOfTheRightRelease(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell script as a program")
	}
	dir := t.TempDir()
	fake := filepath.Join(dir, "llvm-profdata")
	script := "#!/bin/sh\necho 'LLVM (http://llvm.org/):'\necho '  Debian LLVM version 98.1.8'\n"
	NoError(t, os.WriteFile(fake, []byte(script), 0o755))
	t.Setenv("PATH", dir)
	t.Setenv(RequireEnv, "")
	var got string
	ends(t, func(t testing.TB) { got = LLVM(t, 98) })
	if got != fake {
		t.Errorf("LLVM 98 is %q, want %q", got, fake)
	}
	if p := ends(t, func(t testing.TB) { LLVM(t, 99) }); !strings.HasPrefix(p.skipped, Missing) {
		t.Errorf("a plain llvm-profdata 98 was taken for 99")
	}
}

func TestRun(t *testing.T) {
	sh := Tool(t, "sh")
	stdout, stderr, code := Run(t, sh, "-c", "echo out; echo diag >&2; exit 3")
	if stdout != "out\n" || stderr != "diag\n" || code != 3 {
		t.Errorf("Run = %q, %q, %d; want out, diag, 3", stdout, stderr, code)
	}
	if _, _, code := Run(t, sh, "-c", "kill -9 $$"); code != -1 {
		t.Errorf("code of a killed program is %d, want -1", code)
	}
	if p := ends(t, func(t testing.TB) { Run(t, filepath.Join(Root(t), "go.mod")) }); p.failed == "" {
		t.Error("a program that cannot be started did not fail the test")
	}
}
