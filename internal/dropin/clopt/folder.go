package clopt

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Walk visits everything below a folder except the folders themselves, in the order in which the system lists the
// entries, depth first, as LLVM's recursive_directory_iterator does. It follows symbolic links unless a link leads
// to a folder that contains it. For a link to nowhere, visit gets an error instead of info.
func Walk(dir string, visit func(path string, info fs.FileInfo, err error)) error {
	return walk(dir, nil, visit)
}

func walk(dir string, inside []fs.FileInfo, visit func(path string, info fs.FileInfo, err error)) error {
	here, err := os.Stat(dir)
	if err != nil || slices.ContainsFunc(inside, func(i fs.FileInfo) bool { return os.SameFile(i, here) }) {
		return err
	}
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	names, err := f.Readdirnames(-1)
	f.Close()
	if err != nil {
		return err
	}
	inside = append(inside, here)
	for _, name := range names {
		path := strings.TrimRight(dir, string(filepath.Separator)) + string(filepath.Separator) + name
		info, err := os.Stat(path)
		if err != nil || !info.IsDir() {
			visit(path, info, err)
		} else if err := walk(path, inside, visit); err != nil {
			return err
		}
	}
	return nil
}
