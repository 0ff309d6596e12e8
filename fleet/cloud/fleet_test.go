package cloud

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/profuse-pgo/profuse/internal/files/store"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// TestFleetInBuckets merges profiles in buckets, in one process and by tasks that are
// killed, repeated and run twice at once: the bytes are those of a merge of files.
func TestFleetInBuckets(t *testing.T) {
	for name, fresh := range map[string]func(t *testing.T) (location string){
		"s3": func(t *testing.T) string {
			s := gateway(t)
			return s3URL(s3Fresh(t, s), s.address)
		},
		"gs":     func(t *testing.T) string { google(t); return "gs://" + gcsFresh(t) },
		"azblob": func(t *testing.T) string { azurite(t); return "azblob://" + azureFresh(t) },
	} {
		t.Run(name, func(t *testing.T) {
			bucket := fresh(t)
			at := func(name string) string { return store.Below(bucket, name) }
			s := open(t, bucket)
			dir := t.TempDir()
			from := filepath.Join(oracle.Root(t), "testdata", "irpgo", "clang22")
			for i := range 30 {
				data := readFile(t, filepath.Join(from, fmt.Sprintf("ir-run%d.profraw", 1+i%3)))
				if i%10 == 9 {
					data = readFile(t, filepath.Join(from, "dispatch.profraw"))
				}
				name := fmt.Sprintf("raw/%d/%02d.profraw", i%4, i)
				oracle.NoError(t, s.Put(t.Context(), name, bytes.NewReader(data)))
				file := filepath.Join(dir, filepath.FromSlash(name))
				oracle.NoError(t, os.MkdirAll(filepath.Dir(file), 0o777))
				oracle.WriteFile(t, file, data)
			}
			flat := filepath.Join(dir, "flat")
			fleet(t, "merge", "-q", "--per-binary", "-o", flat, filepath.Join(dir, "raw"))
			fleet(t, "merge", "-q", "--per-binary", "-o", at("merged"), at("raw"))
			wantFolder(t, s, "merged/", flat)

			fleet(t, "plan", at("job"), at("raw"), "--shard-objects", "7")
			runTasks(t, at("job"), 5)
			fleet(t, "reduce", "-q", at("job"), "-o", at("reduced/"))
			wantFolder(t, s, "reduced/", flat)
			if out := fleet(t, "status", at("job")); !strings.Contains(out, "5 of 5 shards done") {
				t.Error(out)
			}
			fleet(t, "gc", at("job"), "--age", "0s")
			fleet(t, "reduce", "-q", at("job"), "-o", filepath.Join(dir, "local")+"/")
			wantFolder(t, store.NewFolder(dir), "local/", flat)
		})
	}
}

func fleet(t *testing.T, args ...string) string {
	t.Helper()
	out, err := fleetCommand(t.Context(), t, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("profuse-fleet %q: %v\n%s", args, err, out)
	}
	return string(out)
}

func fleetCommand(ctx context.Context, t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	exe := oracle.Must(os.Executable())(t)
	cmd := exec.CommandContext(ctx, exe, args...)
	cmd.Args[0] = "profuse-fleet"
	cmd.Env = append(os.Environ(), asCommand+"=1")
	return cmd
}

// runTasks runs the tasks of a job, each several times, and kills some.
func runTasks(t *testing.T, job string, shards int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range 3 {
		var group sync.WaitGroup
		for _, index := range append(rng.Perm(shards), rng.Perm(shards)...) {
			life := time.Minute
			if round < 2 {
				life = time.Duration(rng.IntN(120)) * time.Millisecond
			}
			group.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), life)
				defer cancel()
				out, err := fleetCommand(ctx, t, "task", job, "--index", strconv.Itoa(index)).CombinedOutput()
				if ctx.Err() == nil && err != nil {
					t.Errorf("task %d: %v\n%s", index, err, out)
				}
			})
		}
		group.Wait()
	}
}

func wantFolder(t *testing.T, s store.Store, prefix, folder string) {
	t.Helper()
	n := 0
	for o, err := range s.List(t.Context(), prefix) {
		if err != nil {
			t.Fatal(err)
		}
		n++
		got := oracle.Must(store.ReadAll(t.Context(), s, o.Key, 1<<30))(t)
		// A reduce names the kind of profile, too.
		name := strings.Replace(strings.TrimPrefix(o.Key, prefix), ".ir.profdata", ".profdata", 1)
		if want := readFile(t, filepath.Join(folder, name)); !bytes.Equal(got, want) {
			t.Errorf("%s has other bytes than %s", s.URL(o.Key), name)
		}
	}
	files, err := os.ReadDir(folder)
	if err != nil || n != len(files) || n == 0 {
		t.Errorf("%d objects below %s, %d files: %v", n, prefix, len(files), err)
	}
}

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	data := oracle.ReadFile(t, name)
	return data
}
