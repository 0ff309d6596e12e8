package watch

import (
	"errors"
	"fmt"
	"sync"

	"github.com/fsnotify/fsnotify"
	"golang.org/x/sys/unix"
)

// A notifier collects the paths that changed in some folders.
type notifier struct {
	w    *fsnotify.Watcher
	wake chan struct{} // signals that takePaths has paths

	mu    sync.Mutex
	dirty map[string]struct{}
	lost  bool
}

// remote names the file systems on which inotify does not report all changes: network file systems,
// and file systems served by a process.
var remote = map[uint32]string{
	unix.NFS_SUPER_MAGIC:   "NFS",
	unix.SMB_SUPER_MAGIC:   "SMB",
	unix.CIFS_SUPER_MAGIC:  "SMB",
	unix.SMB2_SUPER_MAGIC:  "SMB",
	unix.FUSE_SUPER_MAGIC:  "FUSE",
	unix.V9FS_MAGIC:        "9P",
	unix.AFS_SUPER_MAGIC:   "AFS",
	unix.AFS_FS_MAGIC:      "AFS",
	unix.CEPH_SUPER_MAGIC:  "Ceph",
	unix.CODA_SUPER_MAGIC:  "Coda",
	unix.NCP_SUPER_MAGIC:   "NCP",
	unix.OCFS2_SUPER_MAGIC: "OCFS2",
	0x0bd00bd0:             "Lustre",
	0x01161970:             "GFS2",
	0x47504653:             "GPFS",
	0x19830326:             "BeeGFS",
}

// newNotifier starts to collect changes. If the system does not report changes under root, why is the reason.
func newNotifier(root string) (n *notifier, why string) {
	var st unix.Statfs_t
	if err := unix.Statfs(root, &st); err != nil {
		return nil, err.Error()
	}
	if name, ok := remote[uint32(st.Type)]; ok {
		return nil, fmt.Sprintf("on %s the system does not tell of all changes", name)
	}
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, notifyProblem(err)
	}
	n = &notifier{w: w, wake: make(chan struct{}, 1), dirty: make(map[string]struct{})}
	go n.collect()
	return n, ""
}

// notifyProblem describes the error of an exceeded limit.
func notifyProblem(err error) string {
	switch {
	case errors.Is(err, unix.ENOSPC):
		return "there are more folders than fs.inotify.max_user_watches"
	case errors.Is(err, unix.EMFILE):
		return "there are more users of inotify than fs.inotify.max_user_instances, or too many open files"
	}
	return err.Error()
}

// maxDirty bounds the number of collected paths; beyond it the folder is scanned.
const maxDirty = 1 << 16

// collect reads the system's queue continuously, also during a merge, because the queue is short.
func (n *notifier) collect() {
	for {
		select {
		case e, ok := <-n.w.Events:
			if !ok {
				return
			}
			n.addPath(e.Name)
		case _, ok := <-n.w.Errors:
			if !ok {
				return
			}
			n.addPath("") // the queue overflowed or failed
		}
		select {
		case n.wake <- struct{}{}:
		default:
		}
	}
}

func (n *notifier) addPath(path string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if path == "" || len(n.dirty) >= maxDirty {
		n.lost = true
		clear(n.dirty)
		return
	}
	n.dirty[path] = struct{}{}
}

// add requests notifications of changes in a folder, but not below it.
func (n *notifier) add(dir string) (why string) {
	if err := n.w.Add(dir); err != nil {
		return notifyProblem(err)
	}
	return ""
}

// takePaths returns the paths that changed since the last call; lost reports that there were others.
func (n *notifier) takePaths() (paths map[string]struct{}, lost bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	paths, lost = n.dirty, n.lost
	n.dirty, n.lost = make(map[string]struct{}), false
	return paths, lost
}

func (n *notifier) close() { n.w.Close() }
