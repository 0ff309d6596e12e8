package export

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/profuse-pgo/profuse/coverage"
	"github.com/profuse-pgo/profuse/profile"
)

// lcov writes a tracefile: the functions, lines and branches whose place in the
// sources is known.
func (e *exporter) lcov() error {
	if table := e.opt.Table; table != "" && table != profile.FunctionSet {
		return fmt.Errorf("table %q has no source lines, which %s is made of", table, e.format)
	}
	c := coverage.Collect(e.v, coverage.Options{Function: e.opt.Function, Branches: true})
	if len(c.Files) == 0 {
		return errors.New("the source lines of the functions are not known: they are in the program that was profiled, or in its classes")
	}
	for _, f := range c.Files {
		if e.opt.SourceDir != "" && !filepath.IsAbs(f.Path) {
			f.Path = filepath.ToSlash(filepath.Join(e.opt.SourceDir, f.Path))
		}
	}
	e.loseOmitted()
	e.loseCounted(uint64(c.Unplaced.Functions.Total), "functions", "their source lines are not known")
	if !c.HasLines {
		e.lose(0, "lines", "the profile knows no lines but the first ones of functions")
	}
	if len(e.v.Stacks()) > 0 {
		e.lose(0, "stacks", "a tracefile has no callers: counts of all callers are added up")
	}
	if e.features.Has(profile.HasEdges) {
		e.lose(0, "edges", "a tracefile has no calls")
	}
	if e.features.Has(profile.HasTraces) {
		e.lose(0, "traces", "a tracefile has no order of calls")
	}
	e.loseDetails("a tracefile has the calls of a function and the counts of its lines")
	e.symbols.opt.Signatures = true // functions of a tracefile are told apart by name
	return coverage.WriteLCOV(e.Writer, c, coverage.LCOVOptions{Name: e.symbols.display})
}
