package merging

import (
	"errors"
	"os"
	"testing"

	"github.com/profuse-pgo/profuse/merge"
)

// A quarantine links or moves files, copies members, and says why.
func TestQuarantine(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, move := range []bool{false, true} {
		if err := os.WriteFile("bad", []byte("x"), 0o666); err != nil {
			t.Fatal(err)
		}
		q, err := openQuarantine("odd")
		if err != nil {
			t.Fatal(err)
		}
		q.move, q.reason = move, func(a *merge.Account) []byte { return []byte(a.Err.Error()) }
		q.add(&merge.Account{File: "good"})
		q.add(&merge.Account{File: "bad", Err: errors.New("why")})
		q.add(&merge.Account{File: "../a.tar!m", Data: []byte("m"), Err: errors.New("also")})
		if err := q.finish(true); err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]string{
			"odd/bad": "x", "odd/bad" + reasonSuffix: "why", "odd/_up/a.tar!m": "m", "odd/_up/a.tar!m" + reasonSuffix: "also",
		} {
			if got, err := os.ReadFile(name); err != nil || string(got) != want {
				t.Errorf("move %v: %s: %q, %v", move, name, got, err)
			}
		}
		if _, err := os.Stat("bad"); (err != nil) != move {
			t.Errorf("move %v: %v", move, err)
		}
		if !q.holds("odd/x/y") || q.holds("bad") {
			t.Error("what is in it and what is not")
		}
	}
}
