package symbolize

import (
	"encoding/hex"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"sync"

	"github.com/profuse-pgo/profuse/internal/object"
)

// Folders finds programs and debug files by build id. Its methods may be called
// by several goroutines at once.
type Folders struct {
	dirs []string
	arch string

	mu      sync.Mutex
	scanned bool
	below   map[string][]string // paths by build id
}

// NewFolders returns a finder over folders, which it searches when [Folders.Find]
// first needs it. arch selects a slice of universal Mach-O files.
func NewFolders(dirs []string, arch string) *Folders {
	return &Folders{dirs: dirs, arch: arch}
}

// IsFolder reports whether path is a folder to find programs in. A .dSYM bundle
// is not: it stands for the file in it.
func IsFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir() && !isBundle(path)
}

// isBundle reports whether path has the name of a .dSYM bundle.
func isBundle(path string) bool { return filepath.Ext(filepath.Clean(path)) == ".dSYM" }

// Find iterates over files that may have the build id: first the paths
// DIR/.build-id/xx/yyyy.debug and DIR/.build-id/xx/yyyy, whether or not they exist,
// then the files below the folders that have it, in lexical order. A file may
// occur twice. If a folder of the list cannot be read, Find ends with an error;
// it skips unreadable files and folders below.
func (d *Folders) Find(id []byte) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		if len(id) == 0 {
			return
		}
		digits := hex.EncodeToString(id)
		for _, dir := range d.dirs {
			for _, suffix := range []string{".debug", ""} {
				if !yield(filepath.Join(dir, ".build-id", digits[:2], digits[2:]+suffix), nil) {
					return
				}
			}
		}
		paths, err := d.scan(id)
		for _, path := range paths {
			if !yield(path, nil) {
				return
			}
		}
		if err != nil {
			yield("", err)
		}
	}
}

// scan returns the files with the build id. Its first call walks the folders and
// indexes the files of all ids.
func (d *Folders) scan(id []byte) ([]string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.scanned {
		below := make(map[string][]string)
		for _, dir := range d.dirs {
			err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
				if err != nil {
					if path == dir {
						return err
					}
					return nil
				}
				if e.Type().IsRegular() && isProgram(path) {
					if f, err := Open(path, Options{Arch: d.arch}); err == nil {
						if own := string(f.BuildID()); own != "" {
							below[own] = append(below[own], path)
						}
						f.Close()
					}
				}
				return nil
			})
			if err != nil {
				return nil, err
			}
		}
		d.below, d.scanned = below, true
	}
	return d.below[string(id)], nil
}

// isProgram reports whether a file begins like one that Open reads.
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
