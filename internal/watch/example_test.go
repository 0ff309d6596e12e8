package watch_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"

	"github.com/profuse-pgo/profuse/formats/irpgo"
	"github.com/profuse-pgo/profuse/internal/watch"
)

func add(m *irpgo.Merger, name string) error {
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	r, err := irpgo.NewReader(name, data, irpgo.ReaderOptions{})
	if err != nil {
		return err
	}
	_, err = m.Add(r, 1)
	return err
}

// merge is a watch.Merge of LLVM's instrumentation profiles.
func merge(_ context.Context, base string, files []string) (*watch.Sum, error) {
	m := irpgo.NewMerger(irpgo.MergeOptions{})
	if base != "" {
		if err := add(m, base); err != nil {
			return nil, fmt.Errorf("%w: %w", watch.ErrOutput, err)
		}
	}
	sum := &watch.Sum{Files: make([]watch.Outcome, len(files))}
	for i, name := range files {
		if err := add(m, name); err != nil {
			sum.Files[i].Err = err
		} else {
			sum.Files[i].Profiles = 1
		}
	}
	p := m.Finish().Profile()
	sum.Contents = fmt.Sprint(len(p.Functions), " functions")
	sum.Write = func(w io.Writer) error { return irpgo.WriteText(w, p, irpgo.TextOptions{}) }
	return sum, nil
}

// Merge what has landed in a folder, once, and delete what was merged. Without Once it would go on until the context is done.
func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	runs := filepath.Join(dir, "runs")
	if err := os.CopyFS(runs, os.DirFS("../../testdata/irpgo/rustc195")); err != nil {
		log.Fatal(err)
	}
	err = watch.Run(context.Background(), watch.Options{
		Dir: runs, Output: filepath.Join(dir, "app.proftext"), Merge: merge, Delete: true, Once: true,
		Report: func(e watch.Event) {
			switch e := e.(type) {
			case watch.Written:
				fmt.Println(e.Files, "files merged:", e.Contents)
			case watch.Refused:
				fmt.Println(filepath.Base(e.File), "refused")
			}
		},
	})
	fmt.Println("all are merged:", !errors.Is(err, watch.ErrRefused))
	// Output:
	// 2 files merged: 36 functions
	// rustc-coverage.profraw refused
	// all are merged: false
}
