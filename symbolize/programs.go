package symbolize

import (
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/internal/files/atomicfile"
	"github.com/profuse-pgo/profuse/internal/program/object"
)

// Programs finds the programs and libraries of profiles: files given by name, and files in folders and archives, by
// build id. It is safe for concurrent use. The zero value is empty; only Close must not be called on it.
type Programs struct {
	Names   []string // paths of files that were given by name
	Files   []*File  // opened by Names, in their order
	Folders []string // folders and archives, searched on demand
	// Unpacked has the paths of the programs in archives, by the names that Find and ByID return. The files exist
	// from the first of these calls until Close.
	Unpacked map[string]string

	opt Options

	mu     sync.Mutex
	below  map[string][]string // paths in the folders, by build id; nil until a scan
	opened map[string]*File    // files in the folders, by path; nil for unreadable ones

	scratch *atomicfile.ScratchFolder // of the members of archives; nil if there are none
}

// OpenPrograms opens the ELF and Mach-O files among the paths, including separate files
// with debug information (.debug, .dSYM). It searches folders and archives among them on demand: then it unpacks the
// programs of archives into a temporary folder, which Close removes.
func OpenPrograms(paths []string, opt Options) (*Programs, error) {
	p := &Programs{opt: opt, opened: make(map[string]*File)}
	for _, path := range paths {
		if object.IsFolder(path) {
			p.Folders = append(p.Folders, path)
			continue
		}
		f, err := Open(path, opt)
		switch {
		case err != nil && opt.Skip != nil && opt.Skip(err):
			continue
		case err != nil:
			return nil, errors.Join(err, p.Close())
		}
		p.Names, p.Files = append(p.Names, path), append(p.Files, f)
	}
	return p, nil
}

// Close closes all files.
func (p *Programs) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var errs []error
	for _, f := range p.Files {
		errs = append(errs, f.Close())
	}
	for _, f := range p.opened {
		if f != nil {
			errs = append(errs, f.Close())
		}
	}
	if p.scratch != nil {
		errs = append(errs, p.scratch.Remove())
	}
	p.Names, p.Files, p.Folders, p.opened, p.scratch = nil, nil, nil, make(map[string]*File), nil
	return errors.Join(errs...)
}

// Find iterates over the files with a build id: those given by name, then in each folder
// DIR/.build-id/xx/yyyy.debug and DIR/.build-id/xx/yyyy, then those anywhere below the folders, in lexical order.
// If a folder cannot be read, Find ends with an error; it skips unreadable files in folders.
func (p *Programs) Find(id []byte) iter.Seq2[*File, error] {
	return func(yield func(*File, error) bool) {
		if len(id) == 0 {
			return
		}
		for _, f := range p.Files {
			if bytes.Equal(f.BuildID, id) && !yield(f, nil) {
				return
			}
		}
		if len(p.Folders) == 0 {
			return
		}
		seen := make(map[*File]bool)
		try := func(path string) bool {
			f := p.open(path)
			if f == nil || seen[f] || !bytes.Equal(f.BuildID, id) {
				return true
			}
			seen[f] = true
			return yield(f, nil)
		}
		digits := hex.EncodeToString(id)
		for _, dir := range p.Folders {
			for _, suffix := range []string{".debug", ""} {
				if !try(filepath.Join(dir, ".build-id", digits[:2], digits[2:]+suffix)) {
					return
				}
			}
		}
		below, err := p.ByID()
		for _, path := range below[string(id)] {
			if !try(path) {
				return
			}
		}
		if err != nil {
			yield(nil, err)
		}
	}
}

// ByID returns the paths of the linked files below the folders by build id, in lexical order for each id.
// Files without a build id are under "". ByID skips unreadable files, and ends with an error as Find does.
func (p *Programs) ByID() (map[string][]string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.below == nil {
		if err := p.scan(); err != nil {
			return nil, err
		}
	}
	return p.below, nil
}

func (p *Programs) open(path string) *File {
	p.mu.Lock()
	defer p.mu.Unlock()
	f, ok := p.opened[path]
	if !ok {
		if opened, err := p.openBelow(path); err == nil {
			f = opened
		}
		p.opened[path] = f
	}
	return f
}

// openBelow opens a file in a folder or archive.
func (p *Programs) openBelow(path string) (*File, error) {
	if unpacked, ok := p.Unpacked[path]; ok {
		return openAs(path, unpacked, p.opt)
	}
	return Open(path, p.opt)
}

// scan walks the folders, unpacks the archives, and sets below.
func (p *Programs) scan() error {
	below := make(map[string][]string)
	add := func(path string) {
		f, err := p.openBelow(path)
		if err != nil {
			return
		}
		if own := string(f.BuildID); own != "" || f.image.Kind != object.Object {
			below[own] = append(below[own], path)
		}
		f.Close()
	}
	for _, dir := range p.Folders {
		members, err := p.unpack(dir)
		if err != nil {
			return err
		}
		for _, name := range members {
			add(name)
		}
		if members != nil {
			continue
		}
		err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			switch {
			case err != nil && path == dir:
				return err
			case err == nil && e.Type().IsRegular() && isProgram(path):
				add(path)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	p.below = below
	return nil
}

// unpack unpacks the programs of an archive and returns their names in lexical order; nil for a folder.
func (p *Programs) unpack(path string) (members []string, err error) {
	if info, err := os.Stat(path); err != nil || info.IsDir() {
		return nil, err
	}
	if p.scratch == nil {
		if p.scratch, err = atomicfile.CreateScratchFolder(os.TempDir()); err != nil {
			return nil, err
		}
		p.Unpacked = make(map[string]string)
	}
	in := p.opt.imageFile(path, func(name string, src io.Reader) error {
		f, err := os.CreateTemp(p.scratch.Path, "")
		if err != nil {
			return err
		}
		members = append(members, name)
		p.Unpacked[name] = f.Name()
		_, err = io.Copy(f, src)
		if closed := f.Close(); err == nil {
			err = closed
		}
		return err
	})
	members = []string{} // not nil
	err = in.Each(nil, func(*inputs.Data) error { return nil })
	slices.Sort(members)
	return slices.Compact(members), err
}

func isBundle(path string) bool { return filepath.Ext(filepath.Clean(path)) == ".dSYM" }

func isProgram(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	var head [object.HeadSize]byte
	n, _ := io.ReadFull(f, head[:])
	return object.IsImage(head[:n])
}
