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

// A changedFile is a file that a patch changes, with the lines that it adds.
type changedFile struct {
	path  string // as the patch has it
	lines []uint32
	// Before the patch: the lines that it removes, and those around places where it adds
	// lines without removing any.
	oldPath  string
	oldLines []uint32
}

// parsePatch reads a unified diff, as diff -u and git diff write it. name is for errors. Everything
// outside of hunks but the names of files is passed over, such as git's own headers. The numbers of
// lines in the headers decide where a hunk ends: a removed line that begins with "-- " looks like a
// header.
func parsePatch(name string, data []byte) (files []changedFile, err error) {
	var file *changedFile
	// number is that of the line of the patch, for errors; next and oldNext are those of the files.
	number := 0
	var next, oldNext uint32 // lines of the new and the old file
	replaced := false        // lines were removed where the next are added
	oldPath := ""
	oldLeft, newLeft := uint64(0), uint64(0) // lines of the hunk
	for line := range bytes.Lines(data) {
		number++
		text := strings.TrimRight(string(line), "\r\n")
		if oldLeft+newLeft > 0 {
			sign := byte(' ') // some tools cut the space of an empty line
			if text != "" {
				sign = text[0]
			}
			switch {
			case sign == '\\': // "\ No newline at end of file"
			// Where nothing is removed, the tests that ran the old lines around the place are the
			// ones to ask.
			case sign == '+' && newLeft > 0:
				if file != nil {
					file.lines = append(file.lines, next)
					if !replaced {
						file.oldLines = append(file.oldLines, oldNext-1, oldNext)
					}
				}
				next++
				newLeft--
			case sign == '-' && oldLeft > 0:
				if replaced = true; file != nil {
					file.oldLines = append(file.oldLines, oldNext)
				}
				oldNext++
				oldLeft--
			case (sign == ' ' || sign == '\t') && oldLeft > 0 && newLeft > 0:
				replaced = false
				next++
				oldNext++
				oldLeft--
				newLeft--
			default:
				return nil, flaw.File(name).OnLine(number).Field("line of a hunk").Got(strconv.Quote(text)).
					Wantf("%d lines more of the old file and %d of the new", oldLeft, newLeft).Corrupt()
			}
			continue
		}
		if path, ok := strings.CutPrefix(text, "--- "); ok {
			oldPath = patchPath(path)
		}
		if path, ok := strings.CutPrefix(text, "+++ "); ok {
			files = append(files, changedFile{path: patchPath(path), oldPath: oldPath})
			file, oldPath = &files[len(files)-1], ""
		}
		if !strings.HasPrefix(text, "@@ ") {
			continue
		}
		old, added, ok := hunkHeader(text)
		if !ok {
			return nil, flaw.File(name).OnLine(number).Field("hunk").Got(strconv.Quote(text)).Want("@@ -LINE,LINES +LINE,LINES @@").Corrupt()
		}
		oldLeft, newLeft, next, oldNext = old.lines, added.lines, uint32(added.first), uint32(old.first)
		if replaced = false; old.lines == 0 {
			oldNext++ // the line before the place is named
		}
	}
	if oldLeft+newLeft > 0 {
		return nil, flaw.File(name).OnLine(number+1).Field("line of a hunk").Got("the end").
			Wantf("%d lines more of the old file and %d of the new", oldLeft, newLeft).Truncated()
	}
	for i := range files {
		f := &files[i]
		slices.Sort(f.oldLines)
		f.oldLines = slices.Compact(f.oldLines)
		if len(f.oldLines) > 0 && f.oldLines[0] == 0 { // lines were added at the beginning
			f.oldLines = f.oldLines[1:]
		}
	}
	return files, nil
}

// readPatch reads a patch from a file, or from standard input if the name is "-".
func readPatch(env *cli.Env, name string) (files []changedFile, err error) {
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

// noFile is the path, in patches, of a file that is not there before or after.
const noFile = "/dev/null"

// A hunkRange is the lines of one file in a hunk.
type hunkRange struct{ first, lines uint64 }

// hunkHeader parses "@@ -1,2 +3,4 @@ …". A number of lines that is left out is 1.
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

// patchPath returns the path in a "+++" line, without a time behind it. git quotes
// unusual names.
func patchPath(text string) string {
	if strings.HasPrefix(text, `"`) {
		if path, err := strconv.Unquote(text); err == nil {
			return path
		}
	}
	path, _, _ := strings.Cut(text, "\t")
	return strings.TrimSuffix(path, " ")
}

// changedLines is what ran of the lines that a patch adds.
type changedLines struct {
	files   []changedCoverage
	unknown []string // files of which the coverage says nothing
	noCode  int      // lines
}

// changedCoverage is what ran of the lines of one file.
type changedCoverage struct {
	path   string
	lines  coverage.Ratio
	added  []uint32 // lines, ascending
	missed []uint32 // those of them that did not run
}

// ratio sums up the changed lines that have code.
func (c *changedLines) ratio() (sum coverage.Ratio) {
	for i := range c.files {
		sum.Total += c.files[i].lines.Total
		sum.Covered += c.files[i].lines.Covered
	}
	return sum
}

// readChanges finds what ran of the lines that the patch of option --changed adds. Lines without
// code, such as comments, count apart; files that the coverage does not have are unknown, but not
// if the patch only removes lines of them.
func (c *coverageRun) readChanges(env *cli.Env, cov *coverage.Coverage) (*changedLines, error) {
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
		of := changedCoverage{path: f.Path, added: changed.lines}
		for _, number := range changed.lines {
			i, ok := slices.BinarySearchFunc(f.Lines, number, func(l coverage.Line, n uint32) int { return cmp.Compare(l.Number, n) })
			if !ok {
				all.noCode++
				continue
			}
			of.lines.Count(f.Lines[i].Count > 0)
			if f.Lines[i].Count == 0 {
				of.missed = append(of.missed, number)
			}
		}
		all.files = append(all.files, of)
	}
	return all, nil
}

// findSource returns the index of the path that a path of a patch means: the one that is that path
// or ends with it, with or without its first folder, which git adds ("b/"). It returns -1 if there
// is none, or several. For example "b/src/a.c" means "/build/src/a.c" unless "/other/src/a.c" is
// there, too, and makes it ambiguous.
func findSource(paths []string, path string) int {
	// The first folder may be git's prefix or a real one, so both are tried, and exact paths before
	// ends of paths.
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

// lineRanges writes ascending lines as "3, 7-9".
func lineRanges(lines []uint32) string {
	var parts []string
	for i := 0; i < len(lines); {
		n := 1
		for i+n < len(lines) && lines[i+n] == lines[i]+uint32(n) {
			n++
		}
		part := strconv.FormatUint(uint64(lines[i]), 10)
		if n > 1 {
			part += "-" + strconv.FormatUint(uint64(lines[i+n-1]), 10)
		}
		parts = append(parts, part)
		i += n
	}
	return strings.Join(parts, ", ")
}

// print lists the changed lines that did not run, and counts them. Files of the patch that the
// coverage does not have are told, since no limit counts their lines.
func (c *changedLines) print(p *console.Printer) {
	sum := c.ratio()
	fmt.Fprintf(p.W, "\n%s: %s of %s ran (%s); %s without code\n", p.Term.Paint(cli.Bold, "Changed lines"),
		cli.Count(uint64(sum.Covered)), cli.Count(uint64(sum.Total)), percent(sum), cli.Quantity(uint64(c.noCode), "line", "lines"))
	for i := range c.files {
		if f := &c.files[i]; len(f.missed) > 0 {
			p.Item(fmt.Sprintf("%s: did not run: %s", console.Printable(f.path), lineRanges(f.missed)))
		}
	}
	for _, path := range c.unknown {
		p.Item(console.Printable(path) + ": not in the coverage, or several files there have this name")
	}
}
