package profdata

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/formats/irpgo"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// TestRelease23: as LLVM 23, merge writes version 14 and reads version 104 of samples; the rest is as before.
func TestRelease23(t *testing.T) {
	fixtures := oracle.Fixtures(t)
	samples := oracle.ReadFile(t, filepath.Join(oracle.Root(t), "testdata", "sampleprof", "lines.afdo"))
	t.Chdir(t.TempDir())
	run := func(release int, args ...string) outcome {
		t.Helper()
		var stdout, stderr bytes.Buffer
		code := Main(args, Env{Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr, Prog: "llvm-profdata", Release: release})
		return outcome{code, stdout.String(), stderr.String(), ""}
	}
	tested := 0
	for _, f := range fixtures {
		if tested == 8 || !strings.HasPrefix(f.Path, "clang22/") || !strings.HasSuffix(f.Path, ".profraw") || !f.Readable(22) {
			continue
		}
		tested++
		for _, tc := range []struct {
			name    string
			release int
			version uint32
			options []string
		}{
			{"22", 22, 13, nil},
			{"23", 23, 14, nil},
			{"previous", 23, 11, []string{"--write-prev-version"}},
			{"text", 23, 0, []string{"--text"}},
			{"text22", 22, 0, []string{"--text"}},
		} {
			if got := run(tc.release, append([]string{"merge", f.File(), "-o", tc.name}, tc.options...)...); got.code != 0 {
				t.Errorf("%s: %+v", f.Path, got)
				continue
			}
			r, err := irpgo.NewReader(tc.name, oracle.ReadFile(t, tc.name), irpgo.ReaderOptions{})
			if err != nil || tc.version != 0 && r.Info.Version != tc.version {
				t.Errorf("%s, %s: %v, %+v", f.Path, tc.name, err, r)
			}
		}
		if !bytes.Equal(oracle.ReadFile(t, "text"), oracle.ReadFile(t, "text22")) {
			t.Errorf("%s: other text", f.Path)
		}
		// Version 14 holds what version 13 holds.
		show := func(release int, name string) string {
			return run(release, "show", "--all-functions", "--counts", "--ic-targets", "--memop-sizes", name).stdout
		}
		if a, b := show(22, "22"), show(23, "23"); a != b || a == "" {
			t.Errorf("%s: %s\nwant %s", f.Path, b, a)
		}
	}
	if tested < 5 {
		t.Errorf("%d fixtures tested", tested)
	}
	if got := run(23, "show", "--profile-version", "23"); !strings.Contains(got.stdout, "Profile version: 14") {
		t.Errorf("%+v", got)
	}
	samples[9] = 104
	oracle.WriteFile(t, "104", samples)
	if got := run(22, "show", "--sample", "104"); got.code != 1 || !strings.Contains(got.stderr, "Unsupported sample profile format version") {
		t.Errorf("release 22: %+v", got)
	}
	samples[9] = 103
	oracle.WriteFile(t, "103", samples)
	if got, want := run(23, "show", "--sample", "104"), run(22, "show", "--sample", "103"); got != want {
		t.Errorf("release 23: %+v", got)
	}
	for release, want := range map[int]string{0: "LLVM version 22.1.8", 22: "LLVM version 22.1.8", 23: "LLVM version 23.1.0"} {
		if got := run(release, "--version"); !strings.Contains(got.stdout, want) {
			t.Errorf("%d: %s", release, got.stdout)
		}
	}
}
