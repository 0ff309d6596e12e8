package cov

import (
	"errors"
	"slices"

	"github.com/profuse-pgo/profuse/internal/program/covmap"
)

// export (CodeCoverageTool::doExport) writes JSON or a tracefile to standard output. JSON has
// the sources sorted; a tracefile has them in the order of the command line.
func (t *tool) export() error {
	o := &t.opt
	if o.format == htmlFormat {
		return message("coverage data can only be exported as textual JSON or an lcov tracefile.")
	}
	if err := t.load(); err != nil {
		if err != errSilent {
			t.fail("", err.Error())
			err = errors.New("could not load coverage information")
		}
		return err
	}
	files := t.selected()
	if o.dump {
		t.dumpGroups(files)
	}
	if o.format == lcovFormat {
		return covmap.WriteLCOV(t.Stdout, t.cov, covmap.LCOVOptions{
			SeparateInstantiations: !o.unify, SummaryOnly: o.summaryOnly, SkipBranches: o.skipBranches, SkipFunctions: o.skipFunctions, Files: files,
		})
	}
	files = slices.Clone(files)
	slices.Sort(files)
	return covmap.WriteJSON(t.Stdout, t.cov, covmap.JSONOptions{
		SkipExpansions: o.skipExpansions, SkipFunctions: o.skipFunctions, SummaryOnly: o.summaryOnly, Files: files,
	})
}
