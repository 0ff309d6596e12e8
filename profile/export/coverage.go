package export

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/profile/coverage"
)

// coverage writes the functions, lines and branches whose source lines are known. It returns an error
// if the view has none. The counts of a function are sums over its callers.
func (e *exporter) coverage() error {
	if table := e.opt.Table; table != "" && table != profile.FunctionSet {
		return fmt.Errorf("table %q has no source lines, which %s is made of", table, e.format)
	}
	c := coverage.Collect(e.v, e.opt.Function)
	if len(c.Files) == 0 {
		return errors.New("the source lines of the functions are not known: they are in the program that was profiled, or in its classes")
	}
	// CI services look for sources by paths from their root.
	if e.opt.SourceDir != "" {
		c.Rename(func(path string) string {
			if filepath.IsAbs(path) {
				return path
			}
			return filepath.ToSlash(filepath.Join(e.opt.SourceDir, path))
		})
	}
	e.loseOmitted()
	e.loseCounted(uint64(c.Unplaced.Functions.Total), "functions", "their source lines are not known")
	if !c.HasLines {
		e.lose(0, "lines", "the profile knows no lines but the first ones of functions")
	}
	if len(e.v.Stacks()) > 0 {
		e.lose(0, "stacks", "a file of coverage has no callers: counts of all callers are added up")
	}
	if e.features.Edges {
		e.lose(0, "edges", "a file of coverage has no calls")
	}
	if e.features.Traces {
		e.lose(0, "traces", "a file of coverage has no order of calls")
	}
	e.loseDetails("a file of coverage has the calls of a function and the counts of its lines")
	e.symbols.opt.Signatures = true // functions of a file are told apart by name
	opt := coverage.WriteOptions{Name: e.symbols.display, Source: e.opt.Source, Behind: func(path string, lines int) {
		e.lose(uint64(lines), "lines", "they are behind the end of "+path+", which differs from what was compiled")
	}}
	if e.opt.Roots != nil {
		opt.Roots = e.opt.Roots(c)
	}
	return coverage.Write(e.Writer, c, coverage.Format(e.format), opt)
}
