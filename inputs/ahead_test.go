package inputs

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/profuse-pgo/profuse/test/oracle"
)

// TestReadAhead: files are read ahead as long as reading is slow, more and more of them, and none if it is not.
func TestReadAhead(t *testing.T) {
	dir := t.TempDir()
	var names []string
	for i := range 100 {
		names = append(names, filepath.Join(dir, fmt.Sprint(i)))
		oracle.WriteFile(t, names[i], []byte("profile"))
	}
	asked := 0
	r := new(Reader)
	defer r.Close()
	r.Ahead = func() (Input, bool) {
		if asked == len(names) {
			return Input{}, false
		}
		asked++
		return File(names[asked-1], Options{}), true
	}
	wait := func() {
		for r.running.Load() > 0 {
			time.Sleep(time.Millisecond)
		}
	}
	read := func(took time.Duration) int32 {
		r.took(took, len("profile"))
		before := r.wanted.Load()
		r.readAhead()
		wait()
		return before
	}
	if read(time.Microsecond); asked != 0 {
		t.Fatalf("%d files read ahead although reading was quick", asked)
	}
	if wanted := read(time.Second); wanted != 1 || asked == 0 {
		t.Fatalf("%d wanted, %d files read ahead after one slow reading", wanted, asked)
	}
	for range 10 {
		r.took(time.Second, 0)
	}
	if wanted := r.wanted.Load(); wanted != maxAhead {
		t.Fatalf("%d wanted after many slow readings, want %d", wanted, maxAhead)
	}
	for range maxAhead {
		r.took(time.Microsecond, 0)
	}
	before := asked
	if read(time.Microsecond); asked != before {
		t.Fatalf("%d more files read ahead after many quick readings", asked-before)
	}
	if r.took(900*time.Microsecond, 1<<20) {
		t.Error("a MB in 0.9 ms is slow")
	}
	if !r.took(900*time.Microsecond, 100) {
		t.Error("100 bytes in 0.9 ms are quick")
	}
}
