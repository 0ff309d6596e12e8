package console

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/term"

	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/files/atomicfile"
	"github.com/profuse-pgo/profuse/internal/files/store"
)

// An Output is the destination of a result. Commit or Discard ends it. A file is visible after Commit.
type Output struct {
	io.Writer
	Commit  func() error
	Discard func() // does nothing after Commit
}

// A Checksum is the option to write a checksum beside the output.
type Checksum bool

// Declare declares the option.
func (c *Checksum) Declare(f *cli.Flags) {
	f.BoolVar((*bool)(c), "checksum", false, "also write OUTPUT.sha256; all commands that read OUTPUT verify it")
}

// OpenOutput opens a file, an object of a bucket for a URL, or standard output for "-". The output must
// not be one of the inputs. Only files may have a checksum.
func OpenOutput(env *cli.Env, path string, ins []inputs.Input, checksum Checksum) (*Output, error) {
	if path == "-" {
		if checksum {
			return nil, cli.Usagef("option --checksum needs an output that is a file")
		}
		w := bufio.NewWriterSize(env.Stdout, 1<<16)
		return &Output{w, w.Flush, func() {}}, nil
	}
	if store.IsURL(path) {
		return openObject(env, path, ins, checksum)
	}
	names := make([]string, len(ins))
	for i, in := range ins {
		names[i] = in.Name
	}
	f, err := atomicfile.Create(path, atomicfile.Options{Inputs: names, Checksum: bool(checksum)})
	if err != nil {
		if errors.Is(err, atomicfile.ErrSameFile) {
			return nil, fmt.Errorf("%s is also an input; write to another file", path)
		}
		return nil, err
	}
	return &Output{f, f.Commit, func() { f.Close() }}, nil
}

func openObject(env *cli.Env, url string, ins []inputs.Input, checksum Checksum) (*Output, error) {
	if checksum {
		return nil, cli.Usagef("option --checksum needs an output that is a file")
	}
	o, err := env.Stores.Create(url)
	if err != nil {
		return nil, err
	}
	for _, in := range ins {
		if in.Name == o.URL() {
			o.Discard()
			return nil, fmt.Errorf("%s is also an input; write to another object", o.URL())
		}
	}
	return &Output{o, o.Commit, o.Discard}, nil
}

// OutputName names an output in messages.
func OutputName(path string) string {
	if path == "-" {
		return "standard output"
	}
	return store.Shown(path)
}

// ToTerminal reports whether an output would appear on a terminal, also for a path such as /dev/tty.
func ToTerminal(env *cli.Env, output string) bool {
	if output == "-" {
		return env.Terminal(env.Stdout).Interactive
	}
	if info, err := os.Stat(output); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	f, err := os.Open(output)
	if err != nil {
		return false
	}
	defer f.Close()
	return term.IsTerminal(int(f.Fd()))
}

// RefuseTerminal returns an error if a binary output, such as "a pprof file", would appear on a
// terminal. instead names options to use instead of -o; may be "".
func RefuseTerminal(env *cli.Env, output, what, instead string) error {
	if !ToTerminal(env, output) {
		return nil
	}
	return cli.Usagef("refusing to write %s to a terminal; use -o FILE%s", what, instead)
}

// Write opens an output, see OpenOutput, passes it to write and commits it. A file appears whole or not at all.
func Write(env *cli.Env, path string, ins []inputs.Input, checksum Checksum, write func(io.Writer) error) error {
	out, err := OpenOutput(env, path, ins, checksum)
	if err != nil {
		return err
	}
	defer out.Discard()
	if err = write(out); err == nil {
		err = out.Commit()
	}
	if err != nil {
		return NotWritten(path, err)
	}
	return nil
}

// NotWritten wraps the error that kept an output from being written.
func NotWritten(output string, err error) error {
	return fmt.Errorf("%s is not written: %w", OutputName(output), err)
}

// IsYAML reports whether the suffix of a file's name means YAML.
func IsYAML(path string) bool {
	ext := strings.ToLower(filepath.Ext(store.Shown(path)))
	return ext == ".yaml" || ext == ".yml"
}

// Compression returns the suffix of a compressed file's name, ".gz" or ".zst"; "" for other files.
func Compression(path string) string {
	switch ext := strings.ToLower(filepath.Ext(store.Shown(path))); ext {
	case ".gz", ".zst":
		return ext
	}
	return ""
}

// WriteCompressed passes w to write, through a compressor if path ends in .gz or .zst.
func WriteCompressed(w io.Writer, path string, write func(io.Writer) error) (err error) {
	var z io.WriteCloser
	switch Compression(path) {
	case ".gz":
		z = gzip.NewWriter(w)
	case ".zst":
		if z, err = zstd.NewWriter(w, zstd.WithEncoderConcurrency(1)); err != nil {
			return err
		}
	default:
		return write(w)
	}
	if err := write(z); err != nil {
		return err
	}
	return z.Close()
}
