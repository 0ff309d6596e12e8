// Package sourcepath works on the paths of sources that profiles record, which may be paths of another system.
package sourcepath

import (
	"path"
	"strings"
)

// Below returns the part of a path below a folder. The separator is a slash or a backslash. Windows paths match with
// either, and without regard to case, and the part has slashes. If the path is not below the folder, Below returns it
// unchanged.
func Below(file, dir string) (rest string, ok bool) {
	dir = TrimSlash(dir)
	if IsWindows(file) {
		if whole, folder := Slashed(file), Slashed(dir); len(whole) >= len(folder) && strings.EqualFold(whole[:len(folder)], folder) {
			rest, ok = whole[len(folder):], true
		}
	} else {
		rest, ok = strings.CutPrefix(file, dir)
	}
	if !ok || rest == "" || rest[0] != '/' && rest[0] != '\\' {
		return file, false
	}
	return rest[1:], true
}

// Clean is [path.Clean] for paths of all systems: compilers join the folder in which they ran and "../src/a.c".
func Clean(file string) string {
	if IsWindows(file) {
		if strings.HasPrefix(file, `\\`) {
			return file // the two backslashes before a server would become one
		}
		return strings.ReplaceAll(path.Clean(Slashed(file)), "/", `\`)
	}
	return path.Clean(file)
}

// TrimSlash removes the separators at the end of a folder's path.
func TrimSlash(dir string) string { return strings.TrimRight(dir, `/\`) }

// Slashed replaces backslashes by slashes.
func Slashed(file string) string { return strings.ReplaceAll(file, `\`, "/") }

// IsWindows reports whether a path is of Windows: with a drive, of a server, or with backslashes as the only separators.
func IsWindows(file string) bool {
	return strings.HasPrefix(file, `\\`) || hasDrive(file) || strings.Contains(file, `\`) && !strings.Contains(file, "/")
}

func hasDrive(file string) bool {
	return len(file) > 2 && file[1] == ':' && (file[2] == '/' || file[2] == '\\')
}

// IsAbsolute reports whether a path is absolute on Unix or on Windows.
func IsAbsolute(file string) bool {
	return file != "" && (file[0] == '/' || file[0] == '\\') || hasDrive(file)
}
