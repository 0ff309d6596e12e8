package formats

import (
	"errors"
	"fmt"

	"github.com/profuse-pgo/profuse/mip"
	"github.com/profuse-pgo/profuse/mip/debuginfo"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/symbolize"
)

// viewWithProgram shows a profile with what its program knows, if that is among
// those given. That it is not, or knows no sources, is worth a warning only; one
// that has other functions is an error.
func (o *ViewOptions) viewWithProgram(p *mip.Profile, name string, info *mip.Info, buildID []byte) (profile.View, error) {
	program, err := o.openInstrumented(name, buildID)
	if err != nil {
		return nil, err
	}
	if program == nil {
		return p.View(name, mip.ViewOptions{Info: info, BuildID: buildID}), nil
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
	return p.View(name, mip.ViewOptions{Info: info, BuildID: buildID, Sources: sources}), nil
}

// openInstrumented opens the program with that build id, or else the first of
// those given by name that may be it; nil, with a warning, if there is none. In
// folders programs are found by build id alone.
func (o *ViewOptions) openInstrumented(name string, buildID []byte) (*debuginfo.Program, error) {
	if len(o.ProfiledBinaries) == 0 {
		return nil, nil
	}
	var folders []string
	others := 0 // of another build
	// use says whether a program is the one, and closes it if it is not.
	use := func(program *debuginfo.Program) bool {
		if _, other := program.OtherBuild(buildID); !other {
			return true
		}
		others++
		program.Close()
		return false
	}
	for _, path := range o.ProfiledBinaries {
		if symbolize.IsFolder(path) {
			folders = append(folders, path)
			continue
		}
		program, err := debuginfo.Open(path, o.Arch)
		switch {
		case errors.Is(err, profile.ErrMismatch): // it is of another profile
		case err != nil:
			return nil, err
		case use(program):
			return program, nil
		}
	}
	for path, err := range symbolize.NewFolders(folders, o.Arch).Find(buildID) {
		if err != nil {
			return nil, err
		}
		// What cannot be opened is not there, or not instrumented.
		if program, err := debuginfo.Open(path, o.Arch); err == nil && use(program) {
			return program, nil
		}
	}
	lack := &profile.FormatError{
		File: name, Offset: -1, Record: -1, Field: "program", Found: "not among those given, none of which is instrumented for MIP profiles",
		Want: "the one that was profiled, to know sources and blocks without probes", Err: profile.ErrMismatch,
	}
	switch {
	case others > 0:
		lack.Found = "not among those given, which are of other builds"
		lack.Want = fmt.Sprintf("build id %x", buildID)
	case len(folders) > 0 && buildID == nil:
		lack.Found = "not found in folders: the build id, which is in a file beside a profile (" + mip.BuildIDSuffix + "), is not known"
	}
	o.warn(lack)
	return nil, nil
}
