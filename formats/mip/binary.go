package mip

import (
	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/program/object"
)

// The sections of an instrumented binary; on Mach-O both are in __DATA.
const (
	mapSection = "__llvm_mipmap"
	rawSection = "__llvm_mipraw"
)

// BinaryInfo describes the file that a map was found in.
type BinaryInfo struct {
	Format      string // "ELF", "Mach-O", or "" for a dumped map
	Arch        string // as LLVM names it, "x86_64", "aarch64" or "arm64"; "" if unknown
	Type        string // executable, PIE, shared or debug (only debug information); "" if unknown
	PointerSize int    // 4 or 8 bytes
	BuildID     []byte // GNU build id or LC_UUID; nil if there is none
	// RawSection is the address of the raw section, if HasRawSection:
	// [Function.Address] plus it is the function's address in the binary.
	RawSection    uint64
	HasRawSection bool
}

// FindMap finds the map in a linked binary held in data: the section __llvm_mipmap of an
// ELF or Mach-O file, fat ones included. It returns a dumped map unchanged. name is for
// errors. arch selects the architecture of a fat Mach-O file and is ignored for other files;
// "" accepts any. The map may alias data.
//
// Object files are refused: only linking gives the map its addresses.
func FindMap(name string, data []byte, arch string) ([]byte, BinaryInfo, error) {
	if object.IsImage(data) {
		m, info, err := findMap(name, data, arch)
		return m, info, flaw.InFile(err, name)
	}
	h, err := parseHeader(data)
	if err == nil {
		err = h.checkType(0, FormatMap)
	}
	if err != nil {
		return nil, BinaryInfo{}, flaw.InFile(err, name)
	}
	return data, BinaryInfo{PointerSize: h.ptr}, nil
}

func findMap(name string, data []byte, arch string) ([]byte, BinaryInfo, error) {
	im, err := object.Parse(name, data, arch)
	if err != nil {
		return nil, BinaryInfo{}, err
	}
	info := BinaryInfo{Format: "ELF", Arch: im.Arch, Type: binaryTypes[im.Kind], PointerSize: im.PtrSize, BuildID: im.BuildID}
	if im.Format == object.MachO {
		info.Format = "Mach-O"
	}
	if raw := im.Section(rawSection); raw != nil {
		info.RawSection, info.HasRawSection = raw.Addr, true
	}
	s := im.Section(mapSection)
	switch {
	case s == nil:
		err = noMap("missing")
	case im.Kind == object.Object:
		err = flaw.In("header").Field("type").Got("an object file").
			Want("a linked binary: the map has no addresses before").Unsupported()
	case im.Kind == object.Debug || s.FileSize == 0:
		err = noMap("without contents, as in a file of debug info")
	}
	if err != nil {
		return nil, info, err
	}
	m, err := im.Data(s)
	return m, info, err
}

// binaryTypes are the kinds that a file says it has; a PIE that does not say so is shared.
var binaryTypes = map[object.Kind]string{
	object.Executable: "executable", object.PIE: "PIE", object.Shared: "shared", object.Debug: "debug",
}

func noMap(found string) error {
	return flaw.In(mapSection).Field("section").Got(found).
		Want("the map of a program built with MIP instrumentation and not stripped").Mismatch()
}
