package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/cli"
	"github.com/profuse-pgo/profuse/internal/atomicfile"
	"github.com/profuse-pgo/profuse/internal/inputs"
)

// An output is where a result goes. Nothing is seen of a file before commit.
type output struct {
	io.Writer
	commit  func() error
	discard func()
}

// openOutput opens a file, or standard output for "-". It must not be one of
// the inputs.
func openOutput(env *cli.Env, path string, ins []inputs.Input) (*output, error) {
	if path == "-" {
		w := bufio.NewWriterSize(env.Stdout, 1<<16)
		return &output{w, w.Flush, func() {}}, nil
	}
	names := make([]string, len(ins))
	for i, in := range ins {
		names[i] = in.Name
	}
	f, err := atomicfile.Create(path, atomicfile.Options{Inputs: names})
	if err != nil {
		if errors.Is(err, atomicfile.ErrSameFile) {
			return nil, fmt.Errorf("%s is one of the inputs and would be lost: write to another file", path)
		}
		return nil, err
	}
	return &output{f, f.Commit, func() { f.Close() }}, nil
}

// outputName is what an output is called in messages.
func outputName(path string) string {
	if path == "-" {
		return "standard output"
	}
	return path
}
