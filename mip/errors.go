package mip

import (
	"errors"
	"fmt"
	"strings"

	"github.com/profuse-pgo/profuse/profile"
)

// A Code is a kind of failure that the reference tool llvm-mipdata also detects, so that
// the drop-in can print its message.
type Code int

// The failures that llvm-mipdata has messages for.
const (
	CodeTooSmall Code = iota + 1
	CodeBadMagic
	CodeBadVersion
	CodeBadFileType
	CodeBothWidths
	CodeBadProfileType
	CodeModuleHash
	CodeRawOffset
	CodeRawMismatch // only one of count and timestamp says that the function was called
	CodeObjects     // a .dSYM bundle without or with several files of debug info
)

// The messages of llvm-mipdata, one for each "error:" line; %s is the found value, %w the
// expected one.
var codes = map[Code]struct {
	class error
	lines []string
}{
	CodeTooSmall:       {profile.ErrTruncated, []string{"%f: too small", "Expected: >= %w", "     Got:    %s"}},
	CodeBadMagic:       {profile.ErrUnrecognized, []string{"%f: Invalid MIPMagic value\nExpected: %w\n     Got: %s"}},
	CodeBadVersion:     {profile.ErrUnsupported, []string{"%f: Invalid MIP version\nExpected: <=%w\n     Got: %s"}},
	CodeBadFileType:    {profile.ErrMismatch, []string{"%f: Invalid file type\nExpected: %w\n     Got: %s"}},
	CodeBothWidths:     {profile.ErrCorrupt, []string{"%f: File type cannot be both 64 bit and 32 bit\n     Got: %s"}},
	CodeBadProfileType: {profile.ErrCorrupt, []string{"%f: Invalid profile type\nGot: 0x%s "}},
	CodeModuleHash:     {profile.ErrMismatch, []string{"%f: Invalid module hash", "Expected: 0x%w", "     Got: 0x%s"}},
	CodeRawOffset:      {profile.ErrMismatch, []string{"Raw profile offset too large", "Expected: < %w", "     Got:   %s"}},
	CodeRawMismatch:    {profile.ErrCorrupt, []string{"Corrupt raw profile near offset 0x%s"}},
	CodeObjects:        {profile.ErrUnsupported, []string{"Cannot handle %s objects in %f"}},
}

// A MIPError is the cause inside a [profile.FormatError] for which llvm-mipdata has a
// message.
type MIPError struct {
	Code     Code
	Found    string // as the tool prints it
	Expected string // likewise; empty where it prints none

	class error // overrides the code's class, if that is too coarse
}

// Error returns the tool's message without the file's name.
func (e *MIPError) Error() string {
	s := strings.TrimPrefix(codes[e.Code].lines[0], "%f: ")
	s, _, _ = strings.Cut(strings.TrimSuffix(s, " in %f"), "\n")
	return strings.ReplaceAll(s, "%s", e.Found)
}

// Unwrap returns the class of the failure.
func (e *MIPError) Unwrap() error {
	if e.class != nil {
		return e.class
	}
	return codes[e.Code].class
}

// LLVMMessages returns the messages that llvm-mipdata prints for err, each after
// "error: "; nil if it has none.
func LLVMMessages(err error) []string {
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
	for _, l := range codes[me.Code].lines {
		out = append(out, fill.Replace(l))
	}
	return out
}

// toolHex formats v like llvm-mipdata: upper case without prefix.
func toolHex(v uint64) string { return fmt.Sprintf("%X", v) }
