package cc

import (
	"errors"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/formats/mip"
	"github.com/profuse-pgo/profuse/internal/mip/asm"
	"github.com/profuse-pgo/profuse/internal/mip/instrument"
	"github.com/profuse-pgo/profuse/test/oracle"
)

func TestParseFlags(t *testing.T) {
	const g = "-fmachine-profile-generate "
	counts := mip.FunctionTimestamp | mip.FunctionCallCount
	for _, c := range []struct {
		args, rest string
		profile    mip.ProfileType // 0: not to be instrumented
		fails      string
	}{
		{args: "-O2 -c x.c", rest: "-O2 -c x.c"},
		{args: "-fmachine-profile-function-coverage x.c", rest: "x.c"},
		{args: g + "-fno-machine-profile-generate x.c", rest: "x.c"},
		{args: g + "x.c", rest: "x.c", profile: counts},
		{args: "-O2 " + g + "-c", rest: "-O2 -c", profile: counts},
		{args: g + "-fmachine-profile-function-coverage", profile: mip.FunctionCoverage},
		{args: g + "-fmachine-profile-function-coverage -fno-machine-profile-function-coverage", profile: counts},
		{args: g + "-fmachine-profile-block-coverage", profile: counts | mip.BlockCoverage},
		{args: g + "-fmachine-profile-block-coverage -fmachine-profile-function-coverage", profile: mip.FunctionCoverage | mip.BlockCoverage},
		{args: g + "-fmachine-profile-call-graph", profile: counts},
		{args: g + "-mllvm -machine-profile-special-case-list=x -mllvm -other", rest: "-mllvm -other", profile: counts},
		{args: g + "-fmachine-profile-link-unit-name=a/b=c", profile: counts},
		{args: g + "-fmachine-profile-function-group-count=4 -fmachine-profile-selected-function-group=3", profile: counts},
		{args: g + "-fmachine-profile-runtime-buffer=0", profile: counts},
		// The value of another option is no flag.
		{args: g + "-o -fmachine-profile-generate", rest: "-o -fmachine-profile-generate", profile: counts},

		{args: g + "-fmachine-profile-call-graph -fmachine-profile-function-coverage", fails: "exclude each other"},
		{args: g + "-fno-machine-profile-call-graph", fails: "nothing to record"},
		{args: g + "-fmachine-profile-function-group-count=4 -fmachine-profile-selected-function-group=4", fails: "not below"},
		{args: g + "-fmachine-profile-selected-function-group=1", fails: "not below"},
		{args: g + "-fmachine-profile-function-group-count=0", fails: "at least 1"},
		{args: g + "-fmachine-profile-min-instruction-count=0", fails: "at least 1"},
		{args: g + "-fmachine-profile-min-instruction-count=x", fails: "at least 1"},
		{args: g + "-fmachine-profile-runtime-buffer=64", profile: counts | mip.ReturnAddress},
		{args: g + "-fmachine-profile-runtime-buffer=11", fails: "12 bytes"},
		{args: g + "-fmachine-profile-runtime-buffer=64 -fmachine-profile-function-coverage", fails: "call edges"},
		{args: g + "-fmachine-profile-threads x.c", rest: "x.c", profile: counts},
		{args: g + "-fmachine-profile-threads -fno-machine-profile-threads x.c", rest: "x.c", profile: counts},
		{args: g + "-fmachine-profile-signals x.c", rest: "x.c", profile: counts},
		{args: "-fmachine-profile-use=x.mip,y.mip -c", rest: "-c"},
		{args: g + "-fmachine-profile-use=x.mip -fno-machine-profile-use", profile: counts},
		{args: g + "-fmachine-profile-use=x.mip", fails: "exclude each other"},
		{args: "-fmachine-profile-use=x.mip,", fails: "file name is missing"},
		{args: "-fmachine-profile-use", fails: "unknown flag"},
		{args: "-fmachine-profile-nonsense", fails: "unknown flag"},
		{args: "-fmachine-profile-nonsense=1", fails: "unknown flag"},
		{args: g + "-fmachine-profile-function-coverage -fmachine-profile-small-runtime=x", profile: mip.FunctionCoverage},
		{args: g + "-fmachine-profile-small-runtime=x", fails: "needs -fmachine-profile-function-coverage"},
		{args: g + "-fmachine-profile-function-coverage -fmachine-profile-signals -fmachine-profile-small-runtime=x", fails: "excludes -fmachine-profile-signals"},
		{args: g + "-fmachine-profile-function-coverage -fmachine-profile-small-runtime=", fails: "file name is missing"},
		{args: "-fno-machine-profile-link-unit-name=x", fails: "unknown flag"},
	} {
		f, rest, err := parseFlags(strings.Fields(c.args))
		if c.fails != "" {
			if !errors.Is(err, errFlags) || !strings.Contains(err.Error(), c.fails) {
				t.Errorf("%s: error %v, want one with %q", c.args, err, c.fails)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.args, err)
			continue
		}
		if got := strings.Join(rest, " "); got != c.rest {
			t.Errorf("%s: left %q, want %q", c.args, got, c.rest)
		}
		if f.Generate != (c.profile != 0) || f.Generate && f.Profile() != c.profile {
			t.Errorf("%s: generate %v, profile %v; want %v", c.args, f.Generate, f.Profile(), c.profile)
		}
		again, rest, err := parseFlags(f.Given)
		if err != nil || len(rest) != 0 || !reflect.DeepEqual(again, f) {
			t.Errorf("%s: Given is %v, which is %+v, %v; want %+v", c.args, f.Given, again, err, f)
		}
	}
}

func TestOptionsOfFlags(t *testing.T) {
	dir := t.TempDir()
	list, bad := filepath.Join(dir, "list"), filepath.Join(dir, "bad")
	for file, text := range map[string]string{list: "fun:main\nfun:_Z*v\n", bad: "nonsense\n"} {
		oracle.WriteFile(t, file, []byte(text))
	}
	f, _, err := parseFlags([]string{
		"-fmachine-profile-generate", "-fmachine-profile-special-case-list=" + list, "-fmachine-profile-min-instruction-count=5",
		"-fmachine-profile-link-unit-name=unit", "-fmachine-profile-function-group-count=3", "-fmachine-profile-selected-function-group=2",
	})
	if err != nil {
		t.Fatal(err)
	}
	opt, err := f.Options(asm.Target{}, false)
	if err != nil {
		t.Fatal(err)
	}
	if opt.LinkUnit != "unit" || opt.MinInstructions != 5 || opt.GroupCount != 3 || opt.SelectedGroup != 2 {
		t.Errorf("options %+v", opt)
	}
	var skipped []string
	for _, name := range []string{"main", "_Z3foov", "_Z3fooi"} {
		if opt.Skip(name) {
			skipped = append(skipped, name)
		}
	}
	if !slices.Equal(skipped, []string{"main", "_Z3foov"}) {
		t.Errorf("skipped %v", skipped)
	}
	for _, c := range []struct {
		flag          tristate
		threads, want bool
	}{{unset, false, false}, {unset, true, true}, {switchedOn, false, true}, {switchedOff, true, false}} {
		f.Threads = c.flag
		if opt, err := f.Options(asm.Target{}, c.threads); err != nil || opt.Threads != c.want {
			t.Errorf("%+v: threads %v, %v", c, opt.Threads, err)
		}
	}
	f.SpecialCaseList = bad
	if _, err := f.Options(asm.Target{}, false); !errors.Is(err, instrument.ErrOptions) || !strings.Contains(err.Error(), "bad") {
		t.Errorf("bad list: %v", err)
	}
}

func TestParseCommandLine(t *testing.T) {
	for _, c := range []struct {
		args, command, flags, report, fails string
	}{
		{args: "-- clang -c x.c", command: "clang -c x.c"},
		{args: "clang -- x.c", command: "clang -- x.c"},
		{args: "--report r -fmachine-profile-generate -- gcc", command: "gcc", flags: "-fmachine-profile-generate", report: "r"},
		{args: "", fails: "no compiler"},
		{args: "--", fails: "no compiler"},
		{args: "--report", fails: "needs a value"},
		{args: "--what -- gcc", fails: "unknown option --what"},
	} {
		job, err := parseCommandLine(strings.Fields(c.args))
		if c.fails != "" {
			if !errors.Is(err, ErrUsage) || !strings.Contains(err.Error(), c.fails) {
				t.Errorf("%q: error %v, want one with %q", c.args, err, c.fails)
			}
			continue
		}
		if err != nil || strings.Join(job.compiler, " ") != c.command || strings.Join(job.flags, " ") != c.flags || job.report != c.report {
			t.Errorf("%q: %+v, %v", c.args, job, err)
		}
	}
}
