package mipdata

import (
	"cmp"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/profuse-pgo/profuse/formats/mip"
	"github.com/profuse-pgo/profuse/internal/symbols"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/symbolize"
)

// rawSection is the section to which addresses of functions are relative.
const rawSection = "__llvm_mipraw"

type debugInfo struct {
	file *symbolize.File
	raw  *symbolize.Section // nil if the file lacks it: then no function has an address
}

// close closes the file. It may be called on nil.
func (d *debugInfo) close() {
	if d != nil {
		d.file.Close()
	}
}

// openDebug opens the file of option --debug; nil without the option. A folder must be a .dSYM bundle.
func (t *tool) openDebug() (*debugInfo, error) {
	path := t.opt.debug
	if path == "" {
		return nil, nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		if filepath.Ext(filepath.Clean(path)) != ".dSYM" {
			return nil, syscall.EISDIR
		}
		if path, err = binaryFile(path); err != nil && isSystem(err) {
			return nil, err
		} else if err != nil {
			return nil, t.refuse(err)
		}
	}
	opt := symbolize.Options{Inputs: t.Inputs()}
	if universal, err := isUniversal(path); err != nil {
		return nil, err
	} else if universal { // --arch does not apply to other files
		opt.Arch = archName(t.opt.arch)
	}
	f, err := symbolize.Open(path, opt)
	if err != nil {
		return nil, t.refuseObject(path, err)
	}
	d := &debugInfo{file: f, raw: f.Section(rawSection)}
	if d.raw == nil {
		t.msg.Warning(path + ": has no section " + rawSection + ", which addresses of functions are relative to")
	}
	return d, nil
}

// refuseObject prints the error of an object file and returns the error that ends the run.
func (t *tool) refuseObject(path string, err error) error {
	switch {
	case isSystem(err):
		return err
	case errors.Is(err, profile.ErrUnrecognized):
		return errNoObject
	}
	t.msg.Error(err.Error())
	if errors.Is(err, profile.ErrCorrupt) || errors.Is(err, profile.ErrTruncated) {
		return errBadObject
	}
	t.msg.Error(path + " has unhandled type")
	return errInvalid
}

// frames returns the frames at the first instruction of each function, innermost first;
// none without debug information about it. Errors of the debug information are warnings.
func (t *tool) frames(d *debugInfo, functions []*mip.Function) [][]symbolize.Frame {
	frames := make([][]symbolize.Frame, len(functions))
	if d == nil || d.raw == nil {
		return frames
	}
	addrs := make([]uint64, len(functions))
	for i, f := range functions {
		addrs[i] = d.raw.Addr + uint64(f.Address)
	}
	err := d.file.Batch(addrs, func(i int, found []symbolize.Frame) { frames[i] = found })
	if err != nil {
		for line := range strings.Lines(err.Error()) {
			t.msg.Warning(strings.TrimSuffix(line, "\n"))
		}
	}
	return frames
}

// unknown is what LLVM prints for an unknown name.
const unknown = "<invalid>"

func fileOf(f symbolize.Frame) string { return cmp.Or(f.File, unknown) }

func functionOf(f symbolize.Frame) string { return cmp.Or(symbols.DemangleCXX(f.Function), unknown) }

// isUniversal reports whether a file begins like a Mach-O file for several architectures.
func isUniversal(path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	var head [4]byte
	if _, err := io.ReadFull(f, head[:]); err != nil {
		return false, nil // too short for it
	}
	const magic, magic64 = 0xcafebabe, 0xcafebabf
	m := binary.BigEndian.Uint32(head[:])
	return m == magic || m == magic64, nil
}

// archName returns the name of an architecture. arch is a name or a Mach-O cputype.
func archName(arch string) string {
	const abi64 = 1 << 24
	n, _ := strconv.ParseUint(arch, 0, 32)
	return cmp.Or(map[uint64]string{7: "i386", 7 | abi64: "x86_64", 12: "armv7", 12 | abi64: "arm64"}[n], arch)
}
