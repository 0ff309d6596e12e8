package watch

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/hostile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

func testJournal() *journal {
	return &journal{
		before: outputState{Total: Total{0, 0}},
		after:  outputState{contentID{1, 2, 3}, Total{3, 14}},
		has:    []*entry{{path: "/in/a b\n\"\xff", id: fileID{1, -5, 1<<64 - 1}, content: contentID{9}}},
		adds: []*entry{
			{path: "/in/1", id: fileID{1 << 62, 1, 0}, content: contentID{8}, part: true},
			{path: "/in/2", id: fileID{0, 0, 7}, content: contentID{7}},
		},
		ended: true,
	}
}

var journalDiff = cmp.AllowUnexported(journal{}, outputState{}, entry{}, fileID{})

func TestJournalRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	if j, err := readJournal(path); j != nil || err != nil {
		t.Errorf("%v, %v where there is none", j, err)
	}
	for _, want := range []*journal{testJournal(), {}} {
		oracle.NoError(t, want.write(path))
		got := oracle.Must(readJournal(path))(t)
		if diff := cmp.Diff(want, got, journalDiff); diff != "" {
			t.Error(diff)
		}
	}
}

// TestJournalDamaged cuts a journal at every byte and flips every bit.
func TestJournalDamaged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	oracle.NoError(t, testJournal().write(path))
	data := oracle.ReadFile(t, path)
	check := func(what string, at int, data []byte) {
		if _, err := parseJournal(data); !errors.Is(err, profile.ErrCorrupt) {
			t.Errorf("%s at %d: %v", what, at, err)
		}
	}
	for i, cut := range hostile.Cuts(data, 1) {
		check("cut", i, cut)
	}
	for bit, flipped := range hostile.Flips(data, 1) {
		check("flipped", bit, flipped)
	}
	check("longer", len(data), append(data, '\n'))
}

// TestJournalLines: a line that says nothing is told with its number, also if the sum is right.
func TestJournalLines(t *testing.T) {
	hash := strings.Repeat("ab", 32)
	for _, tc := range []struct {
		body  string
		line  int
		field string
	}{
		{"", 0, "last line"},
		{"another head\n", 1, "head"},
		{journalHead + "\nbefore none 0\n", 2, "line: EOF"},
		{journalHead + "\nbefore none 0 0\nafter " + hash[1:] + " 1 1\n", 3, "line: encoding/hex: odd length hex string"},
		{journalHead + "\nafter " + hash[2:] + " 1 1\n", 2, "line: 31 bytes, want 32"},
		{journalHead + "\nhas whole 1 2\n", 2, "line: EOF"},
		{journalHead + "\nadds part 1 2 3 xx \"/a\"\n", 2, "line: encoding/hex: invalid byte: U+0078 'x'"},
		{journalHead + "\nbegin\n", 2, "line: unknown word"},
	} {
		data := []byte(tc.body)
		if tc.body != "" {
			data = appendSum(data)
		}
		j, err := parseJournal(data)
		var fe *profile.FormatError
		if j != nil || !errors.As(err, &fe) || profile.ClassOf(fe) != profile.ErrCorrupt || fe.Section != "journal" || fe.Line != tc.line || fe.Field != tc.field {
			t.Errorf("%q: %+v", tc.body, err)
		}
	}
}

func TestJournalSettle(t *testing.T) {
	j := testJournal()
	for hash, want := range map[contentID]int{{1, 2, 3}: 3, {}: 1, {5}: -1} {
		_, has, known := j.stateOf(hash)
		if known != (want >= 0) || known && len(has) != want {
			t.Errorf("%v: %d entries, %v; want %d", hash, len(has), known, want)
		}
	}
	// An addition may change nothing.
	j.before = j.after
	if state, has, _ := j.stateOf(j.after.hash); state != j.after || len(has) != 3 {
		t.Errorf("%d entries", len(has))
	}
}

// What was read can be written and read again unchanged.
func FuzzJournal(f *testing.F) {
	path := filepath.Join(f.TempDir(), "j")
	oracle.NoError(f, testJournal().write(path))
	data := oracle.ReadFile(f, path)
	f.Add(string(data[:len(data)-len("sum ")-2*32-1]))
	f.Fuzz(func(t *testing.T, body string) {
		j, err := parseJournal(appendSum([]byte(body)))
		if err != nil {
			if !errors.Is(err, profile.ErrCorrupt) {
				t.Errorf("%v", err)
			}
			return
		}
		again := oracle.Must(parseJournal(j.append(nil)))(t)
		if diff := cmp.Diff(j, again, journalDiff); diff != "" {
			t.Error(diff)
		}
	})
}
