package merge

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// folder lays out files, and archives of three files after every third.
func folder(t *testing.T, files int) (ins []inputs.Input, names []string) {
	t.Helper()
	dir := t.TempDir()
	write := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		oracle.WriteFile(t, path, data)
		ins = append(ins, inputs.File(path, inputs.Options{}))
		return path
	}
	for i := range files {
		names = append(names, write(fmt.Sprintf("%03d", i), fmt.Appendf(nil, "file %d", i)))
		if i%3 != 2 {
			continue
		}
		var b bytes.Buffer
		w := tar.NewWriter(&b)
		members := []string{"a", "b", "c"}
		for _, m := range members {
			must(t, w.WriteHeader(&tar.Header{Name: m, Mode: 0o644, Size: 1}))
			io.WriteString(w, m)
		}
		must(t, w.Close())
		path := write(fmt.Sprintf("%03d.tar", i), b.Bytes())
		for _, m := range members {
			names = append(names, path+"!"+m)
		}
	}
	return ins, names
}

// Every profile gets its index among all, with any number of workers, and an account.
func TestOrdered(t *testing.T) {
	ins, want := folder(t, 60)
	for _, workers := range []int{1, 2, 7, 40} {
		var mu sync.Mutex
		names := make([]string, len(want))
		accounts := make(map[string]int)
		ended := 0
		adders := slices.Repeat([]Adder{func(p *Profile) (*Contribution, error) {
			mu.Lock()
			defer mu.Unlock()
			names[p.Index] = p.Name
			return nil, nil
		}}, workers)
		err := Run(t.Context(), ins, adders, Options{
			Ordered: true,
			Ended: func(a *Account) {
				mu.Lock()
				defer mu.Unlock()
				accounts[fmt.Sprintf("%d %d", a.Input, a.Member)]++
			},
			InputEnded: func(input, profiles int) {
				mu.Lock()
				defer mu.Unlock()
				ended += profiles
			},
		})
		must(t, err)
		if !slices.Equal(names, want) {
			t.Errorf("%d workers: names %q", workers, names)
		}
		if len(accounts) != len(want) || ended != len(want) {
			t.Errorf("%d workers: %d accounts, %d profiles of inputs, want %d", workers, len(accounts), ended, len(want))
		}
	}
}

// What an adder refuses is left out, and so is what cannot be read.
func TestLeftOut(t *testing.T) {
	ins, _ := folder(t, 9)
	ins = append(ins, inputs.File(filepath.Join(t.TempDir(), "nothing"), inputs.Options{}))
	for _, ordered := range []bool{false, true} {
		var accounts Accounts
		refused := flaw.Field("").Corrupt()
		adder := func(p *Profile) (*Contribution, error) {
			p.Rescue(profile.Rescued{Function: "f", Err: refused})
			if strings.HasSuffix(p.Name, "!b") {
				return nil, refused
			}
			return &Contribution{Functions: 1}, nil
		}
		must(t, Run(t.Context(), ins, []Adder{adder, adder}, Options{Ordered: ordered, Ended: accounts.Add}))
		l := accounts.Loss()
		if l.Inputs != 19 || l.Used != 15 || l.Partly != 15 || l.Lost != 4 || l.LeftOut[profile.ErrCorrupt] != 3 || l.LeftOut[profile.Unreadable] != 1 {
			t.Errorf("ordered %v: %+v", ordered, l)
		}
	}
}

// An adder that has added a part of a profile ends the run.
func TestPartlyAdded(t *testing.T) {
	ins, _ := folder(t, 3)
	adder := func(*Profile) (*Contribution, error) { return new(Contribution), errors.New("torn") }
	err := Run(t.Context(), ins, []Adder{adder}, Options{})
	if err == nil || err.Error() != "torn; part of it is in the sum already, so nothing is written: merge again when no process writes it" {
		t.Error(err)
	}
}

// What happens to a file while its profile is added does not change the profile.
func TestCutShort(t *testing.T) {
	path := filepath.Join(t.TempDir(), "large")
	want := bytes.Repeat([]byte{1}, 4<<20)
	oracle.WriteFile(t, path, want)
	var accounts Accounts
	err := Run(t.Context(), []inputs.Input{inputs.File(path, inputs.Options{})}, []Adder{func(p *Profile) (*Contribution, error) {
		if err := os.Truncate(path, 100); err != nil {
			t.Error(err)
		}
		if !bytes.Equal(p.Data, want) {
			t.Error("the profile is not what the file was")
		}
		return nil, nil
	}}, Options{Ended: accounts.Add})
	if l := accounts.Loss(); err != nil || l.Used != 1 || l.Lost != 0 {
		t.Errorf("%v, %+v", err, l)
	}
}

// A run ends although an input never comes.
func TestCancelled(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close()
	ins, err := inputs.Expand([]string{"-"}, inputs.Options{Stdin: r})
	must(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	adder := func(*Profile) (*Contribution, error) { return nil, nil }
	if err := Run(ctx, ins, []Adder{adder, adder}, Options{Ordered: true}); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	if err := Run(t.Context(), nil, nil, Options{}); err != nil {
		t.Error(err)
	}
}

// Budgets count profiles and functions.
func TestJudge(t *testing.T) {
	var accounts Accounts
	for i := range 10 {
		var err error
		if i == 0 {
			err = flaw.Field("").Empty()
		}
		accounts.Add(&Account{Err: err})
	}
	accounts.MayBeLost(1, "found")
	accounts.MayBeLost(2, "lost")
	accounts.Found(3, slices.Values([]uint64{1, 7}))
	if lost := accounts.Lost(); len(lost) != 1 || lost[2] != "lost" {
		t.Errorf("lost %v", lost)
	}
	for _, c := range []struct{ inputs, functions, want string }{
		{"1", "1", ""},
		{"10%", "25%", ""},
		{"0", "1", "1 of 10 inputs cannot be merged, and 0 is allowed"},
		{"5%", "20%", "1 of 10 inputs cannot be merged, and 5% is allowed; 1 of 4 functions would be missing, and 20% is allowed"},
	} {
		var b Budget
		must(t, errors.Join(b.Inputs.Set(c.inputs), b.Functions.Set(c.functions)))
		err := b.Judge(accounts.Loss())
		if got := fmt.Sprint(err); c.want == "" && err != nil || c.want != "" && got != c.want {
			t.Errorf("%s, %s: %v", c.inputs, c.functions, err)
		}
		if over := (*OverBudget)(nil); c.want != "" && !errors.As(err, &over) {
			t.Errorf("%T", err)
		}
	}
	none := Loss{Inputs: 1, Lost: 1}
	b := Budget{Inputs: Limit{number: 5}}
	if err := b.Judge(none); err == nil || err.Error() != "no input can be merged" {
		t.Error(err)
	}
	b.NoInput = true
	if err := b.Judge(none); err != nil {
		t.Error(err)
	}
}
