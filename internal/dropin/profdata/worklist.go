package profdata

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/profuse-pgo/profuse/internal/dropin/clopt"
	"github.com/profuse-pgo/profuse/internal/files/atomicfile"
)

// A weightedFile is one input with its weight.
type weightedFile struct {
	name   string // "-" for standard input
	weight uint64
	index  int // in the worklist, once it is complete
}

// A worklist collects the inputs of merge. A file that is named twice counts twice.
type worklist []weightedFile

// collect gathers the inputs in LLVM's order: positional, weighted, listed. A list of inputs may be standard input.
func (t *tool) collect() (worklist, error) {
	var list worklist
	for _, name := range t.opt.inputs {
		if err := list.addInput(name, 1); err != nil {
			return nil, err
		}
	}
	for _, s := range t.opt.weightedInputs {
		if err := list.addWeighted(s); err != nil {
			return nil, err
		}
	}
	if name := t.opt.inputFiles; name != "" {
		text, err := t.readList(name)
		if err != nil {
			return nil, inFile(err, name)
		}
		if err := list.addLines(string(text)); err != nil {
			return nil, err
		}
	}
	for i := range list {
		list[i].index = i
	}
	return list, nil
}

// addLines (parseInputFilenamesFile) adds the inputs of a list of "[WEIGHT,]FILE" lines. Lines
// with a "#" in front are comments.
func (l *worklist) addLines(text string) error {
	for line := range strings.SplitSeq(text, "\n") {
		if line == "" {
			continue
		}
		line = strings.Trim(line, " \t\v\f\r")
		var err error
		switch {
		case strings.HasPrefix(line, "#"):
		case strings.Contains(line, ","):
			err = l.addWeighted(line)
		default:
			err = l.addInput(line, 1)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// addWeighted (parseWeightedFile) adds the input "WEIGHT,FILE". The weight is a positive decimal
// number. As in LLVM, a "~" before the file is expanded here, but not for files without weight.
func (l *worklist) addWeighted(s string) error {
	number, name, _ := strings.Cut(s, ",")
	weight, err := strconv.ParseUint(number, 10, 64)
	if err != nil || weight < 1 {
		return &failure{message: "input weight must be a positive integer"}
	}
	return l.addInput(expandTilde(name), weight)
}

// addInput adds a file, or all regular files under a folder in the order of clopt.Walk, each with the
// weight. It skips other kinds of files, as LLVM does. A missing file is an error.
func (l *worklist) addInput(name string, weight uint64) error {
	if name == "-" {
		*l = append(*l, weightedFile{name: name, weight: weight})
		return nil
	}
	st, err := os.Stat(name)
	switch {
	case err != nil:
		return inFile(syscall.ENOENT, name)
	case st.Mode().IsRegular():
		*l = append(*l, weightedFile{name: name, weight: weight})
	case st.IsDir():
		err := clopt.Walk(name, func(path string, info fs.FileInfo, err error) {
			if err == nil && info.Mode().IsRegular() && !atomicfile.IsTemp(filepath.Base(path)) {
				*l = append(*l, weightedFile{name: path, weight: weight})
			}
		})
		if err != nil {
			return inFile(err, name)
		}
	}
	return nil
}

// expandTilde replaces a leading "~" or "~USER" by that user's home folder. It
// leaves the name unchanged if the user is unknown.
func expandTilde(name string) string {
	rest, ok := strings.CutPrefix(name, "~")
	if !ok {
		return name
	}
	who, rest, slash := strings.Cut(rest, "/")
	var home string
	if who == "" {
		home, _ = os.UserHomeDir()
	} else if u, err := user.Lookup(who); err == nil {
		home = u.HomeDir
	}
	if home == "" {
		return name
	}
	if slash {
		return filepath.Join(home, rest)
	}
	return home
}

// dump prints the list as "WEIGHT,FILE" lines.
func (l worklist) dump(w io.Writer) {
	for _, f := range l {
		fmt.Fprintf(w, "%d,%s\n", f.weight, f.name)
	}
}
