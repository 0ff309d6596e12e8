package llvmcov

import (
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/withcolor"
	"github.com/profuse-pgo/profuse/coverage"
)

// writeIndexes writes the index of show --output-dir, or with --show-directory-coverage
// one for each folder of sources.
func (t *tool) writeIndexes(files []string) error {
	top := t.outputPath("index", true)
	if !t.opt.directories || len(files) <= 1 {
		return t.writeFile(top, func(w io.Writer) {
			t.fileReport(w, files, true)
			t.signature(w)
		})
	}
	x := &indexes{tool: t}
	root := files[0][:commonFolder(files, 0)]
	if _, err := x.write(files, len(root)); err != nil {
		return err
	}
	return t.writeFile(top, x.last)
}

// signature ends an index.
func (t *tool) signature(w io.Writer) {
	io.WriteString(w, t.paint(w, withcolor.Cyan, "\n"+madeBy))
}

// indexes writes the indexes of folders, those of inner ones first.
type indexes struct {
	*tool
	last func(io.Writer) // the one written last
}

// write writes the index of the folder that the first n bytes of all files name, and
// returns its numbers.
func (x *indexes) write(files []string, n int) (sum coverage.Summary, err error) {
	folder := files[0][:n]
	own := make(map[string]row)
	inner := make(map[string][]string)
	for _, file := range files {
		rest := file[n:]
		name, _, nested := strings.Cut(rest, "/")
		if nested {
			inner[name] = append(inner[name], file)
		} else {
			own[name] = row{rest, x.fileSum(file, true)}
		}
	}
	var rows []row
	for _, name := range slices.Sorted(maps.Keys(inner)) {
		list := inner[name]
		if len(list) == 1 {
			rows = append(rows, row{list[0][n:], x.fileSum(list[0], true)})
			continue
		}
		m := commonFolder(list, n)
		sub, err := x.write(list, n+m)
		if err != nil {
			return sum, err
		}
		rows = append(rows, row{list[0][n : n+m], sub})
	}
	for _, name := range slices.Sorted(maps.Keys(own)) {
		rows = append(rows, own[name])
	}
	for _, r := range rows {
		sum.Add(r.sum)
	}
	x.last = func(w io.Writer) {
		x.fileTable(w, rows, row{folder, sum}, len(x.filters) == 0)
		x.signature(w)
	}
	return sum, x.writeFile(x.outputPath(folder+"index", false), x.last)
}

// commonFolder returns how many bytes after the first n all files have in common, up to a
// separator. For one file it is all.
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
