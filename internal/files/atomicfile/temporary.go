package atomicfile

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// A temporary is a file that is being written and has no name of its own yet.
//
// Its process holds a lock on it (see lockTemp), which the system releases when the
// process ends, however it ends: a temporary file that can be locked is abandoned.
type temporary struct {
	f      *os.File
	lock   *os.File // keeps the lock when f is closed; nil where there are no locks
	folder string   // that ends with it; "" for none
}

// live are the temporary files of this process.
var live struct {
	sync.Mutex
	files map[*temporary]bool
	swept map[string]bool // folders that removeAbandonedOnce has looked through
	ended bool            // RemoveAll was called
}

// errEnding is the error of a process that creates or commits a file after RemoveAll.
var errEnding = errors.New("the process is ending")

// RemoveAll removes all temporary files of this process. It is for a process that is
// about to exit without waiting for those who write: from now on, Create and Commit
// fail. What Commit has put in place stays.
func RemoveAll() {
	live.Lock()
	defer live.Unlock()
	live.ended = true
	for t := range live.files {
		// Windows removes no open file. Elsewhere a writer need not see an error.
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

// createTemp makes a temporary file in a folder, with the permission bits of like
// unless that is nil.
func createTemp(dir string, like fs.FileInfo) (*temporary, error) {
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
		// The name has 128 random bits. If it exists nevertheless, somebody guessed
		// it or the file system is broken; O_EXCL refuses both.
		f, err := os.OpenFile(dir+tempName(), os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
		if err != nil {
			return nil, err
		}
		t := &temporary{f: f}
		ok := false
		if t.lock, ok, err = lockTemp(f); err == nil && !ok {
			// Another process took it for abandoned, as it had no lock yet.
			if err = t.discardFiles(); err == nil || errors.Is(err, fs.ErrNotExist) {
				continue
			}
			return nil, err
		}
		if err == nil && like != nil {
			err = f.Chmod(like.Mode().Perm())
		}
		if err != nil {
			return nil, errors.Join(err, t.discardFiles())
		}
		if live.files == nil {
			live.files = make(map[*temporary]bool)
		}
		live.files[t] = true
		return t, nil
	}
}

// tempName returns a new name for a temporary file.
func tempName() string { return tempPrefix + strings.ToLower(rand.Text()) + tempSuffix }

// isTempName reports whether tempName may have made name: unlike [IsTemp], which
// names what is no input, it must not take a user's file for a temporary one.
func isTempName(name string) bool {
	random, ok := strings.CutPrefix(name, tempPrefix)
	random, ok2 := strings.CutSuffix(random, tempSuffix)
	return ok && ok2 && len(random) == len(rand.Text()) && strings.Trim(random, "abcdefghijklmnopqrstuvwxyz234567") == ""
}

// commit closes the file and moves it to path, with the given modification time
// unless that is zero. If it fails, it removes the file and says what failed.
func (t *temporary) commit(path string, modified time.Time) (op string, err error) {
	live.Lock()
	defer live.Unlock()
	if !live.files[t] {
		t.discardFiles()
		return "replace", errEnding
	}
	delete(live.files, t)
	if err := t.f.Close(); err != nil {
		t.discardFiles()
		return "close", err
	}
	name := t.f.Name()
	if !modified.IsZero() {
		if err := os.Chtimes(name, time.Time{}, modified); err != nil {
			t.discardFiles()
			return "set the time of", err
		}
	}
	if err := os.Rename(name, path); err != nil {
		t.discardFiles()
		return "replace", err
	}
	// Not before: an unlocked temporary file is taken for abandoned.
	t.unlock()
	return "", nil
}

// commitNew closes the file and gives it the name path, unless there is a file of that
// name.
func (t *temporary) commitNew(path string) error {
	live.Lock()
	defer live.Unlock()
	if !live.files[t] {
		t.discardFiles()
		return errEnding
	}
	delete(live.files, t)
	err := t.f.Close()
	if err == nil {
		err = os.Link(t.f.Name(), path)
	}
	if err == nil || errors.Is(err, fs.ErrExist) {
		return errors.Join(err, t.discardFiles())
	}
	// Not all file systems have links. Whoever makes the empty file replaces it.
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err == nil {
		err = errors.Join(f.Close(), os.Rename(t.f.Name(), path))
	}
	if err != nil {
		t.discardFiles()
		return err
	}
	t.unlock()
	return nil
}

// discard closes and removes the file.
func (t *temporary) discard() error {
	live.Lock()
	defer live.Unlock()
	if !live.files[t] {
		t.discardFiles() // RemoveAll has removed it
		return nil
	}
	delete(live.files, t)
	return t.discardFiles()
}

func (t *temporary) discardFiles() error {
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
		t.lock.Close() // nothing was written through it
	}
}

// removeAbandonedOnce calls removeAbandoned once for each folder.
func removeAbandonedOnce(dir string) {
	live.Lock()
	done := live.swept[dir]
	if !done {
		if live.swept == nil {
			live.swept = make(map[string]bool)
		}
		live.swept[dir] = true
	}
	live.Unlock()
	if !done {
		removeAbandoned(dir)
	}
}

// removeAbandoned removes the temporary files in a folder, those of subfolders aside,
// whose processes have ended without removing them. Where the system cannot tell, it
// removes none; nor does it report errors. Create calls it once for each folder.
func removeAbandoned(dir string) {
	d, err := os.Open(dir)
	if err != nil {
		return
	}
	defer d.Close()
	for {
		entries, err := d.ReadDir(1024)
		for _, e := range entries {
			if e.Type().IsRegular() && isTempName(e.Name()) {
				removeIfAbandoned(d.Name() + string(os.PathSeparator) + e.Name())
			}
		}
		if err != nil {
			return
		}
	}
}

// A Scratch is a file without contents that anybody else sees. It is removed when the
// process ends, or by the next process that looks, see [IsTemp].
type Scratch struct {
	*os.File // open for writing
	temp     *temporary
}

// CreateScratch makes a scratch file in a folder.
func CreateScratch(folder string) (*Scratch, error) {
	folder = filepath.Clean(folder) + string(filepath.Separator)
	removeAbandonedOnce(folder)
	t, err := createTemp(folder, nil)
	if err != nil {
		return nil, err
	}
	return &Scratch{t.f, t}, nil
}

// Remove closes and removes the file.
func (s *Scratch) Remove() error { return s.temp.discard() }

// folderSuffix ends the name of a scratch folder, which begins with that of the temporary
// file whose lock says that it is in use.
const folderSuffix = ".d"

// A ScratchFolder is a folder that is removed with all that is in it, as a [Scratch] is.
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
		return nil, errors.Join(err, lock.temp.discardFiles())
	}
	lock.temp.folder = path
	return &ScratchFolder{path, lock}, nil
}

// Remove removes the folder.
func (s *ScratchFolder) Remove() error {
	return errors.Join(os.RemoveAll(s.Path), s.lock.Remove())
}
