package iprof

import (
	"fmt"
	"math"
	"strconv"
)

// A TypeID is the number of a type in one file. Equal numbers in two files
// mean nothing.
type TypeID int32

// A MethodID is the number of a method in one file.
type MethodID int32

// A BCI is the index of a bytecode in its method, 0 to 65535, or one of the constants
// below.
type BCI int32

// Pseudo indexes, with their names in jdk.vm.ci.code.BytecodeFrame.
const (
	unwindBCI            BCI = -1 // UNWIND_BCI: leaving the method with an exception
	beforeBCI            BCI = -2 // BEFORE_BCI: before the first bytecode
	afterBCI             BCI = -3 // AFTER_BCI: after the last one
	afterExceptionBCI    BCI = -4 // AFTER_EXCEPTION_BCI: likewise, with an exception
	unknownBCI           BCI = -5 // UNKNOWN_BCI: as a branch target, one that another record names
	invalidFrameStateBCI BCI = -6 // INVALID_FRAMESTATE_BCI: the compiler had lost the place

	// maxBCI is the largest index that a class file can have.
	maxBCI BCI = math.MaxUint16
)

var bciNames = [...]string{
	-unwindBCI:            "UNWIND_BCI",
	-beforeBCI:            "BEFORE_BCI",
	-afterBCI:             "AFTER_BCI",
	-afterExceptionBCI:    "AFTER_EXCEPTION_BCI",
	-unknownBCI:           "UNKNOWN_BCI",
	-invalidFrameStateBCI: "INVALID_FRAMESTATE_BCI",
}

// String returns the number, or the name of a constant: "UNWIND_BCI".
func (b BCI) String() string {
	if b >= 0 || b < invalidFrameStateBCI {
		return strconv.Itoa(int(b))
	}
	return bciNames[-b]
}

// valid reports whether b is a bytecode index or a known constant.
func (b BCI) valid() bool { return invalidFrameStateBCI <= b && b <= maxBCI }

// A Frame is a place in a method.
type Frame struct {
	Method MethodID
	BCI    BCI
}

// A Context is the place of a count, frame 0, and the calls that led there: each further
// frame is the caller of its predecessor, at the bytecode of the call. The last frame is
// the compiled method, which the others are inlined into; in [Samples] it is the bottom
// of the stack.
type Context []Frame

// leaf returns the place that the count is about.
func (c Context) leaf() Frame { return c[0] }

// append appends the context in the notation of files since 0.4.0.
func (c Context) append(dst []byte) []byte {
	for i, f := range c {
		if i > 0 {
			dst = append(dst, '<')
		}
		dst = strconv.AppendInt(dst, int64(f.Method), 10)
		dst = append(dst, ':')
		dst = strconv.AppendInt(dst, int64(f.BCI), 10)
	}
	return dst
}

// String returns the context in the notation of files since 0.4.0: "5:0<3:2<1:3".
func (c Context) String() string { return string(c.append(nil)) }

// parseFrames appends the frames in text to dst. If it fails, want is not empty: it
// describes what is expected at offset at.
func parseFrames(dst []Frame, text []byte, separator byte) (frames []Frame, at int, want string) {
	for {
		method, n := parseDigits(text[at:])
		switch {
		case n == 0:
			return dst, at, "a method's id"
		case method > math.MaxInt32:
			return dst, at, "an id of at most 2147483647"
		}
		if at += n; at == len(text) || text[at] != ':' {
			return dst, at, "a colon"
		}
		at++
		negative := at < len(text) && text[at] == '-'
		if negative {
			at++
		}
		bci, n := parseDigits(text[at:])
		switch {
		case n == 0:
			return dst, at, "a bytecode index"
		case bci > math.MaxInt32:
			return dst, at, "a bytecode index of at most 2147483647"
		}
		at += n
		f := Frame{MethodID(method), BCI(bci)}
		if negative {
			f.BCI = -f.BCI
		}
		dst = append(dst, f)
		if at == len(text) {
			return dst, at, ""
		}
		if text[at] != separator {
			return dst, at, fmt.Sprintf("%q", separator)
		}
		at++
	}
}

// parseDigits returns the number that text begins with, at most 2^32, and its length.
func parseDigits(text []byte) (v uint64, n int) {
	for n < len(text) && text[n]-'0' <= 9 {
		v = min(v*10+uint64(text[n]-'0'), 1<<32)
		n++
	}
	return v, n
}
