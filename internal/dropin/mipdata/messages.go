package mipdata

import (
	"errors"
	"strings"
	"syscall"

	"github.com/profuse-pgo/profuse/internal/dropin/withcolor"
	"github.com/profuse-pgo/profuse/internal/llvm/llvmerr"
	"github.com/profuse-pgo/profuse/profile"
)

//lint:file-ignore ST1005 strerror and LLVM use these words

// The last line of a failed run names only the kind of failure, in the words of std::error_code.
// Commands print the details first and then return one of these errors.
var (
	// errInvalid ends a run with a wrong input or option.
	errInvalid = errors.New("Invalid argument")
	// errNoObject and errBadObject are about the file of option --debug.
	errNoObject  = errors.New("The file was not recognized as a valid object file")
	errBadObject = errors.New("Invalid data was encountered while parsing the file")
)

// refuse prints the error of an input, in the original's words if it has any, and returns the
// error that ends the run.
func (t *tool) refuse(err error) error {
	lines := llvmerr.MIPMessages(err)
	if lines == nil {
		lines = []string{err.Error()}
	}
	for _, l := range lines {
		t.msg.Error(l)
	}
	return errInvalid
}

// cannotOpen prints that a file cannot be opened, without the reason, as the original does.
func (t *tool) cannotOpen(path string) { t.msg.Error("Unable to open " + path) }

// isSystem reports whether err comes from opening or reading a file and is not about its contents.
func isSystem(err error) bool {
	var no syscall.Errno
	var fe *profile.FormatError
	return errors.As(err, &no) && !errors.As(err, &fe)
}

// reason returns on one line why an input is skipped.
func reason(err error) string {
	if isSystem(err) {
		return withcolor.Words(err)
	}
	var me *llvmerr.MIPError
	if errors.As(err, &me) {
		return me.Error()
	}
	var fe *profile.FormatError
	if errors.As(err, &fe) {
		return strings.TrimPrefix(fe.Error(), fe.File+": ")
	}
	return err.Error()
}
