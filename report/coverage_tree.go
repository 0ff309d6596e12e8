package report

import (
	"maps"
	"slices"
	"strings"
)

// A treeRow is a folder or file in the tree of coverage. Folders come before
// what is in them.
type treeRow struct {
	label string
	depth int
	file  int // number of the file; -1 of a folder
	covered
}

// A folder is one while the tree is made.
type folder struct {
	folders map[string]*folder
	files   []int
	covered
}

func (d *folder) add(number int, f *coveredFile, parts []string) {
	d.covered.add(f.covered)
	if len(parts) == 1 {
		d.files = append(d.files, number)
		return
	}
	sub := d.folders[parts[0]]
	if sub == nil {
		sub = &folder{}
		if d.folders == nil {
			d.folders = make(map[string]*folder)
		}
		d.folders[parts[0]] = sub
	}
	sub.add(number, f, parts[1:])
}

// splitPath splits a path at slashes, or at backslashes if it has no others;
// these stay at the ends of the folders' names.
func splitPath(path string) []string {
	separator := "/"
	if !strings.Contains(path, separator) {
		separator = `\`
	}
	parts := strings.SplitAfterN(path, separator, maxPathDepth)
	if last := len(parts) - 1; last > 0 && parts[last] == "" {
		parts = parts[:last]
	}
	return parts
}

// tree lays the files out below their folders. Folders with nothing but one
// folder are one row with it.
func (c *coverage) tree() []treeRow {
	root := &folder{}
	base := make([]string, len(c.files))
	for i, f := range c.files {
		parts := splitPath(f.path)
		base[i] = parts[len(parts)-1]
		root.add(i, f, parts)
	}
	var rows []treeRow
	var walk func(d *folder, depth int)
	walk = func(d *folder, depth int) {
		for _, name := range slices.Sorted(maps.Keys(d.folders)) {
			sub := d.folders[name]
			for len(sub.files) == 0 && len(sub.folders) == 1 {
				for more, only := range sub.folders {
					name, sub = name+more, only
				}
			}
			rows = append(rows, treeRow{name, depth, -1, sub.covered})
			walk(sub, depth+1)
		}
		for _, i := range d.files {
			rows = append(rows, treeRow{base[i], depth, i, c.files[i].covered})
		}
	}
	walk(root, 0)
	return rows
}
