package coveragecmd

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/profile/coverage"
)

// A patchedFile is a file that a patch changes.
type patchedFile struct {
	path  string   // after the patch, as the patch spells it
	lines []uint32 // added lines

	oldPath string // before the patch
	// oldLines has the removed lines, and the lines before and after an addition that replaces none.
	oldLines []uint32
}

// A patchReader reads a unified diff, as diff -u and git diff write it. Outside of hunks it reads only the names of
// files. The numbers in a hunk's header decide where the hunk ends, because a removed line that begins with "-- " looks
// like a header.
type patchReader struct {
	files         []patchedFile
	oldPath       string // of the next file
	next, oldNext uint32 // lines of the new and the old file
	replaced      bool   // the next added lines replace removed lines
	old, added    uint64 // lines left in the hunk
}

// parsePatch returns the files that a unified diff changes. name is for errors.
func parsePatch(name string, data []byte) ([]patchedFile, error) {
	var r patchReader
	number := 0 // line of the patch, for errors
	for line := range bytes.Lines(data) {
		number++
		text := strings.TrimRight(string(line), "\r\n")
		if r.old+r.added > 0 {
			if !r.hunkLine(text) {
				return nil, flaw.File(name).OnLine(number).Field("line of a hunk").Got(strconv.Quote(text)).Want(r.wanted()).Corrupt()
			}
			continue
		}
		if path, ok := strings.CutPrefix(text, "--- "); ok {
			r.oldPath = patchPath(path)
		}
		if path, ok := strings.CutPrefix(text, "+++ "); ok {
			r.files = append(r.files, patchedFile{path: patchPath(path), oldPath: r.oldPath})
			r.oldPath = ""
		}
		if !strings.HasPrefix(text, "@@ ") {
			continue
		}
		old, added, ok := hunkHeader(text)
		if !ok {
			return nil, flaw.File(name).OnLine(number).Field("hunk").Got(strconv.Quote(text)).Want("@@ -LINE,LINES +LINE,LINES @@").Corrupt()
		}
		r.old, r.added, r.next, r.oldNext, r.replaced = old.lines, added.lines, uint32(added.first), uint32(old.first), false
		if old.lines == 0 {
			r.oldNext++ // the header has the line before the addition
		}
	}
	if r.old+r.added > 0 {
		return nil, flaw.File(name).OnLine(number + 1).Field("line of a hunk").Got("the end").Want(r.wanted()).Truncated()
	}
	for i := range r.files {
		f := &r.files[i]
		slices.Sort(f.oldLines)
		f.oldLines = slices.Compact(f.oldLines)
		if len(f.oldLines) > 0 && f.oldLines[0] == 0 { // lines were added at the beginning
			f.oldLines = f.oldLines[1:]
		}
	}
	return r.files, nil
}

func (r *patchReader) wanted() string {
	return fmt.Sprintf("%d lines more of the old file and %d of the new", r.old, r.added)
}

// hunkLine takes a line of a hunk, and reports whether the hunk may have it.
func (r *patchReader) hunkLine(text string) bool {
	sign := byte(' ') // some tools cut the space of an empty line
	if text != "" {
		sign = text[0]
	}
	file := new(patchedFile) // of a hunk without a file
	if n := len(r.files); n > 0 {
		file = &r.files[n-1]
	}
	switch {
	case sign == '\\': // "\ No newline at end of file"
	case sign == '+' && r.added > 0:
		file.lines = append(file.lines, r.next)
		if !r.replaced {
			file.oldLines = append(file.oldLines, r.oldNext-1, r.oldNext)
		}
		r.next++
		r.added--
	case sign == '-' && r.old > 0:
		r.replaced = true
		file.oldLines = append(file.oldLines, r.oldNext)
		r.oldNext++
		r.old--
	case (sign == ' ' || sign == '\t') && r.old > 0 && r.added > 0:
		r.replaced = false
		r.next++
		r.oldNext++
		r.old--
		r.added--
	default:
		return false
	}
	return true
}

// readPatch reads a patch from a file, or from standard input if the name is "-".
func readPatch(env *cli.Env, name string) (files []patchedFile, err error) {
	var data []byte
	if name == "-" {
		name = "standard input"
		data, err = io.ReadAll(env.Stdin)
	} else {
		data, err = os.ReadFile(name)
	}
	if err != nil {
		return nil, err
	}
	return parsePatch(name, data)
}

// noFile is the path in patches for a file that does not exist before or after.
const noFile = "/dev/null"

type hunkRange struct{ first, lines uint64 }

// hunkHeader parses "@@ -1,2 +3,4 @@ …". The default number of lines is 1.
func hunkHeader(text string) (old, added hunkRange, ok bool) {
	words := strings.Fields(text)
	if len(words) < 4 || words[3] != "@@" {
		return old, added, false
	}
	part := func(word, sign string) (r hunkRange, ok bool) {
		word, ok = strings.CutPrefix(word, sign)
		first, lines, several := strings.Cut(word, ",")
		if !several {
			lines = "1"
		}
		var errs [2]error
		r.first, errs[0] = strconv.ParseUint(first, 10, 31)
		r.lines, errs[1] = strconv.ParseUint(lines, 10, 31)
		return r, ok && errs[0] == nil && errs[1] == nil
	}
	old, okOld := part(words[1], "-")
	added, okNew := part(words[2], "+")
	return old, added, okOld && okNew
}

// patchPath returns the path in a "+++" line without the time after it. git quotes unusual names.
func patchPath(text string) string {
	if strings.HasPrefix(text, `"`) {
		if path, err := strconv.Unquote(text); err == nil {
			return path
		}
	}
	path, _, _ := strings.Cut(text, "\t")
	return strings.TrimSuffix(path, " ")
}

// changedLines is the coverage of the lines that a patch adds.
type changedLines struct {
	files   []changedFile
	unknown []string // files that are not in the coverage
	noCode  int      // lines without code
}

type changedFile struct {
	path   string
	lines  coverage.Ratio
	added  []uint32 // lines, ascending
	missed []uint32 // added lines that did not run
}

// ratio sums up the changed lines that have code.
func (c *changedLines) ratio() (sum coverage.Ratio) {
	for i := range c.files {
		sum.Total += c.files[i].lines.Total
		sum.Covered += c.files[i].lines.Covered
	}
	return sum
}

// readChanges returns the coverage of the lines that the patch of --changed adds. A file that is not in
// the coverage is unknown, unless the patch only removes lines from it.
func (c *shared) readChanges(env *cli.Env, cov *coverage.Coverage) (*changedLines, error) {
	files, err := readPatch(env, c.changed)
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, f := range cov.Files {
		paths = append(paths, f.Path)
	}
	all := &changedLines{}
	for _, changed := range files {
		at := findSource(paths, changed.path)
		if at < 0 {
			if len(changed.lines) > 0 {
				all.unknown = append(all.unknown, strings.TrimPrefix(changed.path, "b/")) // as git names it
			}
			continue
		}
		f := cov.Files[at]
		found := changedFile{path: f.Path, added: changed.lines}
		for _, number := range changed.lines {
			i, ok := slices.BinarySearchFunc(f.Lines, number, func(l coverage.Line, n uint32) int { return cmp.Compare(l.Number, n) })
			if !ok {
				all.noCode++
				continue
			}
			found.lines.Count(f.Lines[i].Count > 0)
			if f.Lines[i].Count == 0 {
				found.missed = append(found.missed, number)
			}
		}
		all.files = append(all.files, found)
	}
	return all, nil
}

// findSource returns the index of the source file that a path in a patch means: the only one that equals the path or
// ends with it, with or without its first folder, which may be git's prefix ("b/"). It returns -1 if there is none or
// several. For example, "b/src/a.c" means "/build/src/a.c", but is ambiguous if "/other/src/a.c" exists as well.
func findSource(paths []string, path string) int {
	// Exact paths count before ends of paths.
	names := []string{path}
	if _, rest, ok := strings.Cut(path, "/"); ok {
		names = append(names, rest)
	}
	for _, same := range []func(file, name string) bool{
		func(file, name string) bool { return file == name },
		func(file, name string) bool { return strings.HasSuffix(file, "/"+name) },
	} {
		for _, name := range names {
			found, several := -1, false
			for i, file := range paths {
				if same(strings.ReplaceAll(file, `\`, "/"), name) {
					found, several = i, found >= 0
				}
			}
			if found >= 0 && !several {
				return found
			}
		}
	}
	return -1
}

// lineRanges prints ascending lines as "3, 7-9".
func lineRanges(lines []uint32) string {
	var parts []string
	for i := 0; i < len(lines); {
		n := 1
		for i+n < len(lines) && lines[i+n] == lines[i]+uint32(n) {
			n++
		}
		parts = append(parts, lineRange(lines[i], lines[i+n-1]))
		i += n
	}
	return strings.Join(parts, ", ")
}

// lineRange prints one line as "3", several as "7-9".
func lineRange(first, last uint32) string {
	if first == last {
		return strconv.FormatUint(uint64(first), 10)
	}
	return fmt.Sprintf("%d-%d", first, last)
}

// print lists the changed lines that did not run, and the files that are not in the coverage, because no
// limit counts their lines.
func (c *changedLines) print(p *console.Printer) {
	sum := c.ratio()
	fmt.Fprintf(p.W, "\n%s: %s of %s ran (%s); %s without code\n", p.Term.Paint(cli.Bold, "Changed lines"),
		cli.Count(sum.Covered), cli.Count(sum.Total), percent(sum), cli.Quantity(c.noCode, "line", "lines"))
	for i := range c.files {
		if f := &c.files[i]; len(f.missed) > 0 {
			p.Item(fmt.Sprintf("%s: did not run: %s", console.Printable(f.path), lineRanges(f.missed)))
		}
	}
	for _, path := range c.unknown {
		p.Item(console.Printable(path) + ": not in the coverage, or several files there have this name")
	}
}
