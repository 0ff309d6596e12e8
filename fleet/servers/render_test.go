// Package servers has what only the tests of the module fleet need.
package servers

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	"sigs.k8s.io/yaml"

	"github.com/profuse-pgo/profuse/test/oracle"
)

// TestKubernetesManifests decodes the rendered manifests into the types of Kubernetes, strictly.
func TestKubernetesManifests(t *testing.T) {
	dir := t.TempDir()
	root := oracle.Root(t)
	profuse := filepath.Join(dir, "profuse")
	run(t, "go", "build", "-C", root, "-o", profuse, "./cmd/profuse")
	job := filepath.Join(dir, "job")
	run(t, profuse, "fleet", "plan", job, filepath.Join(root, "testdata", "irpgo", "clang22"), "--shard-objects", "3")
	text := run(t, profuse, "fleet", "render", "kubernetes", job, "-o", `s3://bucket/a "quoted" $(name)`, "--image", "profuse:1",
		"--account", "merger", "--attempts", "5", "--parallelism", "2", "--", "--sparse")
	var jobs []batchv1.Job
	for _, document := range bytes.Split(text, []byte("\n---\n")) {
		var j batchv1.Job
		if err := yaml.UnmarshalStrict(document, &j); err != nil {
			t.Fatalf("%v\n%s", err, document)
		}
		jobs = append(jobs, j)
	}
	if len(jobs) != 2 {
		t.Fatalf("%d manifests", len(jobs))
	}
	tasks, reduce := jobs[0].Spec, jobs[1].Spec.Template.Spec.Containers[0]
	if *tasks.CompletionMode != batchv1.IndexedCompletion || *tasks.Parallelism != 2 || *tasks.BackoffLimitPerIndex != 4 || *tasks.Completions < 10 {
		t.Errorf("tasks %+v", tasks)
	}
	if args := reduce.Args; len(args) != 8 || args[4] != `s3://bucket/a "quoted" $$(name)` || args[7] != "--sparse" {
		t.Errorf("reduce %q", args)
	}
}

func run(t *testing.T, name string, args ...string) []byte {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %q: %v", name, args, err)
	}
	return out
}
