package mipcmd

import (
	"errors"
	"fmt"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/formats/mip"
	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/internal/command/sources"
	"github.com/profuse-pgo/profuse/internal/mip/buildid"
	"github.com/profuse-pgo/profuse/internal/mip/debuginfo"
	"github.com/profuse-pgo/profuse/internal/program/object"
	"github.com/profuse-pgo/profuse/profile"
)

// A mipFile is a file that lists the functions of a program: the program or its map, without
// counts, or a merged profile.
type mipFile struct {
	name    string
	format  formats.Format
	profile *mip.Profile
	info    mip.Info       // of the profile or map
	binary  mip.BinaryInfo // of a program or map
}

// merged reports whether the file is a merged profile.
func (m *mipFile) merged() bool {
	return m.format == formats.MIPProfile || m.format == formats.MIPYAML
}

// buildID returns the build id of the program; nil if unknown. For a merged profile it reads the
// file beside it.
func (m *mipFile) buildID(warn func(profile.Warning)) []byte {
	if !m.merged() {
		return m.binary.BuildID
	}
	id, err := buildid.Find(m.name)
	if err != nil {
		warn(profile.Warning{Err: err})
	}
	return id
}

// wanted describes the files that parse accepts, for error messages.
const wanted = "a program with a MIP map, a .mipmap or a .mip"

// parse reads a mipFile from data, which it does not retain. arch selects the architecture of a
// program with several. With an error it returns what it has read.
func parse(name string, data []byte, arch string, warn func(profile.Warning)) (*mipFile, error) {
	m := &mipFile{name: name}
	m.format, _ = formats.Detect(data)
	switch m.format {
	case formats.Binary, formats.MIPMap:
		var err error
		if data, m.binary, err = mip.FindMap(name, data, arch); err != nil {
			return m, err
		}
	case formats.MIPProfile, formats.MIPYAML:
	default:
		return m, formats.WrongFormat(name, data, wanted)
	}
	r, err := mip.NewReader(name, data, warn)
	if err != nil {
		return m, err
	}
	m.info = *r.Info
	m.profile, err = r.Profile()
	return m, err
}

// isMapless reports whether a program was refused because it has no map.
func isMapless(err error) bool { return profile.ClassOf(err) == profile.ErrMismatch }

// readFile is parse for an input.
func readFile(in inputs.Input, arch string, warn func(profile.Warning)) (m *mipFile, err error) {
	err = object.ReadFile(in, func(data []byte) (err error) {
		m, err = parse(in.Name, data, arch, warn)
		return err
	})
	return m, err
}

// findBase returns the index of the input that lists the functions: the first program or map, else
// the first merged profile. It does not look into archives, pipes and standard input.
func findBase(ins []inputs.Input) (int, error) {
	base := -1
	for i, in := range ins {
		switch sources.PeekFormat(in, false) {
		case formats.Binary, formats.MIPMap:
			return i, nil
		case formats.MIPProfile, formats.MIPYAML:
			if base < 0 {
				base = i
			}
		}
	}
	if base < 0 {
		return 0, fmt.Errorf("no input lists the functions of the program: add the program with its MIP map, its .mipmap or a merged profile")
	}
	return base, nil
}

// openProgram returns the program of a profile among the named programs; nil if none is named, and
// with a warning if none fits. id is the build id of the profile, nil if unknown.
func openProgram(p *sources.Programs, m *mipFile, id []byte, warn func(profile.Warning)) (*debuginfo.Program, error) {
	if len(p.Paths) == 0 {
		return nil, nil
	}
	programs, err := p.Open()
	if err != nil {
		return nil, err
	}
	program, err := debuginfo.Find(programs, m.name, id)
	if errors.Is(err, profile.ErrMismatch) {
		warn(profile.Warning{Err: err})
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if err := program.Check(m.profile); err != nil {
		warn(profile.Warning{Err: err})
	}
	return program, nil
}
