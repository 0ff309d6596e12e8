package inputs

import (
	"errors"
	"io"
	"io/fs"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/profile"
)

// TestContainerErrors: what is wrong with a container is told in its words, with the layer that it is in.
func TestContainerErrors(t *testing.T) {
	gz := gzipOf(random(5000))
	dictionary := []byte{0x28, 0xb5, 0x2f, 0xfd, 0x21, 0x07, 0x00, 0x01, 0x00, 0x00} // one block, of dictionary 7
	checksum := tarOf("a", "text")
	copy(checksum[tarChecksum:], "no octal")
	for _, c := range []struct {
		name string
		in   []byte
		want string // after the name of the file; "" if it is no container
	}{
		{"zstd, external dictionary", dictionary, ": zstd stream: dictionary is external, want none: unsupported profile version or variant"},
		{"gzip, cut", gz[:100], ": gzip stream: truncated profile"},
		{"gzip, no deflate", append(gz[:10:10], 0xff, 0xff, 0xff), ": gzip stream: flate: corrupt input before offset 1: corrupt profile"},
		{"tar, checksum that is no number", checksum, ""},
	} {
		got, err := list(t, c.in, Options{})
		if c.want == "" {
			if err != nil || len(got) != 1 || got[0] != "="+string(c.in) {
				t.Errorf("%s: %d members, %v; want the bytes as they are", c.name, len(got), err)
			}
			continue
		}
		if fe := (*profile.FormatError)(nil); !errors.As(err, &fe) || !strings.HasSuffix(err.Error(), "in"+c.want) {
			t.Errorf("%s:\n got %v\nwant …in%s", c.name, err, c.want)
		}
	}
}

// TestStreamThatFails: the error of a disk or of a network is passed on as it
// is, however deep in containers it is met: the profile is not to blame.
func TestStreamThatFails(t *testing.T) {
	broken := &fs.PathError{Op: "read", Path: "socket", Err: errors.New("connection reset")}
	files := tarOf("a", strings.Repeat("1", 4000), "b.gz", string(gzipOf(random(3000))))
	for name, b := range map[string][]byte{"plain": random(5000), "gz": gzipOf(random(5000)), "zst": zstdOf(random(5000)), "tar": files, "tar.gz": gzipOf(files)} {
		for n := 0; n < len(b); n += 1 + len(b)/50 {
			in := Input{Name: Stdin, opts: &Options{Stdin: io.MultiReader(strings.NewReader(string(b[:n])), failing{broken})}}
			err := in.Each(nil, func(*Data) error { return nil })
			if !errors.Is(err, broken) || profile.ClassOf(err) != profile.Unreadable {
				t.Errorf("%s after %d bytes: %v, want %v", name, n, err, broken)
			}
		}
	}
}
