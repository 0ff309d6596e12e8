package profdata

import (
	"runtime"
	"strings"
	"testing"
)

// The tests of this file hold lines of docs/differences.md that other tests do not come by.

// TestSystemErrors: what the system says of files reaches the user.
func TestSystemErrors(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /dev/full and /proc")
	}
	t.Chdir(t.TempDir())
	writeFiles(t, ".", textFiles)
	for args, want := range map[string]string{
		"merge -text -o /dev/full a":        "error: IO failure on output stream: No space left on device\n",
		"merge -text -o out /proc/self/mem": "warning: /proc/self/mem: Input/output error\nerror: no profile can be merged\n",
	} {
		if got := runMain(t, "", strings.Fields(args)); got.code != 1 || got.stderr != want {
			t.Errorf("%s: exit code %d, stderr %q, want %q", args, got.code, got.stderr, want)
		}
	}
}

// TestRandomHotnessOfSum: hotness is drawn once, of the sum, so that it does not
// depend on the number of threads; LLVM draws at every join.
func TestRandomHotnessOfSum(t *testing.T) {
	writeFiles(t, ".", heapFiles(t))
	const args = "merge -o out -memprof-random-hotness -memprof-random-hotness-seed=5 d.yaml p.yaml p.yaml -j "
	want := runMain(t, "", strings.Fields(args+"1"))
	for _, j := range []string{"2", "3", "7"} {
		if got := runMain(t, "", strings.Fields(args+j)); got.code != 0 || got.file == "" || got.file != want.file {
			t.Errorf("with %s threads the file is another one than with one: %+v", j, got)
		}
	}
}

// TestOrderOfMessages: what is said, and the file, are the same every time that
// the same number of threads does the work. With LLVM they are not.
func TestOrderOfMessages(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFiles(t, ".", textFiles)
	const args = "merge -o out -failure-mode=warn junk other short late a other b -j "
	for _, j := range []string{"2", "3", "7"} {
		want := runMain(t, "", strings.Fields(args+j))
		for range 20 {
			if got := runMain(t, "", strings.Fields(args+j)); got != want {
				t.Fatalf("with %s threads stderr is %q, and another time %q", j, got.stderr, want.stderr)
			}
		}
	}
}

// TestCOFF: programs of Windows are refused by what they are.
func TestCOFF(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFiles(t, ".", map[string]string{"app.exe": "MZ" + strings.Repeat("\x00", 200), "a": textFiles["a"]})
	got := runMain(t, "", strings.Fields("merge --binary-file=app.exe a -o out"))
	if got.code != 1 || !strings.Contains(got.stderr, "app.exe") {
		t.Errorf("%+v", got)
	}
}
