package atomicfile

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/gofrs/flock"
)

// A temporary is a file that is being written and does not have its final name yet.
//
// Its process holds a lock on it (see lockTemp), which the system releases when the process ends,
// however it ends: a temporary file that can be locked is abandoned.
type temporary struct {
	f      *os.File
	lock   *flock.Flock // nil where there are no locks
	folder string       // of a [ScratchFolder]; "" for none
}

// live are the temporary files of this process.
var live = struct {
	sync.Mutex
	files map[*temporary]bool
	ended bool // RemoveAll was called
}{files: make(map[*temporary]bool)}

// errEnding is the error of Create and Commit after RemoveAll.
var errEnding = errors.New("the process is ending")

// RemoveAll removes all temporary files of a process that is about to exit without waiting for its
// writers: from now on, Create and Commit fail. Committed files stay.
func RemoveAll() {
	live.Lock()
	defer live.Unlock()
	live.ended = true
	for t := range live.files {
		// Windows does not remove open files. On other systems the writer sees no error.
		if os.Remove(t.f.Name()) != nil {
			t.f.Close()
			os.Remove(t.f.Name())
		}
		if t.folder != "" {
			os.RemoveAll(t.folder)
		}
	}
	clear(live.files)
}

// createTemp makes a temporary file in a folder, with the permission bits of like unless that is
// nil. It first removes abandoned files if it is the first call for the folder.
func createTemp(dir string, like fs.FileInfo) (*temporary, error) {
	if _, done := cleaned.LoadOrStore(dir, true); !done {
		removeAbandoned(dir)
	}
	perm := fs.FileMode(0o666) // before the umask
	if like != nil {
		perm = 0o600 // until it has its own
	}
	live.Lock()
	defer live.Unlock()
	if live.ended {
		return nil, errEnding
	}
	for {
		// The name has 128 random bits. O_EXCL refuses a name that somebody guessed.
		f, err := os.OpenFile(dir+tempName(), os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
		if err != nil {
			return nil, err
		}
		t := &temporary{f: f}
		ok := false
		if t.lock, ok, err = lockTemp(f); err == nil && !ok {
			// Another process took it for abandoned before it was locked.
			if err = t.remove(); err == nil || errors.Is(err, fs.ErrNotExist) {
				continue
			}
			return nil, err
		}
		if err == nil && like != nil {
			err = f.Chmod(like.Mode().Perm())
		}
		if err != nil {
			return nil, errors.Join(err, t.remove())
		}
		live.files[t] = true
		return t, nil
	}
}

func tempName() string { return tempPrefix + strings.ToLower(rand.Text()) + tempSuffix }

// isTempName reports whether tempName may have made name. It is stricter than [IsTemp], because a
// user's file must not be removed.
func isTempName(name string) bool {
	random, ok := strings.CutPrefix(name, tempPrefix)
	random, ok2 := strings.CutSuffix(random, tempSuffix)
	return ok && ok2 && len(random) == len(rand.Text()) && strings.Trim(random, "abcdefghijklmnopqrstuvwxyz234567") == ""
}

// commit closes the file and calls move, which gives it its final name. op is what failed; after an error the file is removed.
func (t *temporary) commit(move func(name string) (op string, err error)) (op string, err error) {
	live.Lock()
	defer live.Unlock()
	op, err = "replace", errEnding
	if live.files[t] {
		delete(live.files, t)
		if op, err = "close", t.f.Close(); err == nil {
			op, err = move(t.f.Name())
		}
	}
	if err != nil {
		t.remove()
		return op, err
	}
	t.unlock() // not before: an unlocked temporary file counts as abandoned
	return "", nil
}

func (t *temporary) discard() error {
	live.Lock()
	defer live.Unlock()
	there := live.files[t]
	delete(live.files, t)
	if err := t.remove(); there {
		return err
	}
	return nil // RemoveAll has removed it
}

// remove closes, removes and unlocks the file. The caller holds live.Mutex.
func (t *temporary) remove() error {
	err := t.f.Close()
	if errors.Is(err, os.ErrClosed) {
		err = nil
	}
	err = errors.Join(err, os.Remove(t.f.Name()))
	t.unlock()
	return err
}

func (t *temporary) unlock() {
	if t.lock != nil {
		t.lock.Unlock()
	}
}

// cleaned holds the folders in which createTemp has removed abandoned files.
var cleaned sync.Map

// removeAbandoned removes the temporary files in a folder whose processes have ended without
// removing them. It leaves subfolders alone and reports no errors. Where the system cannot tell
// whether a file is abandoned, it stays.
func removeAbandoned(dir string) {
	d, err := os.Open(dir)
	if err != nil {
		return
	}
	defer d.Close()
	for err == nil {
		var entries []fs.DirEntry
		entries, err = d.ReadDir(1024)
		for _, e := range entries {
			if e.Type().IsRegular() && isTempName(e.Name()) {
				removeIfAbandoned(filepath.Join(d.Name(), e.Name()))
			}
		}
	}
}

// A Scratch is a private temporary file. The process removes it or, if the process is killed, the
// next process that writes to the folder.
type Scratch struct {
	*os.File // open for writing
	temp     *temporary
}

// CreateScratch makes a scratch file in a folder.
func CreateScratch(folder string) (*Scratch, error) {
	folder = filepath.Clean(folder) + string(filepath.Separator)
	t, err := createTemp(folder, nil)
	if err != nil {
		return nil, err
	}
	return &Scratch{t.f, t}, nil
}

// Remove closes and removes the file.
func (s *Scratch) Remove() error { return s.temp.discard() }

// folderSuffix ends the name of a scratch folder. The rest is the name of the temporary file whose lock protects the folder.
const folderSuffix = ".d"

// A ScratchFolder is a folder that is removed with its contents like a [Scratch].
type ScratchFolder struct {
	Path string
	lock *Scratch
}

// CreateScratchFolder makes a folder in another.
func CreateScratchFolder(parent string) (*ScratchFolder, error) {
	lock, err := CreateScratch(parent)
	if err != nil {
		return nil, err
	}
	path := lock.Name() + folderSuffix
	live.Lock()
	defer live.Unlock()
	if !live.files[lock.temp] {
		return nil, errEnding
	}
	if err := os.Mkdir(path, 0o700); err != nil {
		delete(live.files, lock.temp)
		return nil, errors.Join(err, lock.temp.remove())
	}
	lock.temp.folder = path
	return &ScratchFolder{path, lock}, nil
}

// Remove removes the folder.
func (s *ScratchFolder) Remove() error {
	return errors.Join(os.RemoveAll(s.Path), s.lock.Remove())
}
