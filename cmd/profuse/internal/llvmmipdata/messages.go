package llvmmipdata

import (
	"errors"
	"strings"
	"syscall"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/withcolor"
	"github.com/profuse-pgo/profuse/mip"
	"github.com/profuse-pgo/profuse/profile"
)

//lint:file-ignore ST1005 the words are those of strerror and LLVM

// The last line of a failed run says no more than the kind of the failure, in
// the words of std::error_code; what is wrong was said when it was found. The
// errors that the commands return are about that line.
var (
	// errInvalid ends a run that found fault with an input or an option.
	errInvalid = errors.New("Invalid argument")
	// errNoObject and errBadObject are about the file given by --debug.
	errNoObject  = errors.New("The file was not recognized as a valid object file")
	errBadObject = errors.New("Invalid data was encountered while parsing the file")
)

// words says an error as its last line does: a system error as strerror, any
// other as it is.
func words(err error) string {
	if s, ok := withcolor.Strerror(err); ok {
		return s
	}
	return err.Error()
}

// refuse says what is wrong with an input, in the original's words if it has
// any, and returns the error that ends the run.
func (t *tool) refuse(err error) error {
	lines := mip.LLVMMessages(err)
	if lines == nil {
		lines = []string{err.Error()}
	}
	for _, l := range lines {
		t.msg.Error(l)
	}
	return errInvalid
}

// cannotOpen says that a file cannot be opened. The original does not say why.
func (t *tool) cannotOpen(path string) { t.msg.Error("Unable to open " + path) }

// isSystem reports whether err is from opening or reading a file, not about
// its contents.
func isSystem(err error) bool {
	var no syscall.Errno
	var fe *profile.FormatError
	return errors.As(err, &no) && !errors.As(err, &fe)
}

// reason says in one line why an input is left out.
func reason(err error) string {
	if isSystem(err) {
		return words(err)
	}
	var me *mip.MIPError
	if errors.As(err, &me) {
		return me.Error()
	}
	var fe *profile.FormatError
	if errors.As(err, &fe) {
		return strings.TrimPrefix(fe.Error(), fe.File+": ")
	}
	return err.Error()
}
