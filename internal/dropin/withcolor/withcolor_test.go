package withcolor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/profuse-pgo/profuse/test/oracle"
)

func TestMessages(t *testing.T) {
	var b strings.Builder
	m := Messages{W: &b}
	m.Error("a")
	m.Warning("b")
	m.Remark("c")
	m.Note("d")
	m.Color = true
	m.Remark("e")
	want := "error: a\nwarning: b\nremark: c\nnote: d\n\x1b[0;1;34mremark: \x1b[0me\n"
	if b.String() != want {
		t.Errorf("printed %q, want %q", b.String(), want)
	}
}

func TestMode(t *testing.T) {
	t.Setenv("TERM", "xterm")
	var m Mode
	f := oracle.Must(os.Create(filepath.Join(t.TempDir(), "f")))(t)
	defer f.Close()
	if m.Enabled(f) {
		t.Error("a file is coloured")
	}
	if m.Set(true); !m.Enabled(f) {
		t.Error("--color has no effect")
	}
	if m.Set(false); m.Enabled(f) {
		t.Error("--color=0 has no effect")
	}
}

func TestStrerror(t *testing.T) {
	err := fmt.Errorf("wrapped: %w", &fs.PathError{Op: "open", Path: "x", Err: syscall.EISDIR})
	if s, ok := Strerror(err); !ok || s != "Is a directory" && os.PathSeparator == '/' {
		t.Errorf("%q, %v", s, ok)
	}
	if _, ok := Strerror(errors.New("x")); ok {
		t.Error("not a system error")
	}
}
