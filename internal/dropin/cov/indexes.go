package cov

import (
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/internal/dropin/withcolor"
	"github.com/profuse-pgo/profuse/profile/coverage"
)

// writeIndexes writes the index of show --output-dir, or with --show-directory-coverage one for each folder of
// sources. For a single source --show-directory-coverage changes nothing.
func (p *page) writeIndexes(files []string) error {
	top := p.outputPath("index", true)
	if !p.opt.directories || len(files) <= 1 {
		return p.writeFile(top, func(w io.Writer) {
			rows, total := p.fileRows(files, true)
			p.writeIndex(w, top, rows, total)
		})
	}
	x := &indexes{page: p}
	root := files[0][:commonFolder(files, 0)]
	if _, err := x.write(files, len(root)); err != nil {
		return err
	}
	return p.writeFile(top, func(w io.Writer) { x.last(w, top) })
}

// writeIndex writes the index at path. Indexes list files without functions unless filters choose functions.
func (p *page) writeIndex(w io.Writer, path string, rows []row, total row) {
	empty := len(p.filters) == 0
	if p.opt.format == htmlFormat {
		p.index(w, path, rows, total, empty)
		return
	}
	p.fileTable(w, rows, total, empty)
	p.signature(w)
}

// signature ends an index.
func (t *tool) signature(w io.Writer) {
	io.WriteString(w, t.paint(w, withcolor.Cyan, "\n"+madeBy+t.LLVMVersion()))
}

// indexes (DirectoryCoverageReport) writes the indexes of folders, inner folders first. The
// outermost folder is written last, and once more as the index at the top.
type indexes struct {
	*page
	last func(w io.Writer, path string) // writes the last index again
}

// write writes the index of the folder that the first n bytes of all files name, and returns
// the folder's numbers. Folders come before files, both by name. A folder with one source has
// no index; the index around it lists the source instead.
func (x *indexes) write(files []string, n int) (sum coverage.Summary, err error) {
	folder := files[0][:n]
	// own has the sources in the folder itself, inner the others by the name of the next folder.
	own := make(map[string]row)
	inner := make(map[string][]string)
	for _, file := range files {
		rest := file[n:]
		name, _, nested := strings.Cut(rest, "/")
		if nested {
			inner[name] = append(inner[name], file)
		} else {
			own[name] = row{rest, x.fileSum(file, true), file}
		}
	}
	var rows []row
	for _, name := range slices.Sorted(maps.Keys(inner)) {
		list := inner[name]
		if len(list) == 1 {
			rows = append(rows, row{list[0][n:], x.fileSum(list[0], true), list[0]})
			continue
		}
		// A folder that contains only one folder gets no index.
		m := commonFolder(list, n)
		sub, err := x.write(list, n+m)
		if err != nil {
			return sum, err
		}
		rows = append(rows, row{list[0][n : n+m], sub, list[0][:n+m] + "index"})
	}
	for _, name := range slices.Sorted(maps.Keys(own)) {
		rows = append(rows, own[name])
	}
	for _, r := range rows {
		sum.Add(r.sum)
	}
	x.last = func(w io.Writer, path string) { x.writeIndex(w, path, rows, row{name: folder, sum: sum}) }
	path := x.outputPath(folder+"index", false)
	return sum, x.writeFile(path, func(w io.Writer) { x.last(w, path) })
}

// commonFolder returns how many bytes after the first n all files have in common, up to and including a separator.
func commonFolder(files []string, n int) int {
	prefix := files[0][n:]
	for _, file := range files[1:] {
		rest := file[n:]
		i := 0
		for i < min(len(prefix), len(rest)) && prefix[i] == rest[i] {
			i++
		}
		prefix = prefix[:i]
	}
	if i := strings.LastIndexAny(prefix, `/\`); i >= 0 {
		return i + 1
	}
	return len(prefix)
}
