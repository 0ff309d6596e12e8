package buildid

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

func TestWrite(t *testing.T) {
	id := []byte{0x01, 0xab, 0xff}
	var b bytes.Buffer
	if err := Write(&b, id); err != nil {
		t.Fatal(err)
	}
	if got := b.String(); got != "build-id 01abff\n" {
		t.Errorf("wrote %q", got)
	}
	for _, tt := range []struct {
		in    string
		class error
	}{
		{b.String(), nil},
		{"# comment\r\nfuture x\r\n  build-id 01ABFF \r\nbuild-id 00\n", nil},
		{"", profile.ErrTruncated},
		{"build-id\n", profile.ErrCorrupt},
		{"build-id 01a\n", profile.ErrCorrupt},
		{"build-id zz\n", profile.ErrCorrupt},
		{strings.Repeat("x", 1<<20), profile.ErrTruncated},
		{"build-id " + strings.Repeat("00", maxSize+1), profile.ErrCorrupt},
	} {
		got, err := read(strings.NewReader(tt.in))
		if !errors.Is(err, tt.class) || err == nil && !bytes.Equal(got, id) {
			t.Errorf("%q: %x, error %v; want class %v", tt.in[:min(20, len(tt.in))], got, err, tt.class)
		}
	}
	if err := Write(&b, nil); err == nil {
		t.Error("an empty build id was written")
	}
}

func TestFind(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app.mip")
	if id, err := Find(path); id != nil || err != nil {
		t.Errorf("without a file: %x, %v", id, err)
	}
	for text, want := range map[string]string{"build-id 01ab\n": "\x01\xab", "build-id 0\n": "", "\n\n": ""} {
		oracle.WriteFile(t, path+Suffix, []byte(text))
		id, err := Find(path)
		var fe *profile.FormatError
		if string(id) != want || want == "" && (!errors.As(err, &fe) || fe.File != path+Suffix || fe.Line == 0 || fe.Section != "build id") {
			t.Errorf("%q: %x, %v", text, id, err)
		}
	}
	if err := os.Remove(path + Suffix); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(path+Suffix, 0o777); err != nil {
		t.Fatal(err)
	}
	var pe *fs.PathError
	if id, err := Find(path); id != nil || !errors.As(err, &pe) {
		t.Errorf("a folder: %x, %v", id, err)
	}
}
