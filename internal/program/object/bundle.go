package object

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/internal/flaw"
)

// BundleFolder is the folder of a .dSYM bundle that holds the debug information.
const BundleFolder = "Contents/Resources/DWARF"

// BundledFile returns the only file of debug information in a .dSYM bundle. A path
// that is not a folder it returns unchanged. A bundle without a file or with
// several is an error of class [profile.ErrUnsupported] that names them.
func BundledFile(path string) (string, error) {
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return path, err
	}
	dir := filepath.Join(path, BundleFolder)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	if len(entries) != 1 {
		var names []string
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return "", flaw.In("bundle").InFile(path).Field("number of objects").
			Got(strings.TrimSuffix(fmt.Sprintf("%d: %s", len(names), strings.Join(names, ", ")), ": ")).
			Want("1").Unsupported()
	}
	return filepath.Join(dir, entries[0].Name()), nil
}

// IsFolder reports whether programs are searched for in a path: a folder, but no .dSYM bundle, or an archive.
func IsFolder(path string) bool {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return false
	case info.IsDir():
		return filepath.Ext(filepath.Clean(path)) != ".dSYM"
	}
	return info.Mode().IsRegular() && inputs.File(path, inputs.Options{}).Heads(true, func([]byte) bool { return false })
}
