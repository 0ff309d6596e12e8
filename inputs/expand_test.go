package inputs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/internal/files/atomicfile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func write(t testing.TB, name, contents string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(name), 0o777))
	oracle.WriteFile(t, name, []byte(contents))
}

// tree makes a folder with everything in it that a walk may meet, and changes
// to its parent. Links are reported as false where there are none.
func tree(t *testing.T) (links bool) {
	t.Helper()
	t.Chdir(t.TempDir())
	for _, name := range []string{
		"d/b", "d/a", "d/a.x/z", "d/a.x/y", "d/c", "d/.dot", "d/.hid/h", "d/sub/.profuse-x.tmp", "e/f", "e/sub/g",
	} {
		write(t, filepath.FromSlash(name), name)
	}
	write(t, "d/a-dir/file", "") // between a and a.x, and before a/ would be
	must(t, os.Mkdir("empty", 0o777))
	for link, to := range map[string]string{
		"d/lfile": "../e/f", "d/ldir": "../e", "d/loop": ".", "e/sub/up": "../../d", "d/dangling": "nowhere",
	} {
		if err := os.Symlink(filepath.FromSlash(to), filepath.FromSlash(link)); err != nil {
			return false
		}
	}
	return true
}

func expanded(t *testing.T, opts Options, args ...string) (string, error) {
	t.Helper()
	ins, err := Expand(args, opts)
	var names []string
	for _, in := range ins {
		if in.Weight != 1 {
			t.Errorf("%s has weight %d", in.Name, in.Weight)
		}
		names = append(names, filepath.ToSlash(in.Name))
	}
	return strings.Join(names, " "), err
}

func TestExpand(t *testing.T) {
	if !tree(t) {
		t.Skip("no symbolic links here")
	}
	abs, err := filepath.Abs("d/a")
	must(t, err)
	const d = "d/a d/a-dir/file d/a.x/y d/a.x/z d/b d/c d/lfile"
	for _, c := range []struct {
		args string
		opts Options
		want string
	}{
		{args: "", want: ""},
		{args: "d/b d/a d/b", want: "d/b d/a d/b"},
		{args: "- d/a -", want: "- d/a -"},
		{args: abs, want: filepath.ToSlash(abs)},
		{args: "empty", want: ""},
		{args: "d", want: d},
		{args: "d/", want: d},
		{args: "./d", want: "./" + strings.ReplaceAll(d, " ", " ./")},
		{args: "e d/a.x", want: "e/f e/sub/g d/a.x/y d/a.x/z"},
		{args: "d/ldir", want: "d/ldir/f d/ldir/sub/g"}, // named, so followed
		{args: "d/.hid d/.dot", want: "d/.hid/h d/.dot"},
		{args: "d/[ab]", want: "d/a d/b"},
		{args: "d/a*", want: "d/a d/a-dir/file d/a.x/y d/a.x/z"},
		{args: "e/sub/g* d/?", want: "e/sub/g d/a d/b d/c"},
		{args: "d/sub/.*", want: ""},
	} {
		got, err := expanded(t, c.opts, strings.Fields(c.args)...)
		if err != nil || got != c.want {
			t.Errorf("%q: got %q, %v; want %q", c.args, got, err, c.want)
		}
	}
}

func TestExpandErrors(t *testing.T) {
	tree(t)
	for _, c := range []struct {
		arg  string
		opts Options
	}{
		{arg: ""},
		{arg: "missing"},
		{arg: "d/missing*"},
		{arg: "d/[", opts: Options{}},
		{arg: "d/*", opts: Options{NoGlob: true}},
	} {
		_, err := Expand([]string{"d/a", c.arg}, c.opts)
		var pe *fs.PathError
		if !errors.Is(err, fs.ErrNotExist) || !errors.As(err, &pe) || pe.Path != c.arg {
			t.Errorf("%q: %v", c.arg, err)
		}
	}
}

// TestExpandPrefersTheLiteralName has a file whose name is a pattern.
func TestExpandPrefersTheLiteralName(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no such names here")
	}
	t.Chdir(t.TempDir())
	for _, name := range []string{"[ab]", "a", "b"} {
		write(t, name, "")
	}
	if got, err := expanded(t, Options{}, "[ab]"); err != nil || got != "[ab]" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestExpandTellsWhatItSkips(t *testing.T) {
	if !tree(t) {
		t.Skip("no symbolic links here")
	}
	want := []string{
		"d/dangling: " + danglingLink,
		"d/ldir: " + linkedFolder,
		"d/loop: " + linkedFolder,
		"d/sub/.profuse-x.tmp: temporary file of an unfinished run",
	}
	var got []string
	opts := Options{Skipped: func(name string, why string) {
		got = append(got, filepath.ToSlash(name)+": "+string(why))
	}}
	if _, err := Expand([]string{"d"}, opts); err != nil {
		t.Fatal(err)
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

func TestExpandSkipsUnfinishedOutput(t *testing.T) {
	t.Chdir(t.TempDir())
	f, err := atomicfile.Create("out", atomicfile.Options{})
	must(t, err)
	defer f.Close()
	write(t, "in", "")
	for _, arg := range []string{".", "*", ".*"} {
		got, err := expanded(t, Options{}, arg)
		if err != nil || strings.Contains(got, "profuse") {
			t.Errorf("%s: %q, %v", arg, got, err)
		}
	}
}
