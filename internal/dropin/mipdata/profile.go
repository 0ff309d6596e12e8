package mipdata

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"

	"github.com/profuse-pgo/profuse/formats/mip"
	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/internal/files/filelock"
	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/llvm/llvmerr"
	"github.com/profuse-pgo/profuse/internal/program/object"
	"github.com/profuse-pgo/profuse/profile"
)

// load reads an input with read, which must not retain data. It prints an error and returns the error
// that ends the run. The original has one message for all failures to open. Messages about compressed
// files, which the original does not read, are profuse's own.
func (t *tool) load(in inputs.Input, read func(data []byte) (*mip.Profile, error)) (p *mip.Profile, err error) {
	opened := false
	err = object.ReadFile(in, func(data []byte) (err error) {
		opened = true
		p, err = read(data)
		return err
	})
	switch {
	case err == nil:
		return p, nil
	case !opened && isSystem(err):
		t.cannotOpen(in.Name)
		return nil, errInvalid
	}
	return nil, t.refuse(err)
}

// readProfile reads the profile of option -p.
func (t *tool) readProfile() (*mip.Profile, error) {
	name := t.opt.profile
	return t.load(inputs.File(name, t.Inputs()), func(data []byte) (*mip.Profile, error) {
		if err := checkKind(name, data, mip.FormatProfile); err != nil {
			return nil, err
		}
		return mip.Read(name, data, t.warn)
	})
}

// warn prints a warning of package mip. The original has no such warnings.
func (t *tool) warn(w profile.Warning) { t.msg.Warning(w.String()) }

// writeProfile writes the profile of option -p, which must not be one of the inputs.
func (t *tool) writeProfile(p *mip.Profile, inputs ...string) error {
	out, err := t.createFile(t.opt.profile, inputs...)
	if err != nil {
		if isSystem(err) {
			t.cannotOpen(t.opt.profile)
		}
		return err
	}
	defer out.Close()
	if err := mip.WriteMIP(out, p, mip.WriteOptions{}); err != nil {
		if isSystem(err) {
			return writeError(err)
		}
		return t.refuse(err)
	}
	if err := out.Commit(); err != nil {
		return writeError(err)
	}
	return nil
}

// lock keeps other processes from updating the profile. A profile that does not exist
// needs no lock. Releasing nil does nothing.
func (t *tool) lock() (*filelock.Lock, error) {
	if t.opt.profile == "-" { // written to standard output
		return nil, nil
	}
	lock, err := filelock.Acquire(context.Background(), t.opt.profile, func() {
		t.msg.Remark("Waiting for another process that updates " + t.opt.profile)
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return lock, err
}

const (
	// headerSize and the offsets are in bytes, of the header of generation B.
	headerSize  = 32
	versionAt   = 4 // offset of the 16-bit version in the header
	fileTypeAt  = 6 // of the 16-bit FileType
	magicLength = 4
)

// magic begins the files of all types and versions.
var magic = []byte("\xfbMIP")

// fileTypeBits are the values of FileType in generation B, without the width. They appear in
// messages only.
var fileTypeBits = map[mip.Format]uint16{mip.FormatProfile: 8, mip.FormatMap: 4, mip.FormatRaw: 1}

// checkKind refuses a file of another type than want, with the original's checks in their
// order. Package mip accepts more: other types, and files that are shorter than a header.
func checkKind(name string, data []byte, want mip.Format) error {
	fail := func(field, found, wanted string, err *llvmerr.MIPError) error {
		return flaw.In("header").InFile(name).Field(field).Got(found).Want(wanted).Because(err)
	}
	isMIP := bytes.HasPrefix(data, magic)
	if len(data) < headerSize && !isMIP {
		return fail("size", fmt.Sprint(len(data)), "the size of a header", &llvmerr.MIPError{
			Code: llvmerr.MIPTooSmall, Found: fmt.Sprint(len(data)), Expected: fmt.Sprint(headerSize),
		})
	}
	if !isMIP {
		return fail("magic", fmt.Sprintf("% x", data[:magicLength]), fmt.Sprintf("% x", magic), &llvmerr.MIPError{
			Code:     llvmerr.MIPBadMagic,
			Found:    fmt.Sprintf("%X", binary.LittleEndian.Uint32(data)),
			Expected: fmt.Sprintf("%X", binary.LittleEndian.Uint32(magic)),
		})
	}
	if got, ok := mip.Detect(data); ok && got != want && binary.LittleEndian.Uint16(data[versionAt:]) <= version {
		return fail("FileType", string(got), string(want), &llvmerr.MIPError{
			Code:     llvmerr.MIPBadFileType,
			Found:    fmt.Sprintf("%X", binary.LittleEndian.Uint16(data[fileTypeAt:])),
			Expected: fmt.Sprintf("%X", fileTypeBits[want]),
		})
	}
	return nil
}
