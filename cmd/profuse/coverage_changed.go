package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/cli"
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/console"
	"github.com/profuse-pgo/profuse/coverage"
	"github.com/profuse-pgo/profuse/internal/flaw"
)

// A changedFile is a file with the lines that a patch adds to it.
type changedFile struct {
	path  string // as the patch has it
	lines []uint32
}

// parsePatch reads a unified diff, as diff -u and git diff write it. name is for errors.
func parsePatch(name string, data []byte) (files []changedFile, err error) {
	var file *changedFile
	number := 0
	var next uint32                          // line of the new file
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
			case sign == '+' && newLeft > 0:
				if file != nil {
					file.lines = append(file.lines, next)
				}
				next++
				newLeft--
			case sign == '-' && oldLeft > 0:
				oldLeft--
			case (sign == ' ' || sign == '\t') && oldLeft > 0 && newLeft > 0:
				next++
				oldLeft--
				newLeft--
			default:
				return nil, flaw.File(name).OnLine(number).Field("line of a hunk").Got(strconv.Quote(text)).
					Wantf("%d lines more of the old file and %d of the new", oldLeft, newLeft).Corrupt()
			}
			continue
		}
		if path, ok := strings.CutPrefix(text, "+++ "); ok {
			file = nil
			if path = patchPath(path); path != "/dev/null" {
				files = append(files, changedFile{path: path})
				file = &files[len(files)-1]
			}
		}
		if !strings.HasPrefix(text, "@@ ") {
			continue
		}
		old, added, ok := hunkHeader(text)
		if !ok {
			return nil, flaw.File(name).OnLine(number).Field("hunk").Got(strconv.Quote(text)).Want("@@ -LINE,LINES +LINE,LINES @@").Corrupt()
		}
		oldLeft, newLeft, next = old.lines, added.lines, uint32(added.first)
	}
	if oldLeft+newLeft > 0 {
		return nil, flaw.File(name).OnLine(number+1).Field("line of a hunk").Got("the end").
			Wantf("%d lines more of the old file and %d of the new", oldLeft, newLeft).Truncated()
	}
	return files, nil
}

// A hunkRange is the lines of one file in a hunk.
type hunkRange struct{ first, lines uint64 }

// hunkHeader parses "@@ -1,2 +3,4 @@ …".
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
	missed []uint32 // lines that did not run
}

func (c *changedLines) ratio() (sum coverage.Ratio) {
	for i := range c.files {
		sum.Total += c.files[i].lines.Total
		sum.Covered += c.files[i].lines.Covered
	}
	return sum
}

// readChanges finds what ran of the lines that the patch of option --changed adds.
func (c *coverageRun) readChanges(env *cli.Env, cov *coverage.Coverage) (*changedLines, error) {
	name, data, err := c.changed, []byte(nil), error(nil)
	if name == "-" {
		name = "standard input"
		data, err = io.ReadAll(env.Stdin)
	} else {
		data, err = os.ReadFile(name)
	}
	if err != nil {
		return nil, err
	}
	files, err := parsePatch(name, data)
	if err != nil {
		return nil, err
	}
	all := &changedLines{}
	for _, changed := range files {
		f := findSource(cov.Files, changed.path)
		if f == nil {
			if len(changed.lines) > 0 {
				all.unknown = append(all.unknown, strings.TrimPrefix(changed.path, "b/")) // as git names it
			}
			continue
		}
		of := changedCoverage{path: f.Path}
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

// findSource returns the file that a path of a patch means: the one whose path is that
// path or ends with it, with or without its first folder, which git adds ("b/"). It
// returns nil if there is none, or several.
func findSource(files []*coverage.File, path string) *coverage.File {
	paths := []string{path}
	if _, rest, ok := strings.Cut(path, "/"); ok {
		paths = append(paths, rest)
	}
	for _, same := range []func(file, path string) bool{
		func(file, path string) bool { return file == path },
		func(file, path string) bool { return strings.HasSuffix(file, "/"+path) },
	} {
		for _, path := range paths {
			var found []*coverage.File
			for _, f := range files {
				if same(strings.ReplaceAll(f.Path, `\`, "/"), path) {
					found = append(found, f)
				}
			}
			if len(found) == 1 {
				return found[0]
			}
		}
	}
	return nil
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

// print lists the changed lines that did not run, and counts them.
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
