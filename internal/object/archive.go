package object

import (
	"bytes"
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
	return bytes.HasPrefix(data, []byte(archiveMagic)) || bytes.HasPrefix(data, []byte(thinArchiveMagic))
}

// Fields of the header of a member: text, filled up with spaces.
const (
	memberNameLen   = 16
	memberSizeAt    = 48
	memberSizeLen   = 10
	memberHeaderLen = 60
	memberEnd       = "`\n" // the last two bytes of the header
)

// Members calls fn for every member of a static archive in GNU or BSD form but
// for symbol indexes and tables of names, until fn returns an error. A thin
// archive, which only names its members' files, is an error of class
// [profile.ErrUnsupported].
func Members(name string, data []byte, fn func(member string, data []byte) error) error {
	if bytes.HasPrefix(data, []byte(thinArchiveMagic)) {
		return flaw.File(name).Field("archive").Got("a thin one").Want("one that holds its members, or the objects themselves").Unsupported()
	}
	var longNames []byte
	for pos := len(archiveMagic); pos < len(data); {
		at := flaw.At("archive", int64(pos)).InFile(name)
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
		if err != nil || size > uint64(len(data)-pos) {
			return at.Field("size of a member").Gotf("%q", field).Wantf("at most the %d bytes left", len(data)-pos).Truncated()
		}
		member := strings.TrimRight(string(header[:memberNameLen]), " ")
		body := data[pos : pos+int(size)]
		pos += int(size+1) &^ 1
		switch {
		case member == "/", member == "/SYM64/", strings.HasPrefix(member, "__.SYMDEF"): // indexes of symbols
			continue
		case member == "//":
			longNames = body
			continue
		case strings.HasPrefix(member, "#1/"): // BSD: the name precedes the contents
			n, err := strconv.ParseUint(member[len("#1/"):], 10, 31)
			if err != nil || n > uint64(len(body)) {
				return at.Field("name of a member").Gotf("%q", member).Wantf("a length of at most %d", len(body)).Corrupt()
			}
			member, body = strings.TrimRight(string(body[:n]), "\x00"), body[n:]
			if strings.HasPrefix(member, "__.SYMDEF") {
				continue
			}
		case strings.HasPrefix(member, "/"): // GNU: offset of the name in the table
			n, err := strconv.ParseUint(member[1:], 10, 31)
			if err != nil || n >= uint64(len(longNames)) {
				return at.Field("name of a member").Gotf("%q", member).Wantf("an offset in the %d bytes of names", len(longNames)).Corrupt()
			}
			line, _, _ := strings.Cut(string(longNames[n:]), "\n")
			member = strings.TrimSuffix(line, "/")
		default:
			member = strings.TrimSuffix(member, "/")
		}
		if err := fn(member, body); err != nil {
			return err
		}
	}
	return nil
}
