package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/cli"
	"github.com/profuse-pgo/profuse/internal/oracle"
)

// TestReportSchema: reports of merges of all fixtures, most of them broken on
// purpose or of other versions, meet docs/report.schema.json, and so do the
// reasons in a quarantine. They are the same for any number of workers.
func TestReportSchema(t *testing.T) {
	root := oracle.Root(t)
	f, err := os.Open(filepath.Join(root, "docs", "report.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	doc, err := jsonschema.UnmarshalJSON(f)
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("mem:report", doc); err != nil {
		t.Fatal(err)
	}
	validate := func(path, fragment string) []byte {
		s, err := c.Compile("mem:report" + fragment)
		if err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if err := s.Validate(value); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		return data
	}
	dir := t.TempDir()
	merge := func(want int, report string, args ...string) []byte {
		t.Helper()
		var stderr bytes.Buffer
		env := &cli.Env{Stdin: strings.NewReader(""), Stdout: new(bytes.Buffer), Stderr: &stderr, Getenv: func(string) string { return "" }}
		path := filepath.Join(dir, report)
		if code := run(t.Context(), env, append([]string{"profuse", "merge", "--report", path}, args...)); code != want {
			t.Fatalf("%v: exit code %d, want %d: %s", args, code, want, &stderr)
		}
		return validate(path, "")
	}
	out := filepath.Join(dir, "out.profdata")
	all := filepath.Join(root, "testdata", "irpgo")
	quarantine := filepath.Join(dir, "quarantine")
	one := merge(0, "one.json", "-j", "1", "--failure-mode", "all", "-o", out, all)
	for _, workers := range []string{"2", "7"} {
		if many := merge(0, "many.json", "-j", workers, "--failure-mode", "all", "-o", out, all); !bytes.Equal(many, one) {
			t.Errorf("%s workers: another report", workers)
		}
	}
	merge(exitOverBudget, "over.json", "--quarantine", quarantine, "-o", out, all)
	merge(0, "mip.json", "-o", filepath.Join(dir, "out.mip"), filepath.Join(root, "testdata", "mip", "all.mip"), filepath.Join(root, "testdata", "mip", "all-1.mipraw"))
	merge(0, "each.json", "--per-binary", "--failure-mode", "all", "-o", filepath.Join(dir, "each"), filepath.Join(all, "clang22"))

	reasons := 0
	err = filepath.WalkDir(quarantine, func(path string, _ os.DirEntry, err error) error {
		if strings.HasSuffix(path, reasonSuffix) {
			reasons++
			validate(path, "#/$defs/input")
			if _, err := os.Stat(strings.TrimSuffix(path, reasonSuffix)); err != nil {
				t.Error(err)
			}
		}
		return err
	})
	if left := strings.Count(string(one), `"outcome": "left out"`); err != nil || reasons != left || left == 0 {
		t.Errorf("%d reasons in quarantine for %d files left out, %v", reasons, left, err)
	}
}

// TestReportOrder: accounts are written in the order of the inputs, however
// late the first ends.
func TestReportOrder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "report.json")
	f, err := openReportFile(path, "merge", "out")
	if err != nil {
		t.Fatal(err)
	}
	const inputs = maxWaiting + 1000 // so that some have to wait
	var group sync.WaitGroup
	next := make(chan int)
	for range 8 {
		group.Go(func() {
			for i := range next {
				f.add(i, 0, fmt.Appendf(nil, "%d", i))
				f.endInput(i, 1)
			}
		})
	}
	go func() {
		defer close(next)
		for i := 1; i < inputs; i++ {
			next <- i
		}
	}()
	group.Go(func() {
		for {
			f.mu.Lock()
			full := len(f.waiting) >= maxWaiting
			f.mu.Unlock()
			if full {
				break
			}
		}
		f.add(0, 0, []byte("0"))
		f.endInput(0, 1)
	})
	group.Wait()
	if err := f.commit(reportSummary{}); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(data), "\"inputs\": [")
	list, _, _ = strings.Cut(list, "]")
	for i, entry := range strings.Split(list, ",") {
		if strings.TrimSpace(entry) != fmt.Sprint(i) {
			t.Fatalf("entry %d is %q", i, strings.TrimSpace(entry))
		}
	}
}

// TestLimit: how much may be lost.
func TestLimit(t *testing.T) {
	for _, test := range []struct {
		text      string
		lost, all uint64
		want      bool
	}{
		{"0", 0, 10, true},
		{"0", 1, 10, false},
		{"3", 3, 3, true},
		{"3", 4, 400, false},
		{"1%", 1, 100, true},
		{"1%", 1, 99, false},
		{"0.1%", 1, 1000, true},
		{"0%", 0, 0, true},
		{"100%", 7, 7, true},
	} {
		var l limit
		if err := l.Set(test.text); err != nil {
			t.Fatal(err)
		}
		if got := l.allows(test.lost, test.all); got != test.want {
			t.Errorf("%s: %d of %d: %v", test.text, test.lost, test.all, got)
		}
	}
	for _, bad := range []string{"", "%", "-1", "-1%", "101%", "x", "NaN%"} {
		if err := new(limit).Set(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}
