package formats

import (
	"errors"

	"github.com/profuse-pgo/profuse/mip"
	"github.com/profuse-pgo/profuse/mip/debuginfo"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/symbolize"
)

// viewWithProgram returns the view of a profile with the sources in its program. If the
// program is missing or has no debug information, it only warns; a program with other
// functions is an error.
func (o *ViewOptions) viewWithProgram(p *mip.Profile, name string, info *mip.Info, buildID []byte) (profile.View, error) {
	plain := mip.ViewOptions{Info: info, BuildID: buildID}
	if len(o.Programs) == 0 {
		return p.View(name, plain), nil
	}
	programs, err := o.open()
	if err != nil {
		return nil, err
	}
	defer programs.Close()
	program, err := o.openInstrumented(name, programs, buildID)
	if err != nil {
		return nil, err
	}
	if program == nil {
		return p.View(name, plain), nil
	}
	if count, first := program.Displaced(p); count > 0 {
		o.warn(profile.File(program.File().Name()).Field("functions that do not begin where its symbols do").
			Gotf("%d, %s the first", count, first).Want("the build that was profiled").Mismatch())
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

// openInstrumented returns the program with that build id, or else the first of
// those given by name that may be it; nil, with a warning, if there is none. In
// folders programs are found by build id alone.
func (o *ViewOptions) openInstrumented(name string, programs *symbolize.Programs, buildID []byte) (*debuginfo.Program, error) {
	others := 0 // of another build
	for _, file := range programs.Named() {
		program, err := debuginfo.New(file)
		if err != nil {
			continue // it is of another profile
		}
		if _, other := program.OtherBuild(buildID); !other {
			return program, nil
		}
		others++
	}
	for file, err := range programs.Find(buildID) {
		if err != nil {
			return nil, err
		}
		if program, err := debuginfo.New(file); err == nil {
			return program, nil
		}
	}
	const wantProfiled = "the one that was profiled, to know sources and blocks without probes"
	lack := profile.File(name).Field("program")
	switch {
	case others > 0:
		lack = lack.Got("not among those given, which are of other builds").Wantf("build id %x", buildID)
	case len(programs.Folders()) > 0 && buildID == nil:
		lack = lack.Gotf("not found in folders: the build id, which is in a file beside a profile (%s), is not known", mip.BuildIDSuffix).
			Want(wantProfiled)
	default:
		lack = lack.Got("not among those given, none of which is instrumented for MIP profiles").Want(wantProfiled)
	}
	o.warn(lack.Mismatch())
	return nil, nil
}
