package iprof

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/fulldisk"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// forms are the forms of files: on one line, an entry per line, a number per line.
var forms = []WriteOptions{{}, {Lines: true}, {Indent: "  "}}

// TestFullDisk: on a full disk, Write says so and stops after the beginning of the file.
func TestFullDisk(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	large := randomProfile(rng, version110, 4000)
	randomEntriesMore(rng, large, 4000)
	for name, p := range map[string]*Profile{"small": readFixture(t, "fib.iprof"), "large": large} {
		for _, opt := range forms {
			if name == "large" && !opt.Lines && !oracle.Everything() {
				continue
			}
			whole := &fulldisk.Writer{Room: 1 << 30}
			must(t, Write(whole, p, opt))
			rooms := []int{0, 1, whole.Len() / 2}
			for _, at := range whole.Writes {
				rooms = append(rooms, at-1, at, at+1)
			}
			if several := len(whole.Writes) > 2; several != (name == "large") {
				t.Errorf("%s is written in %d parts", name, len(whole.Writes))
			}
			for _, room := range rooms {
				w := &fulldisk.Writer{Room: room}
				err := Write(w, p, opt)
				if room >= whole.Len() {
					must(t, err)
				} else if !errors.Is(err, fulldisk.ErrFull) {
					t.Errorf("%s, %+v, room for %d of %d bytes: %v", name, opt, room, whole.Len(), err)
				}
				if !bytes.HasPrefix(whole.Bytes(), w.Bytes()) || w.Len() != min(room, whole.Len()) {
					t.Errorf("%s, %+v, room for %d bytes: %d others are written", name, opt, room, w.Len())
				}
			}
		}
	}
}

// TestNamesInJSON: names of any characters come back as they were, however they are written.
func TestNamesInJSON(t *testing.T) {
	p := readFixture(t, "small.iprof")
	var all strings.Builder
	for c := range rune(0x80) {
		all.WriteRune(c)
	}
	all.WriteString("\u0080é\u2028\ufffd𠀀")
	p.Types[0].Name, p.Methods[0].Name = all.String(), all.String()
	for _, opt := range forms {
		q := read(t, encode(t, p, opt))
		if q.Types[0].Name != all.String() || q.Methods[0].Name != all.String() {
			t.Errorf("%+v: %q and %q, want %q", opt, q.Types[0].Name, q.Methods[0].Name, all.String())
		}
	}
	text := `{"version":"1.0.0","types":[{"id":1,"name":"\u00E9\uD83D\uDE00\ud83D\uDe00"}],"methods":[]}`
	if got := read(t, []byte(text)).Types[0].Name; got != "é😀😀" {
		t.Errorf("%q", got)
	}
}

// TestUnwritable: what JSON cannot hold is refused before anything is written.
func TestUnwritable(t *testing.T) {
	badMethod := readFixture(t, "small.iprof")
	badMethod.Methods[1].Name = "m\xff"
	badMember := readFixture(t, "future.iprof")
	badMember.Unknown[0].Raw = []byte(`{"a":`)
	var b bytes.Buffer
	err := Write(&b, badMethod, WriteOptions{})
	var fe *profile.FormatError
	if !errors.As(err, &fe) || profile.ClassOf(fe) != profile.ErrCorrupt || fe.Section != keyMethods || fe.Record != 1 || b.Len() > 0 {
		t.Errorf("%+v, %d bytes", err, b.Len())
	}
	if err := Write(&b, badMember, WriteOptions{Indent: "  "}); err == nil || b.Len() > 0 {
		t.Errorf("%v, %d bytes", err, b.Len())
	}
}

// TestOldVersionWithChecks: what is written anew gets the least version that holds it.
func TestOldVersionWithChecks(t *testing.T) {
	p := readFixture(t, "small-0.2.iprof")
	p.Version = version020
	if got := read(t, encode(t, p, WriteOptions{})).Version; got != version100 {
		t.Errorf("written as %s", got)
	}
	must(t, p.Sections[TypeChecks].add([]Frame{{p.Methods[0].ID, 7}}, int64(p.Types[0].ID), 12))
	q := read(t, encode(t, p, WriteOptions{}))
	if q.Version != version110 || q.Sections[TypeChecks].Len() != 1 {
		t.Errorf("written as %s with %d checks", q.Version, q.Sections[TypeChecks].Len())
	}
}
