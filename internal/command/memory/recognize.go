package memory

import (
	"bytes"

	"github.com/profuse-pgo/profuse/formats"
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

// Recognize returns how many bytes contents that begin with head may have, 0 if they
// are of no format that profuse reads. It is for [inputs.Options].
func Recognize(head []byte) int64 {
	f, _ := formats.Detect(head)
	switch f {
	case 0:
		return 0
	case formats.MemProfYAML, formats.MIPYAML, formats.IprofProfile, formats.SampleText:
		return maxText
	case formats.IRPGOText: // any text is detected as such
		if bytes.IndexByte(head, 0) >= 0 {
			return 0
		}
		return maxText
	}
	return maxBinary
}
