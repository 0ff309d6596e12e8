package sourcepath

import (
	"cmp"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Repositories returns the root of the repository that holds the sources: the repository of the current folder, if it
// holds one of them, or else the repository that holds most. It returns several paths if sources name that folder by
// several, for example through a symbolic link, and none if no repository holds a source. A submodule belongs to the
// repository around it.
func Repositories(files []string) []string {
	f := make(finder)
	count := make(map[string]int)                 // sources below a root, by the path of the root without links
	names := make(map[string]map[string]struct{}) // the paths by which sources name the root
	for _, file := range files {
		if !filepath.IsAbs(file) || len(file) > maxPath {
			continue
		}
		root := f.find(filepath.Dir(filepath.Clean(file))).root
		if root == "" {
			continue
		}
		real := withoutLinks(root)
		count[real]++
		if names[real] == nil {
			names[real] = make(map[string]struct{})
		}
		names[real][root] = struct{}{}
	}
	best := ""
	if dir, err := os.Getwd(); err == nil {
		best = withoutLinks(f.find(dir).root)
	}
	if count[best] == 0 {
		best = ""
		for root, n := range count {
			if best == "" || cmp.Or(cmp.Compare(n, count[best]), strings.Compare(best, root)) > 0 {
				best = root
			}
		}
	}
	var roots []string
	for name := range names[best] {
		roots = append(roots, name)
	}
	slices.Sort(roots)
	return roots
}

// withoutLinks returns the path of a folder without symbolic links; the path itself if that fails.
func withoutLinks(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil && dir != "" {
		return real
	}
	return dir
}

// markers are the entries that the root of a repository has, of Git, Jujutsu, Mercurial and Subversion.
var markers = []string{".git", ".jj", ".hg", ".svn"}

// maxPath is the length in bytes of the longest path that is looked for: the limit of Linux.
const maxPath = 4 << 10

// A finder finds the roots of repositories and remembers them by folder.
type finder map[string]place

// A place is what is known of a folder.
type place struct {
	root    string // of the innermost repository around it that is no submodule; "" if there is none
	missing bool   // the folder does not exist
}

func (f finder) find(dir string) (p place) {
	if known, ok := f[dir]; ok {
		return known
	}
	if parent := filepath.Dir(dir); parent != dir {
		p = f.find(parent)
	}
	if !p.missing {
		_, err := os.Stat(dir)
		p.missing = err != nil
	}
	for i := 0; i < len(markers) && !p.missing; i++ {
		marker := filepath.Join(dir, markers[i])
		info, err := os.Lstat(marker)
		if err == nil && (p.root == "" || info.IsDir() || !isSubmodule(marker)) {
			p.root = dir
		}
	}
	f[dir] = p
	return p
}

// isSubmodule reports whether a file ".git" is of a submodule. It names a folder in the ".git" of the repository
// around it: ".git/modules/NAME" for a submodule, ".git/worktrees/NAME" for a worktree, which is a root.
func isSubmodule(name string) bool {
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, 4<<10)) // longer than any path
	if err != nil {
		return false
	}
	folder, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir:")
	folder = Slashed(folder)
	return ok && strings.LastIndex(folder, "/modules/") > strings.LastIndex(folder, "/worktrees/")
}
