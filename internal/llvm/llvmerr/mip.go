package llvmerr

import (
	"errors"
	"strings"

	"github.com/profuse-pgo/profuse/profile"
)

// A MIPCode is a kind of failure of llvm-mipdata.
type MIPCode int

// The failures that llvm-mipdata has messages for.
const (
	MIPTooSmall MIPCode = iota + 1
	MIPBadMagic
	MIPBadVersion
	MIPBadFileType
	MIPBothWidths
	MIPBadProfileType
	MIPModuleHash
	MIPRawOffset
	MIPRawMismatch // only one of count and timestamp says that the function was called
	MIPObjects     // a .dSYM bundle without or with several files of debug info
)

// The messages of llvm-mipdata, one for each "error:" line; %f is the file, %s the found value, %w the expected value.
var mipCodes = map[MIPCode]struct {
	class error
	lines []string
}{
	MIPTooSmall:       {profile.ErrTruncated, []string{"%f: too small", "Expected: >= %w", "     Got:    %s"}},
	MIPBadMagic:       {profile.ErrUnrecognized, []string{"%f: Invalid MIPMagic value\nExpected: %w\n     Got: %s"}},
	MIPBadVersion:     {profile.ErrUnsupported, []string{"%f: Invalid MIP version\nExpected: <=%w\n     Got: %s"}},
	MIPBadFileType:    {profile.ErrMismatch, []string{"%f: Invalid file type\nExpected: %w\n     Got: %s"}},
	MIPBothWidths:     {profile.ErrCorrupt, []string{"%f: File type cannot be both 64 bit and 32 bit\n     Got: %s"}},
	MIPBadProfileType: {profile.ErrCorrupt, []string{"%f: Invalid profile type\nGot: 0x%s "}},
	MIPModuleHash:     {profile.ErrMismatch, []string{"%f: Invalid module hash", "Expected: 0x%w", "     Got: 0x%s"}},
	MIPRawOffset:      {profile.ErrMismatch, []string{"Raw profile offset too large", "Expected: < %w", "     Got:   %s"}},
	MIPRawMismatch:    {profile.ErrCorrupt, []string{"Corrupt raw profile near offset 0x%s"}},
	MIPObjects:        {profile.ErrUnsupported, []string{"Cannot handle %s objects in %f"}},
}

// A MIPError is the cause inside a [profile.FormatError] if llvm-mipdata has a message for it.
type MIPError struct {
	Code     MIPCode
	Found    string // as the tool prints it
	Expected string // likewise; empty where it prints none
	Class    error  // overrides the code's class, if that is too coarse
}

// Error returns the tool's message without the file's name.
func (e *MIPError) Error() string {
	s := strings.TrimPrefix(mipCodes[e.Code].lines[0], "%f: ")
	s, _, _ = strings.Cut(strings.TrimSuffix(s, " in %f"), "\n")
	return strings.ReplaceAll(s, "%s", e.Found)
}

// Unwrap returns the class of the failure.
func (e *MIPError) Unwrap() error {
	if e.Class != nil {
		return e.Class
	}
	return mipCodes[e.Code].class
}

// MIPMessages returns the messages that llvm-mipdata prints for err, each after "error: "; nil if it has none.
func MIPMessages(err error) []string {
	var me *MIPError
	if !errors.As(err, &me) {
		return nil
	}
	file := ""
	if fe := (*profile.FormatError)(nil); errors.As(err, &fe) {
		file = fe.File
	}
	fill := strings.NewReplacer("%f", file, "%w", me.Expected, "%s", me.Found)
	var out []string
	for _, l := range mipCodes[me.Code].lines {
		out = append(out, fill.Replace(l))
	}
	return out
}
