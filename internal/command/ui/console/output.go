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

// An Output is the destination of a result. A file becomes visible at commit.
type Output struct {
	io.Writer
	// Commit and Discard: one of them ends the output; Discard after Commit does nothing.
	Commit  func() error
	Discard func()
}

// A Checksum is the option of commands that write profiles to write a checksum beside
// the output.
type Checksum bool

// Declare declares the option.
func (c *Checksum) Declare(f *cli.Flags) {
	f.BoolVar((*bool)(c), "checksum", false, "also write OUTPUT.sha256; all commands that read OUTPUT verify it")
}

// OpenOutput opens a file, or standard output for "-". It must not be one of
// the inputs. A URL is an object of a bucket. Standard output is buffered until commit and
// has no checksum.
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

// openObject opens an object of a bucket.
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

// ToTerminal reports whether an output would appear on a terminal. The output may also be
// the path of a terminal, such as /dev/tty.
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

// RefuseTerminal returns an error if an output that is not text, "a pprof file", would
// appear on a terminal. instead names other options than -o to use; may be empty.
func RefuseTerminal(env *cli.Env, output, what, instead string) error {
	if !ToTerminal(env, output) {
		return nil
	}
	return cli.Usagef("refusing to write %s to a terminal; use -o FILE%s", what, instead)
}

// Write writes what write produces to a file, or to standard output. A file appears
// whole or not at all. The error says which output is not written.
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

// IsYAML reports whether a name says that a file is YAML. It looks at the suffix, in upper
// or lower case.
func IsYAML(path string) bool {
	ext := strings.ToLower(filepath.Ext(store.Shown(path)))
	return ext == ".yaml" || ext == ".yml"
}

// Compression returns the suffix by which the name of a file says that it is
// compressed; "" if it does not.
func Compression(path string) string {
	switch ext := strings.ToLower(filepath.Ext(store.Shown(path))); ext {
	case ".gz", ".zst":
		return ext
	}
	return ""
}

// WriteCompressed writes to a file, compressed if its name ends in .gz or .zst. The error
// may come from closing the compressor, which writes the rest.
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
