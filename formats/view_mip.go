package formats

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/profuse-pgo/profuse/mip"
	"github.com/profuse-pgo/profuse/mip/debuginfo"
	"github.com/profuse-pgo/profuse/profile"
)

// viewWithProgram shows a profile with what its program knows, if one of those
// given is instrumented for such profiles. One that knows no sources is worth a
// warning only; one that has other functions is an error.
func (o *ViewOptions) viewWithProgram(p *mip.Profile, name string, info *mip.Info, buildID []byte) (profile.View, error) {
	program, err := o.openInstrumented(buildID)
	if err != nil {
		return nil, err
	}
	if program == nil {
		return p.View(name, info, buildID), nil
	}
	defer program.Close()
	if count, first := program.Displaced(p); count > 0 {
		o.warn(&profile.FormatError{
			File: program.File().Name(), Offset: -1, Record: -1, Field: "functions that do not begin where its symbols do",
			Found: fmt.Sprintf("%d, %s the first", count, first), Want: "the build that was profiled", Err: profile.ErrMismatch,
		})
	}
	if p, err = program.Expand(p); err != nil {
		return nil, err
	}
	sources, problems, err := program.Sources(p)
	for _, problem := range problems {
		o.warn(errors.New(problem))
	}
	if err != nil {
		o.warn(err)
		sources = nil
	}
	return p.ViewWithSources(name, info, buildID, sources), nil
}

// openInstrumented opens the program with that build id, or else the first
// that may be it; nil if there is none. Programs that are not instrumented are
// those of other profiles, and so are folders: a MIP profile names no build.
func (o *ViewOptions) openInstrumented(buildID []byte) (*debuginfo.Program, error) {
	for _, path := range o.ProfiledBinaries {
		if info, err := os.Stat(path); err == nil && info.IsDir() && filepath.Ext(filepath.Clean(path)) != ".dSYM" {
			continue
		}
		program, err := debuginfo.Open(path, o.Arch)
		if errors.Is(err, profile.ErrMismatch) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if _, other := program.OtherBuild(buildID); !other {
			return program, nil
		}
		program.Close()
	}
	return nil, nil
}
