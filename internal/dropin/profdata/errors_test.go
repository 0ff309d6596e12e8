package profdata

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/profuse-pgo/profuse/formats/irpgo"
	"github.com/profuse-pgo/profuse/internal/llvm/llvmerr"
	"github.com/profuse-pgo/profuse/test/fulldisk"
)

// TestOutputFails: a command whose output cannot be written says so and fails.
func TestOutputFails(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFiles(t, ".", textFiles)
	writeFiles(t, ".", map[string]string{"long": strings.Repeat("a_function_with_quite_a_long_name\n1\n1\n1\n\n", 300)})
	for _, args := range []string{"merge a", "merge -text a", "show a", "show -all-functions long", "order traces", "overlap a a"} {
		var stderr bytes.Buffer
		code := Main(strings.Fields(args), Env{Stdout: &fulldisk.Writer{Err: syscall.ENOSPC}, Stderr: &stderr})
		if want := "error: IO failure on output stream: No space left on device\n"; code != 1 || stderr.String() != want {
			t.Errorf("%s: exit code %d, said %q", args, code, &stderr)
		}
	}
}

// TestTerminal: profiles that are not text are not for terminals; what LLVM shows on terminals alone is shown there.
func TestTerminal(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFiles(t, ".", textFiles)
	terminal := func(opt options) (*tool, *output, *bytes.Buffer) {
		var shown bytes.Buffer
		x := &tool{Env: Env{Stdout: &shown, Stderr: io.Discard}, opt: opt}
		x.msg.W = io.Discard
		return x, &output{w: &shown, tty: true, done: func() error { return nil }}, &shown
	}
	x, out, shown := terminal(options{})
	const refusal = "cannot write a non-text format profile to the terminal"
	if err := x.write(out, irpgo.NewMerger(irpgo.MergeOptions{}).Finish()); err == nil || err.Error() != refusal || shown.Len() != 0 {
		t.Errorf("merge: %v", err)
	}
	x, out, shown = terminal(options{overlapBase: "zero", overlapTest: "a"})
	if err := errors.Join(x.overlapTo(out), out.commit()); err != nil || shown.String() != "Sum of edge counts for profile zero is 0.\n" {
		t.Errorf("overlap: %v, shown %q", err, shown)
	}
}

// TestSaid pins what is said where LLVM says nothing, or what depends on the time.
func TestSaid(t *testing.T) {
	files := heapFiles(t)
	files["cut.idx"] = files["p.idx"][:len(files["p.idx"])-200]
	writeFiles(t, ".", files)
	for args, want := range map[string]string{
		"merge -o out --debuginfod --correlate=binary a": `^warning: profuse asks no debuginfod server; `,
		"merge -o out -memprof-random-hotness a":         `^random hotness seed = [1-9][0-9]+\n`,
		"show --memory cut.idx":                          `^error: cut.idx: `,
		// One thread of LLVM's ends the process while others work, and crashes.
		"merge -o out --profiled-binary=p.bin -j 2 cut.raw a": `^error: cut.raw: `,
		"order traces -o traces":                              `^error: traces: the output is the input\n$`,
	} {
		got := runMain(t, "", strings.Fields(args))
		if !regexp.MustCompile(want).MatchString(got.stderr) || (got.code != 0) != strings.Contains(got.stderr, "error: ") {
			t.Errorf("%s: exit code %d, said %q, want %s", args, got.code, got.stderr, want)
		}
	}
}

// TestManyBuildIDs: a profile of several programs is completed by none.
func TestManyBuildIDs(t *testing.T) {
	for n, want := range map[int]string{0: "there is no build ID", 2: "there are multiple build IDs"} {
		_, err := new(correlator).forProfile(make([][]byte, n))
		if code(err) != llvmerr.UnableToCorrelate || !strings.Contains(err.Error(), want) {
			t.Errorf("%d build ids: %v", n, err)
		}
	}
}

// TestHome: a "~" alone is the home folder, and every file in it an input.
func TestHome(t *testing.T) {
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{"in": textFiles["a"]})
	t.Chdir(t.TempDir())
	t.Setenv("HOME", dir)
	if got := runMain(t, "", strings.Fields("merge -dump-input-file-list -weighted-input=2,~")); got.stdout != "2,"+dir+"/in\n" {
		t.Errorf("%+v", got)
	}
	t.Setenv("HOME", "")
	if got := runMain(t, "", strings.Fields("merge -dump-input-file-list -weighted-input=2,~")); got.stderr != "error: ~: No such file or directory\n" {
		t.Errorf("without a home: %+v", got)
	}
}

func TestWords(t *testing.T) {
	plain := errors.New("why")
	if readingWords(plain) != "why" || details(plain) == "" {
		t.Errorf("%q, %q", readingWords(plain), details(plain))
	}
}
