package coverage

import (
	"maps"
	"slices"
	"strings"
)

// maxDepth limits the folders of a path; the rest of a deeper path is one name.
const maxDepth = 40

// A Row is a row of the tree of source files: a folder or a file.
type Row struct {
	Label string // "src/lib/" for a folder, "a.c" for a file
	Depth int    // 0 at the top
	File  int    // index in the files; -1 for a folder
	Total Summary
}

// Tree arranges files below their folders, each folder before its contents. A
// folder whose only entry is a folder shares that folder's row.
func Tree(files []*File) []Row {
	root := &folder{}
	base := make([]string, len(files))
	for i, f := range files {
		parts := splitPath(f.Path)
		base[i] = parts[len(parts)-1]
		root.addFile(i, f, parts)
	}
	var rows []Row
	var walk func(d *folder, depth int)
	walk = func(d *folder, depth int) {
		for _, name := range sortedKeys(d.folders) {
			sub := d.folders[name]
			for len(sub.files) == 0 && len(sub.folders) == 1 {
				for more, only := range sub.folders {
					name, sub = name+more, only
				}
			}
			rows = append(rows, Row{name, depth, -1, sub.total})
			walk(sub, depth+1)
		}
		for _, i := range d.files {
			rows = append(rows, Row{base[i], depth, i, files[i].Total})
		}
	}
	walk(root, 0)
	return rows
}

type folder struct {
	folders map[string]*folder
	files   []int
	total   Summary
}

func (d *folder) addFile(number int, f *File, parts []string) {
	d.total.Add(f.Total)
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
	sub.addFile(number, f, parts[1:])
}

// splitPath splits a path at slashes, or at backslashes if it has no slash. The
// separators stay at the ends of the folders' names.
func splitPath(path string) []string {
	separator := "/"
	if !strings.Contains(path, separator) {
		separator = `\`
	}
	parts := strings.SplitAfterN(path, separator, maxDepth)
	if last := len(parts) - 1; last > 0 && parts[last] == "" {
		parts = parts[:last]
	}
	return parts
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
