package inputs

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/internal/files/atomicfile"
)

// Options modify [Expand] and what its inputs do. The zero value is what profuse's own commands use.
type Options struct {
	// Stdin is read for "-"; nil means [os.Stdin].
	Stdin io.Reader

	// NoGlob takes every argument literally, as LLVM's tools do on unix, and looks for no checksums.
	NoGlob bool

	// MaxSize is the largest size in bytes, uncompressed, of a file that is
	// compressed, a member of an archive, a pipe or a device. It takes the place of
	// all limits that the package has otherwise, see there. Plain files have no limit.
	MaxSize int64
	// MaxSizeOption is how the users of a program set MaxSize, such as "--max-size".
	// Errors about the limits name it.
	MaxSizeOption string

	// Recognize, if not nil, is called with the name and the first 64 KiB of such contents,
	// unless they are shorter. It returns how many bytes contents of that format may have
	// altogether, or an error for a format that nothing reads: then no more is read. Of a
	// member of an archive these first bytes are yielded, so that the archive goes on.
	Recognize func(name string, head []byte) (most int64, err error)

	// Extract, if not nil, takes such contents of a format that Recognize knows while they are read, within the limits,
	// in place of the function of [Input.Each]. Memory does not depend on their size.
	Extract func(name string, src io.Reader) error

	// Select, if not nil, reports whether a file that lies in a folder, or that a pattern
	// matches, is an input. Arguments that name a file are inputs in any case.
	Select func(in Input) bool

	// Skipped, if not nil, is called with the name of each file in a folder or
	// archive that is skipped, and the reason, unless its name begins with a dot. It must be safe for concurrent use
	// if the inputs are read concurrently.
	Skipped func(name string, why string)

	// Remotes, if not nil, returns the contents that a URL stands for; ok is false if an
	// argument of [Expand] is no URL.
	Remotes func(arg string) (list []Remote, ok bool, err error)

	limits *limits // for tests; nil for the default ones
}

// The reasons for skipping a file, beside the reasons of [atomicfile.IsHidden].
const (
	notRegular   = "not a regular file"
	linkedFolder = "symbolic link to a folder"
	danglingLink = "symbolic link to nothing"
	archiveLink  = "link inside an archive"
)

// An Input is one place that profiles come from: a file, an archive of files, or standard input.
type Input struct {
	// Name is the path, or "-", for messages.
	Name string
	// Below is the path below the folder that the argument names, with slashes; the last element of any other path.
	Below string
	// Weight is what the counts are multiplied by.
	Weight uint64

	opts  *Options
	fetch func() (path string, release func(), err error) // of a Remote; nil otherwise
}

// Remote is contents that lie elsewhere, such as an object in a bucket, and are copied to
// a file when they are needed.
type Remote struct {
	Name string // URL
	Path string // below the argument of Expand, with slashes
	// Fetch returns a file with the contents, which nobody writes any more. It is called
	// each time that the input is opened, and release when the file is no longer needed.
	Fetch func() (path string, release func(), err error)
}

// Input returns the input of r, with weight 1.
func (r Remote) Input(opts Options) Input {
	return Input{Name: r.Name, Below: r.Path, Weight: 1, opts: &opts, fetch: r.Fetch}
}

// Reopens reports whether the input can be opened several times: a regular file can, and
// what is fetched, but not a pipe. A file that does not exist fails each time.
func (in Input) Reopens() bool {
	if in.fetch != nil || in.Name == Stdin {
		return in.Name != Stdin
	}
	info, err := os.Stat(in.Name)
	return err != nil || info.Mode().IsRegular()
}

// File returns the input of one path, with weight 1. The path is taken literally,
// and not looked at before the input is opened.
func File(path string, opts Options) Input {
	return Input{Name: path, Below: filepath.Base(path), Weight: 1, opts: &opts}
}

// Stdin is the name of the input that is standard input.
const Stdin = "-"

// Expand turns command line arguments into inputs of weight 1.
//
// "-" is standard input; its first reader reads it to the end. A folder stands for the regular files in it and
// below it, ordered bytewise by path. An argument that names no file and contains any of *?[ is a pattern of
// [filepath.Match]; it stands for the files that match, in the same order, and folders among them are walked.
// Everything else is taken in the order given, as often as it is given: a profile named twice counts twice.
//
// Expand skips the temporary files of unfinished runs, and checksums (.sha256), in
// folders, patterns and archives, and files and folders whose name begins with a dot in folders and
// archives. In folders it follows links to files, but not links to folders.
//
// [Options].Remotes says what URLs stand for, and [Options].Select which of the files in
// folders and patterns are inputs.
//
// The error is the system's for the first argument that does not exist or cannot
// be read. Expand itself does not open files.
func Expand(args []string, opts Options) ([]Input, error) {
	w := walker{opts: &opts}
	for _, arg := range args {
		w.files, w.found = w.files[:0], false
		if remote, err := w.remotes(arg); remote || err != nil {
			if err != nil {
				return nil, err
			}
			continue
		}
		if err := w.argument(arg); err != nil {
			return nil, err
		}
		for _, name := range w.files {
			in := Input{Name: name, Below: below(arg, name), Weight: 1, opts: &opts}
			if !w.found || opts.Select == nil || opts.Select(in) {
				w.ins = append(w.ins, in)
			}
		}
	}
	return w.ins, nil
}

// below returns the path of a file below the folder arg; its last element if it lies elsewhere.
func below(arg, name string) string {
	if rest, ok := strings.CutPrefix(name, arg); ok && rest != "" {
		return strings.TrimLeft(filepath.ToSlash(rest), "/")
	}
	return filepath.Base(name)
}

// skip reports a skipped file to the caller of Expand.
func (o *Options) skip(name string, why string) {
	if o.Skipped != nil && why != atomicfile.Dotted {
		o.Skipped(name, why)
	}
}

// A walker collects the files that arguments stand for.
type walker struct {
	opts  *Options
	files []string // of the argument
	found bool     // they are of folders or of a pattern
	ins   []Input
}

// remotes adds what a URL stands for; ok is false if arg is none.
func (w *walker) remotes(arg string) (ok bool, err error) {
	if w.opts.Remotes == nil {
		return false, nil
	}
	list, ok, err := w.opts.Remotes(arg)
	for _, r := range list {
		if why, yes := atomicfile.IsHidden(r.Path); yes && len(list) > 1 {
			w.opts.skip(r.Name, why)
			continue
		}
		w.ins = append(w.ins, Input{Name: r.Name, Below: r.Path, Weight: 1, opts: w.opts, fetch: r.Fetch})
	}
	return ok, err
}

func (w *walker) argument(arg string) error {
	if arg == Stdin {
		w.files = append(w.files, arg)
		return nil
	}
	info, err := os.Stat(arg)
	if err == nil {
		return w.existing(arg, info)
	}
	if w.opts.NoGlob || !errors.Is(err, fs.ErrNotExist) || !strings.ContainsAny(arg, `*?[`) {
		return err
	}
	w.found = true
	matches, globErr := filepath.Glob(arg)
	if globErr != nil || len(matches) == 0 {
		return err // as for any file that does not exist
	}
	slices.Sort(matches)
	for _, name := range matches {
		if why, yes := atomicfile.IsHiddenBase(filepath.Base(name)); yes && why != atomicfile.Dotted {
			w.opts.skip(name, why)
			continue
		}
		info, err := os.Stat(name)
		if err != nil {
			return err
		}
		if err := w.existing(name, info); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) existing(name string, info fs.FileInfo) error {
	if !info.IsDir() {
		w.files = append(w.files, name)
		return nil
	}
	first := len(w.files)
	w.found = true
	if err := w.folder(name); err != nil {
		return err
	}
	slices.Sort(w.files[first:])
	return nil
}

// folder adds the files of a folder in any order.
func (w *walker) folder(name string) error {
	entries, err := os.ReadDir(name)
	if err != nil {
		return err
	}
	prefix := name
	if !os.IsPathSeparator(name[len(name)-1]) {
		prefix += string(filepath.Separator)
	}
	for _, entry := range entries {
		if err := w.entry(prefix, entry); err != nil {
			return err
		}
	}
	return nil
}

// entry adds the files that one entry of a folder stands for. The entry holds its
// type, so regular files cost no system call.
func (w *walker) entry(prefix string, entry fs.DirEntry) error {
	name := prefix + entry.Name()
	if why, yes := atomicfile.IsHiddenBase(entry.Name()); yes {
		w.opts.skip(name, why)
		return nil
	}
	switch mode := entry.Type(); {
	case mode.IsRegular():
		w.files = append(w.files, name)
		return nil
	case mode.IsDir():
		return w.folder(name)
	case mode&fs.ModeSymlink == 0:
		w.opts.skip(name, notRegular)
		return nil
	}

	info, err := os.Stat(name)
	switch {
	case err != nil:
		w.opts.skip(name, danglingLink)
	case info.Mode().IsRegular():
		w.files = append(w.files, name)
	case info.IsDir():
		w.opts.skip(name, linkedFolder)
	default:
		w.opts.skip(name, notRegular)
	}
	return nil
}
