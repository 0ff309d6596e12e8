package mipcmd

import (
	"fmt"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/sources"
	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/mip"
	"github.com/profuse-pgo/profuse/profile"
)

// A mipFile is a file that says which functions a program has: the program
// itself or its map, both without counts, or a merged profile.
type mipFile struct {
	name    string
	format  formats.Format
	size    int
	profile *mip.Profile
	info    mip.Info       // of the map in a binary
	binary  mip.BinaryInfo // of a binary or a map
}

const mipWanted = "a program with a MIP map, a .mipmap or a .mip"

// parseMIP reads such a file from memory and keeps none of it. arch is for
// binaries with several architectures. An error comes with what was learned
// before it.
func parseMIP(name string, data []byte, arch string, warn func(profile.Warning)) (*mipFile, error) {
	m := &mipFile{name: name, size: len(data)}
	m.format, _ = formats.Detect(data)
	switch m.format {
	case formats.Binary, formats.MIPMap:
		var err error
		if data, m.binary, err = mip.FindMap(name, data, mip.BinaryOptions{Arch: arch}); err != nil {
			return m, err
		}
	case formats.MIPProfile, formats.MIPYAML:
	default:
		return m, sources.WrongFormat(name, data, mipWanted)
	}
	r, err := mip.NewReader(name, data, mip.ReaderOptions{Warn: warn})
	if err != nil {
		return m, err
	}
	m.info = *r.Info()
	m.profile, err = r.Profile()
	return m, err
}

// readMIP is parseMIP for an input, which is a file.
func readMIP(in inputs.Input, arch string, warn func(profile.Warning)) (m *mipFile, err error) {
	d, err := in.Open(nil)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	err = inputs.Guard(func() (err error) {
		m, err = parseMIP(d.Name(), d.Bytes(), arch, warn)
		return err
	}, d)
	return m, err
}

// findMIPBase returns the index of the input that says which functions the
// others are about: the first program or map, else the first merged profile.
// That it cannot be an archive, a pipe or standard input is of no harm: these
// hold raw profiles.
func findMIPBase(ins []inputs.Input) (int, error) {
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
		return 0, fmt.Errorf("no input says which functions there are, and raw profiles do not: "+
			"add %s", mipWanted)
	}
	return base, nil
}
