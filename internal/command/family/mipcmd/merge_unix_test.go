//go:build unix

package mipcmd

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/internal/command/merging"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// mipInputs returns the program of the fixtures and many inputs, of which every fifth cannot be merged.
func mipInputs(t *testing.T) (*mipFile, []inputs.Input) {
	t.Helper()
	dir := filepath.Join(oracle.Root(t), "testdata", "mip")
	base, err := readFile(inputs.File(filepath.Join(dir, "all.elf"), inputs.Options{}), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	var ins []inputs.Input
	for i := range 100 {
		name := []string{"all-1.mipraw", "all-2.mipraw", "all.mip", "all-1.mipraw", "blocks-1.mipraw"}[i%5]
		ins = append(ins, inputs.File(filepath.Join(dir, name), inputs.Options{}))
	}
	return base, ins
}

func TestMergeMIPWorkers(t *testing.T) {
	base, ins := mipInputs(t)
	merge := func(workers int) *sum {
		s := &sum{job: &merging.Job{Options: &merging.Options{Workers: workers}}, base: base}
		if err := s.addInputs(t.Context(), ins); err != nil {
			t.Fatal(err)
		}
		return s
	}
	one := merge(1)
	if got := merging.InputsLine(one.job.Accounts.Loss()); got != "80 of 100 inputs (left out: 20 mismatch)" {
		t.Error(got)
	}
	if got := one.added(); got != "60 raw profiles and 20 merged ones" {
		t.Error(got)
	}
	for _, workers := range []int{2, 7, 50} {
		m := merge(workers)
		if !reflect.DeepEqual(m.profile, one.profile) {
			t.Errorf("%d workers: another profile", workers)
		}
		var got, want strings.Builder
		m.job.PrintLeftOut(&got, m.job.Accounts.Loss())
		one.job.PrintLeftOut(&want, one.job.Accounts.Loss())
		if got.String() != want.String() {
			t.Errorf("%d workers: %s, want %s", workers, got.String(), want.String())
		}
	}
}

// An interrupt ends a merge also while an input is waited for.
func TestMergeMIPInterrupt(t *testing.T) {
	base, ins := mipInputs(t)
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	// Opened for both, it is never at its end.
	keep, err := os.OpenFile(pipe, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer keep.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	s := &sum{job: &merging.Job{Options: &merging.Options{Workers: 2}}, base: base}
	err = s.addInputs(ctx, append(ins, inputs.File(pipe, inputs.Options{})))
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v, want the context's error", err)
	}
}
