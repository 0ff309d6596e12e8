// Package buildid reads and writes the file with a program's build id beside a .mip.
package buildid

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/profuse-pgo/profuse/internal/flaw"
)

// Suffix is the suffix, after the name of a .mip, of the file with the build id of the binary.
//
// The .mip format has no place for a build id, and its module hash is the same
// for every build. The file is optional; it is text of one line,
//
//	build-id 7f2c…
//
// with hexadecimal digits, two for each byte. Further lines are reserved and
// ignored; lines that begin with # are comments.
const Suffix = ".id"

const (
	key = "build-id"
	// maxSize bounds the bytes of a build id, which usually has 16 or 20.
	maxSize = 1 << 10
)

// Write writes the contents of the file beside a .mip.
func Write(w io.Writer, id []byte) error {
	if len(id) == 0 || len(id) > maxSize {
		return flaw.In("options").Field("build id").Gotf("%d bytes", len(id)).Wantf("1 to %d", maxSize).Unsupported()
	}
	_, err := fmt.Fprintf(w, "%s %x\n", key, id)
	return err
}

// Find returns the build id in the file beside a .mip; nil if there is no file.
func Find(profilePath string) ([]byte, error) {
	f, err := os.Open(profilePath + Suffix)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	defer f.Close()
	id, err := read(f)
	if err != nil {
		return nil, flaw.InFile(err, f.Name())
	}
	return id, nil
}

func read(r io.Reader) ([]byte, error) {
	s := bufio.NewScanner(r)
	line := 0
	for s.Scan() {
		line++
		word, value, _ := strings.Cut(strings.TrimSpace(s.Text()), " ")
		if word != key {
			continue
		}
		id, err := hex.DecodeString(strings.TrimSpace(value))
		if err != nil || len(id) == 0 || len(id) > maxSize {
			return nil, flaw.In("build id").OnLine(line).Field(key).Got(flaw.Quote(bytes.TrimSpace([]byte(value)))).
				Wantf("1 to %d bytes in hexadecimal", maxSize).Corrupt()
		}
		return id, nil
	}
	if err := s.Err(); err != nil && err != bufio.ErrTooLong {
		return nil, err
	}
	return nil, flaw.In("build id").OnLine(max(line, 1)).Field(key).Got("missing").Want("a line with it").Truncated()
}
