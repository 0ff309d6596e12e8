package formats

import (
	"errors"

	"github.com/profuse-pgo/profuse/formats/mip"
	"github.com/profuse-pgo/profuse/internal/mip/debuginfo"
	"github.com/profuse-pgo/profuse/profile"
)

// viewWithProgram returns the view of a profile with the sources in its program. If the program is missing or has
// no debug information, it only warns; a program with other functions is an error.
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
	program, err := debuginfo.Find(programs, name, buildID)
	if errors.Is(err, profile.ErrMismatch) {
		o.warn(err)
		return p.View(name, plain), nil
	}
	if err != nil {
		return nil, err
	}
	if err := program.Check(p); err != nil {
		o.warn(err)
	}
	if p, err = program.Expand(p); err != nil {
		return nil, err
	}
	sources, err := program.Sources(p, o.Warn)
	if err != nil {
		o.warn(err)
		sources = nil
	}
	return p.View(name, mip.ViewOptions{Info: info, BuildID: buildID, Sources: sources}), nil
}
