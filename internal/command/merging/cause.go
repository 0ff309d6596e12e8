package merging

import (
	"bytes"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/profile"
)

// generalCause returns the likely cause of an error in any format, or "" if none
// is known.
func generalCause(e *profile.FormatError, data []byte) string {
	kind, isKind := knownContents(data)
	switch {
	case profile.ClassOf(e) == profile.ErrEmpty && e.Field == "archive":
		return "nothing was packed into it"
	case profile.ClassOf(e) == profile.ErrEmpty:
		return "the process was killed before it wrote its profile, or its disk was full"
	case isKind && profile.ClassOf(e) != profile.ErrUnsupported:
		return "it is " + kind
	case len(data) > 0 && len(bytes.Trim(data, "\x00")) == 0:
		return "all bytes are zero: the file was allocated, but the system stopped before the data reached the disk"
	}
	return ""
}

// knownContents recognizes files that are not profiles but often lie among them.
func knownContents(data []byte) (string, bool) {
	for _, k := range []struct{ magic, what string }{
		{"version https://git-lfs", "a pointer of Git LFS, not the file itself"},
		{"<!DOCTYPE", "a web page: the download failed"},
		{"<html", "a web page: the download failed"},
		{"<?xml", "XML: the download failed"},
		{"PERFILE2", "data of perf record"},
		{"adcg", "a profile of gcc (.gcda)"},
		{"oncg", "notes of gcc (.gcno)"},
		{"BC\xc0\xde", "LLVM bitcode"},
		{"!<arch>", "a library"},
	} {
		if bytes.HasPrefix(data, []byte(k.magic)) {
			return k.what, true
		}
	}
	if f, _ := formats.Detect(data); f == formats.Binary {
		return "a program, not its profile", true
	}
	return "", false
}
