package mipdata

import (
	"errors"
	"io/fs"
	"strings"

	"github.com/profuse-pgo/profuse/formats/mip"
	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/internal/llvm/llvmerr"
	"github.com/profuse-pgo/profuse/internal/program/object"
	"github.com/profuse-pgo/profuse/profile"
)

// create runs the create command. The map is a file of its own or a section of a linked
// program. create replaces an existing profile.
func (t *tool) create() error {
	path, err := binaryFile(t.opt.mapFile)
	if errors.Is(err, fs.ErrNotExist) || err != nil && isSystem(err) {
		t.cannotOpen(t.opt.mapFile)
		return errInvalid
	} else if err != nil {
		return t.refuse(err)
	}
	p, err := t.load(inputs.File(path, t.Inputs()), func(data []byte) (*mip.Profile, error) {
		// FindMap finds the map in an image; any other file must be a map itself.
		if !object.IsImage(data) {
			if err := checkKind(path, data, mip.FormatMap); err != nil {
				return nil, err
			}
		}
		m, _, err := mip.FindMap(path, data, archName(t.opt.arch))
		if err != nil {
			return nil, err
		}
		return mip.Read(path, m, t.warn)
	})
	if err != nil {
		return err
	}
	return t.replaceProfile(p, path)
}

// replaceProfile writes a new profile, made from the inputs. It waits for a merge that
// updates the file, so that the merge does not overwrite the new profile.
func (t *tool) replaceProfile(p *mip.Profile, inputs ...string) error {
	lock, err := t.lock()
	if err != nil {
		t.cannotOpen(t.opt.profile)
		return err
	}
	defer lock.Release()
	if err := t.writeProfile(p, inputs...); err != nil {
		return err
	}
	t.msg.Remark("Wrote empty profile to " + t.opt.profile)
	return nil
}

// binaryFile returns the file to open: the only DWARF file if path is a .dSYM bundle, otherwise path.
func binaryFile(path string) (string, error) {
	file, err := object.BundledFile(path)
	if fe := (*profile.FormatError)(nil); errors.As(err, &fe) {
		count, _, _ := strings.Cut(fe.Got, ":")
		fe.Err = &llvmerr.MIPError{Code: llvmerr.MIPObjects, Found: count}
	}
	return file, err
}
