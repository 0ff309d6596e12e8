package inputs

import (
	"crypto/sha256"
	"io"
	"os"

	"github.com/profuse-pgo/profuse/internal/files/atomicfile"
	"github.com/profuse-pgo/profuse/internal/flaw"
)

// compareChecksum compares a file with the checksum beside it, if there is one.
func (in localInput) compareChecksum(src *source) error {
	if in.Name == Stdin || in.fetch != nil || src.opts.NoGlob {
		return nil
	}
	want, ok, err := atomicfile.ReadChecksum(in.Name)
	if err != nil || !ok {
		return err
	}
	var got [sha256.Size]byte
	if d := src.data; d != nil {
		err = Guard(func() error { got = sha256.Sum256(d.bytes); return nil }, d)
	} else {
		got, err = sumFile(in.Name)
	}
	if err != nil || got == want {
		return err
	}
	return flaw.File(in.Name).Field("SHA-256 of the file").Gotf("%x", got).
		Wantf("%x, as the checksum beside it says", want).Corrupt()
}

// sumFile returns the checksum of a compressed file.
func sumFile(name string) (sum [sha256.Size]byte, err error) {
	f, err := os.Open(name)
	if err != nil {
		return sum, err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return sum, err
	}
	h.Sum(sum[:0])
	return sum, nil
}

// discard closes a source that is not read.
func (s *source) discard() {
	if s.data != nil {
		s.data.Close()
	} else if s.close != nil {
		s.close() // nothing was written that could be lost
	}
}
