package inputs

import (
	"crypto/sha256"
	"io"
	"os"

	"github.com/profuse-pgo/profuse/internal/files/atomicfile"
	"github.com/profuse-pgo/profuse/internal/flaw"
)

// compareChecksum compares a file with the checksum beside it, if there is one. data is the
// contents of the file; nil if they have not been read.
func (in localInput) compareChecksum(data []byte) error {
	if in.fetch != nil || in.opts.NoGlob {
		return nil
	}
	want, ok, err := atomicfile.ReadChecksum(in.Name)
	if err != nil || !ok {
		return err
	}
	var got [sha256.Size]byte
	if data != nil {
		got = sha256.Sum256(data)
	} else if got, err = sumFile(in.Name); err != nil {
		return err
	}
	if got == want {
		return nil
	}
	return flaw.File(in.Name).Field("SHA-256 of the file").Gotf("%x", got).
		Wantf("%x, as the checksum beside it says", want).Corrupt()
}

// sumFile returns the checksum of a file.
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
