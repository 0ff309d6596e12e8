package mip

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/profuse-pgo/profuse/internal/cursor"
	"github.com/profuse-pgo/profuse/profile"
)

// The sections of an instrumented binary; on Mach-O both are in __DATA.
const (
	mapSection = "__llvm_mipmap"
	rawSection = "__llvm_mipraw"
)

// BinaryType says how a linked binary is loaded.
type BinaryType int

const (
	BinaryUnknown    BinaryType = iota
	BinaryExecutable            // at the addresses it was linked for
	BinaryPIE                   // position-independent executable
	BinaryShared                // shared library, bundle, or a PIE that does not say so
	BinaryDebug                 // Mach-O dSYM: debug info only
)

// String returns "executable", "PIE", "shared", "debug" or "unknown".
func (t BinaryType) String() string {
	switch t {
	case BinaryExecutable:
		return "executable"
	case BinaryPIE:
		return "PIE"
	case BinaryShared:
		return "shared"
	case BinaryDebug:
		return "debug"
	}
	return "unknown"
}

// BinaryInfo says what a map was taken from.
type BinaryInfo struct {
	Format      string // "ELF", "Mach-O", or "" for a map that was already dumped
	Arch        string // as LLVM names it, "x86_64", "aarch64" or "arm64"; "" if unknown
	Type        BinaryType
	PointerSize int    // 4 or 8 bytes
	BuildID     []byte // GNU build id or LC_UUID; nil if there is none
	// RawSection is the address of the raw section, if HasRawSection:
	// [Function.Address] plus it is the function's address in the binary.
	RawSection    uint64
	HasRawSection bool
}

// BinaryOptions adjust [FindMap]. The zero value is right for most uses.
type BinaryOptions struct {
	// Arch chooses from a fat Mach-O file that has several architectures.
	// It means nothing to other files.
	Arch string
}

// IsBinary reports whether data begins like an ELF or Mach-O file.
func IsBinary(data []byte) bool { return binaryFormat(data) != nil }

// binaryFormat returns what finds the map in a file that begins like data.
func binaryFormat(data []byte) func([]byte, BinaryOptions) ([]byte, BinaryInfo, error) {
	if len(data) < 4 {
		return nil
	}
	switch binary.BigEndian.Uint32(data) {
	case elfMagic:
		return findMapELF
	case machoMagicFat, machoMagicFat64:
		return findMapFat
	case machoMagic32, machoMagic64, machoCigam32, machoCigam64:
		return findMapMachO
	}
	return nil
}

// FindMap finds the map in a linked binary held in data: the section
// __llvm_mipmap of an ELF or Mach-O file, also of a fat one. A map that was
// dumped before is returned as it is. name is used in errors. The map may be a
// part of data.
//
// Object files are refused: only linking gives the map its addresses.
func FindMap(name string, data []byte, opt BinaryOptions) ([]byte, BinaryInfo, error) {
	if find := binaryFormat(data); find != nil {
		m, info, err := find(data, opt)
		return m, info, profile.InFile(err, name)
	}
	h, err := parseHeader(data)
	if err == nil && h.fileType != FileMap {
		err = headerError(fileTypeAt, CodeBadFileType, nil, "FileType", h.fileType.String(), FileMap.String(),
			toolHex(uint64(h.typeWord)), toolHex(fileTypeBMap))
	}
	if err != nil {
		return nil, BinaryInfo{}, profile.InFile(err, name)
	}
	return data, BinaryInfo{PointerSize: h.ptr}, nil
}

// BinaryFile returns the file to look into for a path that the user gave: the
// one DWARF file inside if the path is a .dSYM bundle, otherwise the path.
func BinaryFile(path string) (string, error) {
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return path, err
	}
	dir := filepath.Join(path, "Contents", "Resources", "DWARF")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	if len(entries) != 1 {
		var names []string
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return "", profile.InFile(errorIn("bundle", -1, &MIPError{Code: CodeObjects, Found: fmt.Sprint(len(names))}, "number of objects",
			strings.TrimSuffix(fmt.Sprintf("%d: %s", len(names), strings.Join(names, ", ")), ": "), "1"), path)
	}
	return filepath.Join(dir, entries[0].Name()), nil
}

// part returns size bytes of data from offset off, which the section or header
// named what says are there.
func part(data []byte, off, size uint64, what string) ([]byte, error) {
	if off > uint64(len(data)) || size > uint64(len(data))-off {
		return nil, errorIn(what, -1, profile.ErrTruncated, "place in the file",
			fmt.Sprintf("%d bytes at %#x", size, off), fmt.Sprintf("within the %d bytes of the file", len(data)))
	}
	return data[off : off+size : off+size], nil
}

// noMap is the error of a binary without a map.
func noMap(found string) error {
	return errorIn(mapSection, -1, profile.ErrMismatch, "section", found,
		"the map of a program built with MIP instrumentation and not stripped")
}

func notLinked() error {
	return errorIn("header", -1, profile.ErrUnsupported, "type", "an object file", "a linked binary: the map has no addresses before")
}

// Magic numbers, as read from the file in big-endian order.
const (
	elfMagic        = 0x7f454c46
	machoMagic32    = 0xfeedface
	machoMagic64    = 0xfeedfacf
	machoCigam32    = 0xcefaedfe // the same in little-endian files
	machoCigam64    = 0xcffaedfe
	machoMagicFat   = 0xcafebabe // always big-endian
	machoMagicFat64 = 0xcafebabf
)

// findMapFat finds the map in one of the files of a fat one:
// u32 magic | u32 count | count × { u32 CPU type | u32 subtype | offset | size |
// u32 alignment }, where offset and size have 32 bits, or 64 and u32 reserved
// at the end.
func findMapFat(data []byte, opt BinaryOptions) ([]byte, BinaryInfo, error) {
	c := cursor.New("fat header", 0, data, binary.BigEndian)
	width, entry := 4, 20
	if c.U32("magic") == machoMagicFat64 {
		width, entry = 8, 32
	}
	var (
		archs  []string
		chosen []byte
		n      = c.Count(uint64(c.U32("number of architectures")), entry, "number of architectures")
	)
	for c.Record = 0; c.Record < n && c.Err() == nil; c.Record++ {
		arch := machoArch(c.U32("CPU type"), c.U32("CPU subtype"))
		off, size := c.Ptr(width, "offset"), c.Ptr(width, "size")
		c.U32("alignment")
		if width == 8 {
			c.U32("reserved")
		}
		archs = append(archs, arch)
		if c.Err() != nil || arch != opt.Arch && n > 1 {
			continue
		}
		var err error
		if chosen, err = part(data, off, size, arch); err != nil {
			return nil, BinaryInfo{}, err
		}
	}
	if c.Err() != nil {
		return nil, BinaryInfo{}, c.Err()
	}
	if chosen == nil {
		found := opt.Arch
		if found == "" {
			found = "not chosen"
		}
		return nil, BinaryInfo{}, errorIn("fat header", -1, profile.ErrMismatch, "architecture", found, "one of "+strings.Join(archs, ", "))
	}
	return findMapMachO(chosen, opt)
}

// cString returns the text up to the first zero byte, or all.
func cString(b []byte) string {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return string(b)
}
