package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/internal/inputs"
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
func parseMIP(name string, data []byte, arch string, warn func(mip.Warning)) (*mipFile, error) {
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
		return m, wrongFormat(name, data, mipWanted)
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
func readMIP(in inputs.Input, arch string, warn func(mip.Warning)) (m *mipFile, err error) {
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

// mipPath returns the input for a path, which may be that of a .dSYM bundle.
func mipPath(path string) (inputs.Input, error) {
	file, err := mip.BinaryFile(path)
	return inputs.File(file), err
}

// bundleFiles replaces .dSYM bundles among arguments by the file inside, where
// there is one.
func bundleFiles(args []string) []string {
	files := make([]string, len(args))
	for i, arg := range args {
		files[i] = arg
		if filepath.Ext(filepath.Clean(arg)) == ".dSYM" {
			if file, err := mip.BinaryFile(arg); err == nil {
				files[i] = file
			}
		}
	}
	return files
}

// wrongFormat is the error of a file whose contents are not what is wanted.
func wrongFormat(name string, data []byte, want string) error {
	e := &profile.FormatError{
		File: name, Offset: -1, Record: -1, Field: "format", Found: "unknown", Want: want, Err: profile.ErrUnrecognized,
	}
	switch f, ok := formats.Detect(data); {
	case len(data) == 0:
		e.Field, e.Found, e.Err = "size", "0 bytes", profile.ErrEmpty
	case f == formats.IRPGOText: // any text is taken for it
		e.Found = "text"
	case ok:
		e.Found, e.Err = f.String(), profile.ErrMismatch
	}
	return e
}

// errSeen ends the reading of an input of which enough has been seen.
var errSeen = errors.New("seen")

// peekFormat returns the format of an input, of an archive that of its first
// member that has one, by its first bytes; 0 if it has none, or if it can be
// read only once. Compressed ones are looked into on request.
func peekFormat(in inputs.Input, compressed bool) (f formats.Format) {
	info, err := os.Stat(in.Name)
	if err != nil || !info.Mode().IsRegular() {
		return 0
	}
	if compressed {
		_ = in.Each(nil, func(d *inputs.Data) error {
			if f, _ = formats.Detect(d.Bytes()); f != 0 {
				return errSeen
			}
			return nil
		})
		return f
	}
	file, err := os.Open(in.Name)
	if err != nil {
		return 0
	}
	defer file.Close()
	var head [1 << 12]byte
	n, _ := file.Read(head[:])
	f, _ = formats.Detect(head[:n])
	return f
}

// findMIPBase returns the index of the input that says which functions the
// others are about: the first program or map, else the first merged profile.
// That it cannot be an archive, a pipe or standard input is of no harm: these
// hold raw profiles.
func findMIPBase(ins []inputs.Input) (int, error) {
	base := -1
	for i, in := range ins {
		switch peekFormat(in, false) {
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
