package irpgocmd

import (
	"fmt"
	"strconv"

	"github.com/profuse-pgo/profuse/formats/memprof"
	"github.com/profuse-pgo/profuse/internal/command/merging"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
)

// heapOptions say how the memprof section of the result is written.
type heapOptions struct {
	version    string // "auto" or a number
	fullSchema bool
}

// declare declares the options, with llvm-profdata's names.
func (o *heapOptions) declare(f *cli.Flags) {
	f.Group("heap profiles")
	f.StringVar(&o.version, "memprof-version", "auto", fmt.Sprintf("`N` version of the memprof section, 0 to %d, or auto: "+
		"the newest that compilers of the indexed version can read", memprof.SectionVersionMax))
	f.BoolVar(&o.fullSchema, "memprof-full-schema", false, "write all fields of allocations, not only those that compilers need")
}

// options checks and converts the options. In memprof.WriteOptions 0 means the default and -1
// version 0.
func (o *heapOptions) options() (opt memprof.WriteOptions, err error) {
	if o.version != "auto" {
		n, err := strconv.ParseUint(o.version, 10, 8)
		if err != nil || n > memprof.SectionVersionMax {
			return opt, cli.Usagef("option --memprof-version takes auto or 0 to %d, not %q", memprof.SectionVersionMax, o.version)
		}
		if opt.Version = int(n); n == 0 {
			opt.Version = -1
		}
	}
	// The zero Schema is the part that compilers need.
	if o.fullSchema {
		opt.Schema = memprof.FullSchema
	}
	return opt, nil
}

// heapYAML reports whether --format, or else the name of the output, asks for MemProf YAML.
func (c *adder) heapYAML(r *merging.Options) bool {
	switch r.Format {
	case formatMemProfYAML, formatHeapYAML:
		return true
	case "":
		return console.IsYAML(r.Output)
	}
	return false
}
