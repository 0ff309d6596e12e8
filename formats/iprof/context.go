package iprof

import (
	"fmt"
	"math"
	"strconv"
)

// A TypeID is the number of a type in one file. Equal numbers in two files mean nothing.
type TypeID int32

// A MethodID is the number of a method in one file.
type MethodID int32

// Bytecode indexes with a meaning (jdk.vm.ci.code.BytecodeFrame), and their limits.
const (
	unknownBCI           = -5 // UNKNOWN_BCI: as a branch target, one that another record names
	invalidFrameStateBCI = -6 // INVALID_FRAMESTATE_BCI, the least pseudo index
	maxBCI               = math.MaxUint16
)

// validBCI reports whether bci is a bytecode index or a known constant.
func validBCI(bci int32) bool { return invalidFrameStateBCI <= bci && bci <= maxBCI }

// A Frame is a bytecode of a method.
//
// A context is a slice of frames: frame 0 is the bytecode that a count is about, and each further frame
// is the caller of its predecessor, at the bytecode of the call. The last frame is the compiled method,
// which the others are inlined into; in [Samples] it is the bottom of the stack.
type Frame struct {
	Method MethodID
	// BCI is the index of the bytecode in the method, 0 to 65535, or a pseudo index from -1 to -6
	// (jdk.vm.ci.code.BytecodeFrame).
	BCI int32
}

// appendContext appends the context in the notation of files since 0.4.0: "5:0<3:2<1:3".
func appendContext(dst []byte, c []Frame) []byte {
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

// parseFrames appends the frames in text. If it fails, want says what is expected at offset at.
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
		f := Frame{MethodID(method), int32(bci)}
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
