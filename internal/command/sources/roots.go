package sources

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
	"github.com/profuse-pgo/profuse/internal/sourcepath"
	"github.com/profuse-pgo/profuse/profile/coverage"
)

// Roots is the option --root: the folders to which a file for other tools makes the names of sources relative.
// Services find a source by its name in the repository, but genhtml and other readers of tracefiles open it.
type Roots struct{ dirs cli.List }

// noRoot is the value of --root that keeps absolute names.
const noRoot = "none"

// Declare declares the option.
func (r *Roots) Declare(f *cli.Flags) {
	f.Var(&r.dirs, "root", "`DIR` make the names of sources below DIR relative to it in OUTPUT; \"none\" keeps names absolute; repeatable "+
		"(default none for lcov, otherwise the repository that holds the sources)")
}

// Given returns the folders of the option, each also by its path without symbolic links.
func (r *Roots) Given() (roots []string) {
	for _, dir := range r.dirs {
		if dir == noRoot {
			return nil
		}
		if !sourcepath.IsWindows(dir) { // which may be of another system
			if abs, err := filepath.Abs(dir); err == nil {
				dir = abs
			}
		}
		roots = append(roots, dir)
		if real, err := filepath.EvalSymlinks(dir); err == nil && !slices.Contains(roots, real) {
			roots = append(roots, real)
		}
	}
	return roots
}

// Of returns the folders for a coverage in a format. Unless it is quiet, it prints how many names stay absolute where
// relative ones are wanted.
func (r *Roots) Of(env *cli.Env, format coverage.Format, c *coverage.Coverage, quiet bool) []string {
	paths := make([]string, len(c.Files))
	for i, f := range c.Files {
		paths[i] = f.Path
	}
	roots := r.Given()
	switch {
	case len(r.dirs) > 0 && roots == nil, len(r.dirs) == 0 && (format == "lcov" || format == "llvm-json"):
		return nil
	case len(r.dirs) == 0:
		roots = sourcepath.Repositories(paths)
	}
	outside := 0
	for _, path := range paths {
		below := func(root string) bool { _, ok := sourcepath.Below(sourcepath.Clean(path), root); return ok }
		if sourcepath.IsAbsolute(path) && !slices.ContainsFunc(roots, below) {
			outside++
		}
	}
	if quiet || outside == 0 {
		return roots
	}
	why := "no repository holds them; --root DIR makes names relative to DIR"
	if len(roots) > 0 {
		why = "they are not below " + console.Printable(strings.Join(roots, " or "))
	}
	fmt.Fprintf(env.Stderr, "note: the names of %s stay absolute in OUTPUT: %s\n", cli.Quantity(outside, "source file", "source files"), why)
	return roots
}
