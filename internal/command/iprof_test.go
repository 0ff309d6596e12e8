package command

import (
	"bytes"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/profuse-pgo/profuse/test/oracle"
)

// compileJava compiles sources with javac and packs the classes into a jar.
func compileJava(t *testing.T, jar string, sources ...string) {
	t.Helper()
	classes := t.TempDir()
	args := append([]string{"-encoding", "UTF-8", "-Xlint:-options", "--release", "8", "-g", "-d", classes}, sources...)
	if _, stderr, code := oracle.Run(t, oracle.Tool(t, "javac"), args...); code != 0 {
		t.Fatalf("javac: %s", stderr)
	}
	if _, stderr, code := oracle.Run(t, oracle.Tool(t, "jar"), "cf", jar, "-C", classes, "."); code != 0 {
		t.Fatalf("jar: %s", stderr)
	}
}

// trueCounts returns what the comments of the sources say how often each line runs, by "File.java LINE".
func trueCounts(t *testing.T, sources []string) map[string]uint64 {
	t.Helper()
	comment := regexp.MustCompile(`// (\d+)\s*$`)
	counts := make(map[string]uint64)
	for _, source := range sources {
		for i, line := range strings.Split(string(oracle.ReadFile(t, source)), "\n") {
			if m := comment.FindStringSubmatch(line); m != nil {
				n, err := strconv.ParseUint(m[1], 10, 64)
				if err != nil {
					t.Fatal(err)
				}
				counts[fmt.Sprint(filepath.Base(source), " ", i+1)] = n
			}
		}
	}
	return counts
}

func appSources(t *testing.T) (sources []string) {
	t.Helper()
	sources, err := filepath.Glob(filepath.Join(oracle.Root(t), "testdata", "iprof", "app", "src", "app", "*.java"))
	if err != nil || len(sources) != 2 {
		t.Fatalf("sources %q, %v", sources, err)
	}
	return sources
}

// TestCoverageOfCompiledClasses compiles the program of app.iprof, and compares
// the lines of the tracefile with how often they ran in truth.
func TestCoverageOfCompiledClasses(t *testing.T) {
	t.Parallel()
	sources := appSources(t)
	dir := t.TempDir()
	jar := filepath.Join(dir, "app.jar")
	compileJava(t, jar, sources...)
	profile := filepath.Join(oracle.Root(t), "testdata", "iprof", "app.iprof")
	info := filepath.Join(dir, "app.info")
	profuse(t, "export", "-q", "--to", "lcov", "--classes", jar, "--source", filepath.Dir(filepath.Dir(sources[0])), "-o", info, profile)
	text := oracle.ReadFile(t, info)
	got, want := parseLCOV(t, string(text), filepath.Base), trueCounts(t, sources)
	if len(got.lines) < 15 {
		t.Errorf("only %d lines", len(got.lines))
	}
	for line, n := range got.lines {
		if truth, ok := want[line]; !ok || n > truth || n == 0 && truth > 0 {
			t.Errorf("%s: %d, in truth %s", line, n, known(truth, ok))
		}
	}
	calls := map[string]uint64{
		"Main.java app.Main.main([Ljava/lang/String;)V": 1, "Main.java app.Main.report(I)V": 1, "Main.java app.Main.fail()V": 0,
		"Zoo.java app.Zoo.<init>()V": 1, "Zoo.java app.Zoo.feed(I)I": 100, "Zoo.java app.Zoo$Cat.<init>()V": 75,
		"Zoo.java app.Zoo$Cat.eat(I)I": 72, "Zoo.java app.Zoo$Dog.<init>()V": 25, "Zoo.java app.Zoo$Dog.eat(I)I": 24,
	}
	if diff := cmp.Diff(calls, got.calls); diff != "" {
		t.Error(diff)
	}

	// What is shipped as compiled gives the same.
	shipped := profuse(t, "export", "-q", "--to", "lcov", "--classes", filepath.Join(oracle.Root(t), "testdata", "iprof", "app", "classes"),
		"--source", filepath.Dir(filepath.Dir(sources[0])), profile)
	if diff := cmp.Diff(string(text), shipped); diff != "" {
		t.Error(diff)
	}
	genhtml := oracle.Tool(t, "genhtml")
	if stdout, stderr, code := oracle.Run(t, genhtml, "--branch-coverage", "-o", filepath.Join(dir, "html"), info); code != 0 ||
		!strings.Contains(stdout, "(17 of 18 lines)") || !strings.Contains(stdout, "(8 of 9 functions)") || !strings.Contains(stdout, "(7 of 8 branches)") {
		t.Errorf("genhtml: %d\n%s%s", code, stdout, stderr)
	}
}

// TestCheckByCompiledClasses changes the program: a method has another type, a class and a method are gone.
func TestCheckByCompiledClasses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var sources []string
	for _, source := range appSources(t) {
		text := oracle.ReadFile(t, source)
		for old, changed := range map[string]string{
			"int feed(int i) {": "int feed(long j) { int i = (int) j;", "class Dog": "class Hound", "new Dog": "new Hound", "fail()": "failure()",
			"report(": "tell(",
		} {
			text = bytes.ReplaceAll(text, []byte(old), []byte(changed))
		}
		sources = append(sources, filepath.Join(dir, filepath.Base(source)))
		oracle.WriteFile(t, sources[len(sources)-1], text)
	}
	jar := filepath.Join(dir, "app.jar")
	compileJava(t, jar, sources...)
	got := profuse(t, "check", "--classes", jar, filepath.Join(oracle.Root(t), "testdata", "iprof", "app.iprof"))
	_, got, _ = strings.Cut(got, "\n")
	want := `
   Exist    Gone  Not judged  Counts, by 5 classes
  ──────────────────────────────────────────────────
   0.5 %  74.1 %      25.4 %  calls
  33.4 %  66.6 %         0 %  branches
     0 %   100 %         0 %  receivers
     0 %   100 %         0 %  samples

  Calls  Samples  Methods gone
  ────────────────────────────────────────────────────────
    100        2  app.Zoo.feed(I)I: now with other types
     25        0  app.Zoo$Dog.<init>()V: no such class
     24        0  app.Zoo$Dog.eat(I)I: no such class
      1        0  app.Main.report(I)V: no such method
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestIprofSamples takes recordings of real programs through the commands.
func TestIprofSamples(t *testing.T) {
	t.Parallel()
	samples := filepath.Join(oracle.Samples(t), "iprof")
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"tiny", "streamtdi-0.4.0", "binary-tree-0.2.0"} {
		if name != "tiny" && !oracle.Everything() { // megabytes
			break
		}
		sample := filepath.Join(samples, name+".iprof")
		if out := profuse(t, "check", sample); !strings.Contains(out, ": ok: iprof profile version ") || strings.Contains(out, "warning") {
			t.Errorf("check: %s", out)
		}
		profuse(t, "iprof", "prune", "-q", "--keep-unused", "-o", file("same.iprof"), sample)
		if name != "binary-tree-0.2.0" { // cannot be written in its version
			wantSame(t, file("same.iprof"), sample)
		} else if out := profuse(t, "check", file("same.iprof")); !strings.Contains(out, "version 1.0.0, records: 21941") {
			t.Errorf("%s rewritten: %s", name, out)
		}
		profuse(t, "merge", "-q", "-o", file("twice.iprof"), sample, sample)
		profuse(t, "merge", "-q", "-o", file("double.iprof"), "--weighted-input", "2,"+sample)
		wantSame(t, file("twice.iprof"), file("double.iprof"))
		if out := profuse(t, "show", sample); !strings.Contains(out, "Hottest methods") {
			t.Errorf("show: %s", out)
		}
		if out := profuse(t, "compare", "--table", "calls", sample, file("twice.iprof")); !strings.Contains(out, "100.00 % of the weight") ||
			!strings.Contains(out, "2.00 times") {
			t.Errorf("compare: %s", out)
		}
		if out := profuse(t, "export", "--to", "folded", "--table", "calls", sample); strings.Count(out, "\n") < 40 {
			t.Errorf("export: %s", out)
		}
	}

	stdout, stderr, code := runProfuse(t.Context(), "check", filepath.Join(samples, "elidemin-jspy-1.0.0-unresolved.iprof"))
	const sentence = "the recording was not resolved: instead of names there is a placeholder, so nothing says which methods its 12285 entries " +
		"are about; it cannot be used, and has to be recorded again\n"
	if code != 1 || !strings.Contains(stdout, sentence) {
		t.Errorf("exit code %d: %s%s", code, stdout, stderr)
	}

	// The generator makes pairs of which one has other ids, another order and its counts times three.
	generate := filepath.Join(samples, "generate.py")
	python := oracle.Tool(t, "python3")
	for _, more := range [][]string{nil, {"--version", "1.1.0"}} {
		a := append([]string{generate, "--preset", "tiny", "-o", file("a.iprof")}, more...)
		b := append([]string{generate, "--preset", "tiny", "--shuffle", "7", "--weight", "3", "-o", file("b.iprof")}, more...)
		for _, args := range [][]string{a, b} {
			if _, stderr, code := oracle.Run(t, python, args...); code != 0 {
				t.Fatalf("%q: %s", args, stderr)
			}
		}
		profuse(t, "merge", "-q", "-o", file("sum.iprof"), file("a.iprof"), file("b.iprof"))
		profuse(t, "merge", "-q", "-o", file("four.iprof"), "--weighted-input", "4,"+file("a.iprof"))
		wantSame(t, file("sum.iprof"), file("four.iprof"))
	}
}
