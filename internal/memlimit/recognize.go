package memlimit

import (
	"bytes"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/profile/coverage"
)

// The sizes of files that their first bytes allow, in bytes. The text of a profile is
// several times larger than the other forms, and so is what a reader makes of it.
const (
	maxText   = 512 << 20
	maxBinary = 16 << 30
)

// SizeVariable is the environment variable that takes the place of option
// --max-input-size, for tools that cannot have one.
const SizeVariable = "PROFUSE_MAX_INPUT_SIZE"

// Recognize returns how many bytes contents that begin with head may have. The error says
// what they are if profuse does not read them. It is for [inputs.Options].
func Recognize(name string, head []byte) (most int64, err error) {
	f, ok := formats.Detect(head)
	switch {
	case f.IsText(), coverage.IsLCOV(head):
		return maxText, nil
	case ok:
		return maxBinary, nil
	}
	return 0, formats.WrongFormat(name, head, "a profile")
}

// RecognizeText is Recognize, but takes any text: for LLVM's tools it is a profile until it is
// read.
func RecognizeText(name string, head []byte) (most int64, err error) {
	most, err = Recognize(name, head)
	control := func(r rune) bool { return r < ' ' && (r < '\t' || r > '\r') }
	if err != nil && bytes.IndexFunc(head[:min(len(head), 8)], control) < 0 && bytes.IndexByte(head, 0) < 0 {
		return maxText, nil
	}
	return most, err
}
