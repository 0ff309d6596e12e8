package iprofcmd

import (
	"compress/gzip"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/cli"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/console"
	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/iprof"
)

// iprofWriting are the options of how iprof profiles are written.
type iprofWriting struct {
	version string
	indent  bool
	lines   bool
}

func (w *iprofWriting) declare(f *cli.Flags) {
	f.StringVar(&w.version, "iprof-version", "auto", "`V` of the format to write: 0.4.0, 1.0.0, 1.1.0, or auto")
	f.BoolVar(&w.indent, "indent", false, "write a number per line, indented, for reading")
	f.BoolVar(&w.lines, "entry-per-line", false, "write an entry per line, for version control")
	f.Alias("entry-per-line", "lines")
}

func (w *iprofWriting) options() (opt iprof.WriteOptions, err error) {
	switch {
	case w.indent && w.lines:
		return opt, cli.Usagef("options --indent and --entry-per-line exclude each other")
	case w.indent:
		opt.Style = iprof.Indented
	case w.lines:
		opt.Style = iprof.Lines
	}
	if w.version == "auto" {
		return opt, nil
	}
	opt.Version, err = iprof.ParseVersion(w.version)
	if err != nil || !opt.Version.Writable() {
		return opt, cli.Usagef("option --iprof-version takes 0.4.0, 1.0.0, 1.1.0 or auto, not %q", w.version)
	}
	return opt, nil
}

// openIprofOutput is console.OpenOutput for files that are compressed if their
// name ends in .gz or .zst.
func openIprofOutput(env *cli.Env, path string, ins []inputs.Input) (*console.Output, error) {
	out, err := console.OpenOutput(env, path, ins)
	if err != nil {
		return nil, err
	}
	var z io.WriteCloser
	switch console.Compression(path) {
	case ".gz":
		z = gzip.NewWriter(out.Writer)
	case ".zst":
		if z, err = zstd.NewWriter(out.Writer, zstd.WithEncoderConcurrency(1)); err != nil {
			out.Discard()
			return nil, err
		}
	default:
		return out, nil
	}
	commit := out.Commit
	out.Writer = z
	out.Commit = func() error {
		if err := z.Close(); err != nil {
			return err
		}
		return commit()
	}
	return out, nil
}
