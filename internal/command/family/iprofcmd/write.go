package iprofcmd

import (
	"github.com/profuse-pgo/profuse/formats/iprof"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
)

// versions are the values of --iprof-version.
const versions = "0.4.0, 1.0.0, 1.1.0 or auto"

type writing struct {
	version string
	indent  bool
	lines   bool
}

func (w *writing) declare(f *cli.Flags) {
	f.StringVar(&w.version, "iprof-version", "auto", "`V` version of the format to write: "+versions)
	f.BoolVar(&w.indent, "indent", false, "write one number per line, indented, for people")
	f.BoolVar(&w.lines, "entry-per-line", false, "write one entry per line, for version control")
	f.Alias("entry-per-line", "lines")
}

// writeOptions checks and converts the options. The zero Version means the profile's version.
func (w *writing) writeOptions() (opt iprof.WriteOptions, err error) {
	switch {
	case w.indent && w.lines:
		return opt, cli.Usagef("options --indent and --entry-per-line exclude each other")
	case w.indent:
		opt.Indent = "  "
	case w.lines:
		opt.Lines = true
	}
	if w.version == "auto" {
		return opt, nil
	}
	opt.Version, err = iprof.ParseVersion(w.version)
	if err != nil || !opt.Version.Writable() {
		return opt, cli.Usagef("option --iprof-version takes %s, not %q", versions, w.version)
	}
	return opt, nil
}
