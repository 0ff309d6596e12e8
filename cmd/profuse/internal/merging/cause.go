package merging

import (
	"bytes"
	"errors"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/profile"
)

// likelyCause says in words what usually leads to such an error; "" if there
// is nothing to say.
func (m *Report) likelyCause(err error, data []byte) string {
	var fe *profile.FormatError
	if !errors.As(err, &fe) {
		return ""
	}
	kind, isKind := knownContents(data)
	switch {
	case fe.Class() == profile.ErrEmpty && fe.Field == "archive":
		return "nothing was packed into it"
	case fe.Class() == profile.ErrEmpty:
		return "the process was killed before it wrote its profile, or its disk was full"
	case isKind:
		return "it is " + kind
	case len(data) > 0 && len(bytes.Trim(data, "\x00")) == 0:
		return "it is all zeros: room was reserved, and the system stopped before the data was on disk"
	}
	if m.Cause != nil {
		if cause := m.Cause(fe, data); cause != "" {
			return cause
		}
	}
	if fe.Class() == profile.ErrTruncated {
		return "its end is missing: the writer was killed or its disk was full"
	}
	return ""
}

// knownContents recognizes what is no profile but often among them.
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
