package report

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	maxSourceBytes = 64 << 20 // bounds the text of all source files of a profile
	maxSourceFile  = 1 << 20  // bounds the text of one source file
	maxPathEnds    = 40       // bounds the ends of a path that are tried
)

type coverageSource struct {
	From string `json:"from"` // its path below the folder in which it was found
	Text string `json:"text"` // lines end with line feeds
}

// embedding counts the source files that the page shows and that it does not show.
type embedding struct {
	asked   bool
	read    bool // by their recorded paths, not in folders
	shown   int
	missing int // not in any of the folders
	unfit   int // too large, not text, or shorter than the profile requires
	tooMuch int // beyond maxSourceBytes
}

// embed reads the source files, beginning with the files in which most ran.
//
// A profile may come from anyone, and the report may go to anyone, so a recorded path never decides alone which
// file is read. embed reads regular files in the given folders only; symbolic links must not lead out of them. It
// tries the folders in order, and the longest end of the recorded path that exists below the folder. A file with
// fewer lines than the profile knows is another file, and is not shown.
func (c *pageCoverage) embed(opt *Options) error {
	if len(opt.SourceDirs) == 0 && opt.ReadSource == nil {
		return nil
	}
	c.Embedding.asked, c.Embedding.read = true, opt.ReadSource != nil
	// With ReadSource, the caller decides which paths are read.
	read := func(recorded string) (text, from string, err error) {
		data, err := opt.ReadSource(recorded)
		if err == nil {
			text, err = cleanText(data)
		}
		return text, recorded, err
	}
	var roots []*os.Root
	if opt.ReadSource == nil {
		read = func(recorded string) (text, from string, err error) { return readSource(roots, recorded) }
	}
	defer func() {
		for _, r := range roots {
			r.Close()
		}
	}()
	for _, dir := range opt.SourceDirs {
		r, err := os.OpenRoot(dir)
		if err != nil {
			return fmt.Errorf("folder of sources: %w", err)
		}
		roots = append(roots, r)
	}
	left := c.textLimit
	files := slices.Clone(c.files)
	slices.SortStableFunc(files, mostRanFirst)
	for _, f := range files {
		text, from, err := read(f.Path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			c.Embedding.missing++
		case err != nil || !f.fits(text):
			c.Embedding.unfit++
		case len(text) > left:
			c.Embedding.tooMuch++
		default:
			c.Embedding.shown++
			left -= len(text)
			f.source = &coverageSource{From: clean(from), Text: text}
		}
	}
	return nil
}

// fits reports whether the text has all lines that the profile knows.
func (f *coveredFile) fits(text string) bool {
	last := uint32(0)
	for _, l := range f.Lines {
		last = max(last, l.Number)
	}
	for i := range f.Functions {
		last = max(last, uint32(f.Functions[i].StartLine))
	}
	return uint64(last) <= uint64(strings.Count(text, "\n"))
}

func readSource(roots []*os.Root, recorded string) (text, from string, err error) {
	for _, root := range roots {
		for _, name := range pathEnds(recorded) {
			info, err := root.Stat(name)
			if err != nil || !info.Mode().IsRegular() {
				continue
			}
			text, err := readText(root, name, info.Size())
			return text, name, err
		}
	}
	return "", "", fs.ErrNotExist
}

// pathEnds returns the ends of a recorded path, the longest first: of
// "/src/./a/../b.c" these are "src/b.c" and "b.c".
func pathEnds(recorded string) []string {
	if strings.ContainsRune(recorded, 0) {
		return nil
	}
	if !strings.Contains(recorded, "/") {
		recorded = strings.ReplaceAll(recorded, `\`, "/")
	}
	// Cleaned below a root, the path has no element that leads upward.
	rest := strings.TrimPrefix(path.Clean("/"+recorded), "/")
	var ends []string
	for rest != "" && len(ends) < maxPathEnds {
		ends = append(ends, rest)
		_, below, ok := strings.Cut(rest, "/")
		if !ok {
			break
		}
		rest = below
	}
	return ends
}

var errNoText = errors.New("not a text to show")

// readText reads a source file. A file of more than maxSourceFile bytes is not read to its end.
func readText(root *os.Root, name string, size int64) (string, error) {
	if size > maxSourceFile {
		return "", errNoText
	}
	f, err := root.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxSourceFile+1))
	if err != nil {
		return "", err
	}
	return cleanText(data)
}

func cleanText(data []byte) (string, error) {
	if len(data) > maxSourceFile || bytes.IndexByte(data, 0) >= 0 || !utf8.Valid(data) {
		return "", errNoText
	}
	var b strings.Builder
	for line := range strings.Lines(string(data)) {
		line = strings.TrimRight(line, "\r\n")
		for i, part := range strings.Split(line, "\t") {
			if i > 0 {
				b.WriteByte('\t')
			}
			b.WriteString(clean(part))
		}
		b.WriteByte('\n')
	}
	return b.String(), nil
}
