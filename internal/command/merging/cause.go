package merging

import (
	"fmt"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/profile"
)

// WrongFormat returns the error about an input of another format than the merge takes; want is
// the name of that format, such as "an IRPGO profile".
func WrongFormat(name string, data []byte, want string) error {
	if f, ok := formats.Detect(data); ok && f != formats.Binary {
		return formats.WrongFormat(name, data, want+", which this merge takes")
	}
	return formats.WrongFormat(name, data, "a profile")
}

// ErrOtherProgram is the cause of an error about an input of another program than the options
// ask for. The functions of such an input do not count as lost.
var ErrOtherProgram = fmt.Errorf("another program: %w", profile.ErrMismatch)

// generalCause returns the likely cause of an error in any format; "" if unknown.
func generalCause(e *profile.FormatError) string {
	switch {
	case profile.ClassOf(e) == profile.ErrEmpty && e.Field == "archive":
		return "nothing was packed into it"
	case profile.ClassOf(e) == profile.ErrEmpty:
		return "the process was killed before it wrote its profile, or its disk was full"
	}
	return ""
}
