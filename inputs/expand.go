package inputs

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/internal/atomicfile"
)

// Options modify [Expand] and what its inputs do. The zero value is what
// profuse's own commands use.
type Options struct {
	// Stdin is read for "-"; nil means [os.Stdin].
	Stdin io.Reader

	// NoGlob takes every argument literally, as LLVM's tools do on unix, and looks
	// for no checksums.
	NoGlob bool

	// MaxSize is the largest size in bytes, uncompressed, of a file that is
	// compressed, a member of an archive, a pipe or a device. It takes the place of
	// all limits that the package has otherwise, see there. Plain files have no limit.
	MaxSize int64
	// MaxSizeOption is how the users of a program set MaxSize, such as "--max-size".
	// Errors about the limits name it.
	MaxSizeOption string

	// Recognize, if not nil, is called with the first 64 KiB of such contents, unless
	// they are shorter. It returns how many bytes contents of that format may have
	// altogether, or 0 for a format that nothing reads: then no more is read, and the
	// error is of class [profile.ErrUnrecognized]. Of a member of an archive these first
	// bytes are yielded, so that the archive goes on.
	Recognize func(head []byte) int64

	// Skipped, if not nil, is called with the name of each file in a folder or
	// archive that is skipped, and the reason. It must be safe for concurrent use
	// if the inputs are read concurrently.
	Skipped func(name string, why string)

	limits *limits // for tests; nil for the default ones
}

// Hidden is the reason in calls of Options.Skipped for a hidden file.
const Hidden = "its name begins with a dot"

// The other reasons for skipping a file.
const (
	temporary    = "temporary file of an unfinished run"
	checksum     = "checksum of another file"
	notRegular   = "not a regular file"
	linkedFolder = "symbolic link to a folder"
	danglingLink = "symbolic link to nothing"
	archiveLink  = "link inside an archive"
)

// An Input is one place that profiles come from: a file, an archive of files,
// or standard input.
type Input struct {
	// Name is the path, or "-", for messages.
	Name string
	// Weight is what the counts are multiplied by.
	Weight uint64

	opts *Options
}

// File returns the input of one path, with weight 1. The path is taken literally,
// and not looked at before the input is opened.
func File(path string, opts Options) Input { return Input{Name: path, Weight: 1, opts: &opts} }

// Stdin is the name of the input that is standard input.
const Stdin = "-"

// Expand turns command line arguments into inputs of weight 1.
//
// "-" is standard input; its first reader reads it to the end. A folder stands for
// the regular files in it and below it, ordered bytewise by path. An argument that
// names no file and contains any of *?[ is a pattern of [filepath.Match]; it stands
// for the files that match, in the same order, and folders among them are walked.
// Everything else is taken in the order given, as often as it is given: a profile
// named twice counts twice.
//
// Expand skips the temporary files of unfinished runs, and checksums (.sha256), in
// folders, patterns and archives, and files and folders whose name begins with a dot in folders and
// archives. In folders it follows links to files, but not links to folders.
//
// The error is the system's for the first argument that does not exist or cannot
// be read. Expand does not open files.
func Expand(args []string, opts Options) ([]Input, error) {
	w := walker{opts: &opts}
	for _, arg := range args {
		if err := w.argument(arg); err != nil {
			return nil, err
		}
	}
	ins := make([]Input, len(w.files))
	for i, name := range w.files {
		ins[i] = Input{Name: name, Weight: 1, opts: &opts}
	}
	return ins, nil
}

// skip reports a skipped file to the caller of Expand.
func (o *Options) skip(name string, why string) {
	if o.Skipped != nil {
		o.Skipped(name, why)
	}
}

// hidden reports whether Expand skips a file or folder of this base name in folders
// and archives, and why.
func hidden(base string) (why string, yes bool) {
	switch {
	case atomicfile.IsTemp(base):
		return temporary, true
	case atomicfile.IsChecksum(base):
		return checksum, true
	case strings.HasPrefix(base, "."):
		return Hidden, true
	}
	return "", false
}

// hiddenMember is hidden for an archive member: a member of a hidden folder is
// hidden, too.
func hiddenMember(name string) (why string, yes bool) {
	for part := range strings.SplitSeq(name, "/") {
		if part == "." || part == ".." {
			continue
		}
		if why, yes := hidden(part); yes {
			return why, true
		}
	}
	return "", false
}

// A walker collects the files that arguments stand for.
type walker struct {
	opts  *Options
	files []string
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
	matches, globErr := filepath.Glob(arg)
	if globErr != nil || len(matches) == 0 {
		return err // as for any file that does not exist
	}
	slices.Sort(matches)
	for _, name := range matches {
		if why, yes := hidden(filepath.Base(name)); yes && why != Hidden {
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
	if why, yes := hidden(entry.Name()); yes {
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
