package symbolize

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/program/dwarf"
	"github.com/profuse-pgo/profuse/internal/program/object"
)

const systemDir = "/usr/lib/debug"

// A splitError says that the debug information of a unit is in a .dwo file that cannot be read.
type splitError struct {
	File string // the program
	Path string // the .dwo file, where the compiler put it
	Err  error
}

// Error names both files and the remedy.
func (e *splitError) Error() string {
	why := e.Err
	if path, ok := errors.AsType[*fs.PathError](why); ok {
		why = path.Err
	}
	return fmt.Sprintf("%s: debug information is split off into %s: %v (keep it, or make %s.dwp with llvm-dwp)",
		e.File, e.Path, why, filepath.Base(e.File))
}

func (e *splitError) Unwrap() error { return e.Err }

type debugInfo struct {
	file *File
	path string // where it was found
	data *dwarf.Data
	dwp  *dwarf.Data // units of split DWARF; may be nil
}

// DebugFile returns the path of the file with the debug information; "" if there is none.
func (f *File) DebugFile() (string, error) {
	d, err := f.debugData()
	if err != nil || d.data.Empty() {
		return "", err
	}
	return d.path, nil
}

func (f *File) openDebugInfo() (*debugInfo, error) {
	if f.image.Format != object.MachO && f.image.Kind == object.Object {
		return nil, flaw.File(f.Name).Field("kind of file").Got("a relocatable object").
			Want("a linked program or library").Unsupported()
	}
	d := &debugInfo{file: f, path: f.Name}
	image := f.image
	if s := dwarfSection(image, "info", false); (s == nil || s.FileSize == 0) && !f.opt.NoDebugFiles {
		separate, err := f.separateImage()
		if err != nil {
			return nil, err
		}
		if separate != nil {
			image, d.path = separate, separate.Name
		}
	}
	dwp, err := f.openDWP(d.path)
	if err != nil {
		return nil, err
	}
	err = f.guard(func() error {
		if dwp != nil {
			d.dwp, err = openDWARF(dwp, dwarf.Config{Split: true})
			if err != nil {
				return err
			}
		}
		d.data, err = openDWARF(image, dwarf.Config{OpenSplit: d.openSplit})
		return err
	})
	return d, err
}

func dwarfSection(image *object.Image, name string, split bool) *object.Section {
	if image.Format == object.MachO {
		for _, prefix := range []string{"__debug_", "__zdebug_"} {
			n := prefix + name
			if s := image.Section(n[:min(len(n), 16)]); s != nil {
				return s
			}
		}
		return nil
	}
	// The index of a package file has no .dwo in its name.
	if split && name != "cu_index" {
		name += ".dwo"
	}
	if s := image.Section(".debug_" + name); s != nil {
		return s
	}
	return image.Section(".zdebug_" + name)
}

func openDWARF(image *object.Image, c dwarf.Config) (*dwarf.Data, error) {
	c.FileSize = image.Len()
	c.Name, c.BigEndian = image.Name, image.Order == binary.ByteOrder(binary.BigEndian)
	var sections dwarf.Sections
	err := sections.Each(func(name string, to *[]byte) (err error) {
		if s := dwarfSection(image, name, c.Split); s != nil {
			*to, err = image.Data(s)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return dwarf.New(sections, c), nil
}

// openImage opens another file, which is closed together with f.
func (f *File) openImage(path string) (*object.Image, error) {
	data, err := object.Open(f.opt.imageFile(path, nil))
	if err != nil {
		return nil, err
	}
	var image *object.Image
	err = object.Guard(func() error {
		image, err = parse(path, data.Bytes(), f.image.Arch)
		return err
	}, data)
	if err != nil {
		data.Close()
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.open = append(f.open[:len(f.open):len(f.open)], data)
	return image, nil
}

// separateImage finds the file with the debug information of a stripped file. It
// skips files with another build id or checksum.
func (f *File) separateImage() (*object.Image, error) {
	if f.image.Format == object.MachO {
		if f.path == "" {
			return nil, nil
		}
		return f.matching(filepath.Join(f.path+".dSYM", object.BundleFolder, filepath.Base(f.path))), nil
	}
	if id := hex.EncodeToString(f.image.BuildID); len(id) > 2 {
		for _, dir := range f.debugDirs() {
			if im := f.matching(filepath.Join(dir, ".build-id", id[:2], id[2:]+".debug")); im != nil {
				return im, nil
			}
		}
	}
	var name string
	var crc uint32
	var ok bool
	err := f.guard(func() error {
		name, crc, ok = f.image.DebugLink()
		return nil
	})
	if err != nil || !ok || f.path == "" {
		return nil, err
	}
	name = filepath.Base(name) // the section may contain a path
	dir := filepath.Dir(f.path)
	paths := []string{filepath.Join(dir, name), filepath.Join(dir, ".debug", name)}
	if abs, err := filepath.Abs(dir); err == nil {
		for _, debugDir := range f.debugDirs() {
			paths = append(paths, filepath.Join(debugDir, abs, name))
		}
	}
	for _, path := range paths {
		if !isRegular(path) {
			continue
		}
		if sum, err := f.opt.fileCRC(path); err == nil && sum == crc {
			if im, err := f.openImage(path); err == nil {
				return im, nil
			}
		}
	}
	return nil, nil
}

func (f *File) debugDirs() []string {
	if f.opt.DebugDirs == nil {
		return []string{systemDir}
	}
	return f.opt.DebugDirs
}

func (f *File) matching(path string) *object.Image {
	if !isRegular(path) {
		return nil
	}
	im, err := f.openImage(path)
	if err != nil || len(im.BuildID) == 0 || !bytes.Equal(im.BuildID, f.image.BuildID) {
		return nil
	}
	return im
}

func isRegular(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// fileCRC returns the CRC-32 of a file, as in .gnu_debuglink.
func (o *Options) fileCRC(path string) (sum uint32, err error) {
	err = object.ReadFile(o.imageFile(path, nil), func(data []byte) error {
		sum = crc32.ChecksumIEEE(data)
		return nil
	})
	return sum, err
}

// openDWP opens the package file of split units. A missing file is an error only if [Options.DWP] names it.
func (f *File) openDWP(debugPath string) (*object.Image, error) {
	path := f.opt.DWP
	if path == "" {
		if f.path == "" || f.image.Format != object.ELF {
			return nil, nil
		}
		path = debugPath + ".dwp"
		if !isRegular(path) {
			return nil, nil
		}
	}
	return f.openImage(path)
}

// openSplit returns the package file if it has the unit, else the unit's .dwo file. It reads
// .dwo files instead of mapping them: each serves one unit.
func (d *debugInfo) openSplit(dwoName, compDir string, id uint64) (*dwarf.Data, error) {
	if d.dwp != nil && d.dwp.HasSplit(id) {
		return d.dwp, nil
	}
	path := dwoName
	if !filepath.IsAbs(path) {
		path = filepath.Join(compDir, path)
	}
	data, err := readRegular(path)
	if err != nil && !filepath.IsAbs(dwoName) && d.file.path != "" {
		// LLVM looks only in the folder of the compilation, but users move build folders.
		beside := filepath.Join(filepath.Dir(d.file.path), dwoName)
		if b, besideErr := readRegular(beside); besideErr == nil {
			path, data, err = beside, b, nil
		}
	}
	var split *dwarf.Data
	if err == nil {
		var image *object.Image
		if image, err = parse(path, data, d.file.image.Arch); err == nil {
			split, err = openDWARF(image, dwarf.Config{Split: true})
		}
	}
	if err != nil {
		return nil, &splitError{File: d.path, Path: path, Err: err}
	}
	return split, nil
}

// maxDWO bounds the size in bytes of a .dwo file, which holds the debug information of one source file.
const maxDWO = 2 << 30

// readRegular reads a regular file that the debug information names. It refuses
// others: reading a device may never end, and reading a pipe may block.
func readRegular(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxDWO {
		return nil, &fs.PathError{Op: "open", Path: path, Err: errors.New("not a regular file of up to 2 GiB")}
	}
	return os.ReadFile(path)
}
