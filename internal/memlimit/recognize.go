package memlimit

import (
	"bytes"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/profile/coverage"
)

// The greatest sizes of recognized files in bytes. Readers of text need several times its size.
const (
	maxText   = 512 << 20
	maxBinary = 16 << 30
)

// SizeVariable is the environment variable for --max-input-size, for tools without this option.
const SizeVariable = "PROFUSE_MAX_INPUT_SIZE"

// Recognize returns the greatest size, in bytes, of a file that begins with head, for [inputs.Options].
// If profuse does not read the file, the error names its format.
func Recognize(name string, head []byte) (most int64, err error) {
	f, ok := formats.Detect(head)
	switch {
	case f.Describe().IsText, coverage.IsLCOV(head):
		return maxText, nil
	case ok:
		return maxBinary, nil
	}
	return 0, formats.WrongFormat(name, head, "a profile")
}

// RecognizeText is Recognize, but takes any text, like LLVM's tools.
func RecognizeText(name string, head []byte) (most int64, err error) {
	most, err = Recognize(name, head)
	control := func(r rune) bool { return r < ' ' && (r < '\t' || r > '\r') }
	if err != nil && bytes.IndexFunc(head[:min(len(head), 8)], control) < 0 && bytes.IndexByte(head, 0) < 0 {
		return maxText, nil
	}
	return most, err
}
