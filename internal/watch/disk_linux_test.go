package watch

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestMoveToAnotherDisk: an archive on another disk gets copies, and one that is there already is not copied again.
func TestMoveToAnotherDisk(t *testing.T) {
	b := newBench(t)
	other, err := os.MkdirTemp("/dev/shm", "watch")
	if err != nil {
		t.Skip("no memory disk: ", err)
	}
	t.Cleanup(func() { os.RemoveAll(other) })
	var here, there unix.Stat_t
	if unix.Stat(b.dir, &here) != nil || unix.Stat(other, &there) != nil || here.Dev == there.Dev {
		t.Skip("/dev/shm is the disk of the temporary files")
	}
	b.opt.Archive = other
	b.put("1", "a 1")
	b.put("sub/2", "b 2")
	b.mustRun()
	b.wantOut("a 1, b 2")
	b.wantFiles(b.opt.Dir, "")
	b.wantFiles(other, "1 sub/2")

	// Another file of that name gets another name.
	b.put("1", "c 3")
	b.mustRun()
	b.wantOut("a 1, b 2, c 3")
	b.wantFiles(other, "1 1.1 sub/2")

	// A run that died between the copy and the removal of the file.
	b.put("3", "d 4")
	if point, reached := b.runUntil(4); !reached || point != "moved" {
		t.Fatalf("died at %q", point)
	}
	b.wantFiles(other, "1 1.1 3 sub/2")
	b.wantFiles(b.opt.Dir, "3")
	b.mustRun()
	b.wantOut("a 1, b 2, c 3, d 4")
	b.wantFiles(other, "1 1.1 3 sub/2")
	b.wantFiles(b.opt.Dir, "")
	if data, err := os.ReadFile(filepath.Join(other, "1.1")); err != nil || string(data) != "c 3" {
		t.Errorf("%q, %v", data, err)
	}
}
