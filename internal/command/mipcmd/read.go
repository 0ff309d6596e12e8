package mipcmd

import (
	"errors"
	"fmt"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/internal/command/sources"
	"github.com/profuse-pgo/profuse/internal/mip/debuginfo"
	"github.com/profuse-pgo/profuse/internal/object"
	"github.com/profuse-pgo/profuse/mip"
	"github.com/profuse-pgo/profuse/profile"
)

// A mipFile is a file that lists the functions of a program: the program or its map,
// which have no counts, or a merged profile.
type mipFile struct {
	name    string
	format  formats.Format
	profile *mip.Profile
	info    mip.Info       // of the map in a binary
	binary  mip.BinaryInfo // of a binary or a map
}

// merged reports whether it is a merged profile, which has counts.
func (m *mipFile) merged() bool {
	return m.format == formats.MIPProfile || m.format == formats.MIPYAML
}

// buildID returns the build id of the program, for a merged profile from the file beside
// it; nil if unknown.
func (m *mipFile) buildID(warn func(profile.Warning)) []byte {
	if !m.merged() {
		return m.binary.BuildID
	}
	id, err := mip.FindBuildID(m.name)
	if err != nil {
		warn(profile.Warning{Err: err})
	}
	return id
}

// wanted describes for error messages the files that parse accepts.
const wanted = "a program with a MIP map, a .mipmap or a .mip"

// parse reads a mipFile from data, which it does not retain. arch selects the
// architecture of a binary with several. With an error it returns what it has read.
func parse(name string, data []byte, arch string, warn func(profile.Warning)) (*mipFile, error) {
	m := &mipFile{name: name}
	// Only a binary or a map is looked into; merged profiles and YAML are read as they are.
	m.format, _ = formats.Detect(data)
	switch m.format {
	case formats.Binary, formats.MIPMap:
		var err error
		if data, m.binary, err = mip.FindMap(name, data, mip.BinaryOptions{Arch: arch}); err != nil {
			return m, err
		}
	case formats.MIPProfile, formats.MIPYAML:
	default:
		return m, formats.WrongFormat(name, data, wanted)
	}
	r, err := mip.NewReader(name, data, mip.ReaderOptions{Warn: warn})
	if err != nil {
		return m, err
	}
	m.info = *r.Info()
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

// findBase returns the index of the input that lists the functions: the first program
// or map, else the first merged profile. Archives, pipes and standard input are taken
// to hold raw profiles.
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

// openProgram returns the program of a profile, among those that the options name. id is
// the build id, nil if unknown. If no program is named or fits, it returns nil, in the
// second case with a warning.
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
