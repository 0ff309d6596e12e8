package object

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/profuse-pgo/profuse/internal/flaw"
)

const (
	archiveMagic     = "!<arch>\n"
	thinArchiveMagic = "!<thin>\n"
)

// IsArchive reports whether data begins as a static archive (ar), also a thin one.
func IsArchive(data []byte) bool {
	return bytes.HasPrefix(data, []byte(archiveMagic)) || IsThinArchive(data)
}

// IsThinArchive reports whether data begins as an archive whose members are files beside it.
func IsThinArchive(data []byte) bool { return bytes.HasPrefix(data, []byte(thinArchiveMagic)) }

// Images calls fn for the program, library or object file in data, or for every one in a static archive, until fn returns an
// error. arch chooses the slice of a universal file. Images passes over members that are no images: indexes, or code for
// link-time optimization.
func Images(name string, data []byte, arch string, fn func(name string, data []byte) error) error {
	slice, err := Slice(name, data, arch)
	if err != nil {
		return err
	}
	if !IsArchive(slice) {
		return fn(name, data) // the whole file, for the offsets in messages
	}
	return Members(name, slice, func(member string, data []byte) error {
		if !IsImage(data) {
			return nil
		}
		return fn(fmt.Sprintf("%s(%s)", name, member), data)
	})
}

// Fields of the header of a member: text, filled up with spaces.
const (
	memberNameLen   = 16
	memberSizeAt    = 48
	memberSizeLen   = 10
	memberHeaderLen = 60
	memberEnd       = "`\n" // the last two bytes of the header
)

// Members calls fn for every member of a static archive in GNU or BSD form, except symbol indexes and
// tables of names, until fn returns an error. The members of a thin archive are files, named relative
// to the folder of the archive; Members reads each file once.
func Members(archive string, data []byte, fn func(member string, data []byte) error) (err error) {
	defer flaw.OfProgram(&err)
	thin := IsThinArchive(data)
	read := make(map[string]bool) // members of a thin archive
	var longNames []byte
	for pos := len(archiveMagic); pos < len(data); {
		at := flaw.At("archive", int64(pos)).InFile(archive)
		if len(data)-pos < memberHeaderLen {
			return at.Field("header of a member").Gotf("%d bytes", len(data)-pos).Wantf("%d bytes", memberHeaderLen).Truncated()
		}
		header := data[pos : pos+memberHeaderLen]
		if end := string(header[memberHeaderLen-2:]); end != memberEnd {
			return at.Field("end of the header of a member").Gotf("%q", end).Wantf("%q", memberEnd).Corrupt()
		}
		field := strings.TrimRight(string(header[memberSizeAt:memberSizeAt+memberSizeLen]), " ")
		size, err := strconv.ParseUint(field, 10, 63)
		pos += memberHeaderLen
		member := strings.TrimRight(string(header[:memberNameLen]), " ")
		// In a thin archive the size is the size of the file. Only indexes and tables of names are stored in the archive.
		outside := thin && member != "/" && member != "//" && member != "/SYM64/"
		if outside {
			size = 0
		}
		if err != nil || size > uint64(len(data)-pos) {
			return at.Field("size of a member").Gotf("%q", field).Wantf("at most the %d bytes left", len(data)-pos).Truncated()
		}
		body := data[pos : pos+int(size)]
		// Members begin at even offsets.
		pos += int(size+1) &^ 1
		switch {
		case member == "/", member == "/SYM64/", strings.HasPrefix(member, "__.SYMDEF"): // indexes of symbols
			continue
		case member == "//":
			longNames = body
			continue
		}
		name, contents, want := memberName(member, body, longNames)
		switch {
		case want != "":
			return at.Field("name of a member").Gotf("%q", member).Want(want).Corrupt()
		case strings.HasPrefix(name, "__.SYMDEF"):
			continue
		}
		member, body = name, contents
		if outside {
			// Headers may repeat a member as often as they like; its file is large, a header is not.
			if read[member] {
				continue
			}
			read[member] = true
			if body, err = readMember(archive, member); err != nil {
				return err
			}
		}
		if err := fn(member, body); err != nil {
			return err
		}
	}
	return nil
}

// memberName returns the whole name of a member and its contents, or what the name in its header should be.
func memberName(header string, body, longNames []byte) (name string, contents []byte, want string) {
	switch {
	case strings.HasPrefix(header, "#1/"): // BSD: the name precedes the contents
		n, err := strconv.ParseUint(header[len("#1/"):], 10, 31)
		if err != nil || n > uint64(len(body)) {
			return "", nil, fmt.Sprintf("a length of at most %d", len(body))
		}
		return strings.TrimRight(string(body[:n]), "\x00"), body[n:], ""
	case strings.HasPrefix(header, "/"): // GNU: offset of the name in the table
		n, err := strconv.ParseUint(header[1:], 10, 31)
		if err != nil || n >= uint64(len(longNames)) {
			return "", nil, fmt.Sprintf("an offset in the %d bytes of names", len(longNames))
		}
		// A name in the table ends with a slash and a line break.
		header, _, _ = strings.Cut(string(longNames[n:]), "\n")
	}
	return strings.TrimSuffix(header, "/"), body, ""
}

// A MemberError is the error of the system about the file of a member of a thin archive.
type MemberError struct {
	Member string // as the archive has it
	Err    error
}

func (e *MemberError) Error() string { return e.Err.Error() }

// Unwrap returns the error of the system.
func (e *MemberError) Unwrap() error { return e.Err }

func readMember(archive, member string) ([]byte, error) {
	path := filepath.FromSlash(member)
	// ar writes paths relative to the archive.
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(archive), path)
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, &MemberError{member, err}
	// Reading a pipe or a device might never end.
	case !info.Mode().IsRegular():
		return nil, flaw.File(archive).Field("member of the thin archive").Got(path).Want("a file").Corrupt()
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, &MemberError{member, err}
	}
	return data, nil
}
