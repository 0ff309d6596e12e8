// Package responsefile replaces @file arguments by the arguments in the files.
package responsefile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"unicode/utf16"
)

// Limits for all response files of a command line together. The names of 100,000 inputs take some 10 MB.
const (
	maxResponseBytes = 64 << 20
	maxResponseFiles = 10_000
	maxResponseDepth = 32 // files within files
)

// Expand replaces every argument "@file" by the arguments in that file, as GNU and LLVM tools do. White space
// separates arguments; ' and " quote; a backslash takes the next character literally, also inside quotes. Files may
// name more files, relative to the working folder. An argument whose file does not exist stays as it is.
//
// Like LLVM, Expand drops empty arguments, even quoted ones, and accepts UTF-16 with a byte order mark.
//
// It is an error if a file contains itself, or if all files together exceed 64 MiB.
func Expand(args []string) ([]string, error) {
	e := expander{spaces: " \t\r\n"}
	for _, arg := range args {
		if err := e.add(arg); err != nil {
			return nil, err
		}
	}
	return e.out, nil
}

// ExpandForCompiler is [Expand] with the rules of compilers: an argument stays as it is if its
// file cannot be expanded, and quoted empty arguments count.
func ExpandForCompiler(args []string) []string {
	e := expander{compiler: true, spaces: " \t\r\n\f\v"}
	for _, arg := range args {
		e.add(arg)
	}
	return e.out
}

// Join returns the text of a response file with the given arguments, one quoted argument per line.
func Join(args []string) string {
	escape := strings.NewReplacer(`"`, `\"`, `\`, `\\`)
	var b strings.Builder
	for _, arg := range args {
		b.WriteByte('"')
		escape.WriteString(&b, arg)
		b.WriteString("\"\n")
	}
	return b.String()
}

// An expander collects arguments.
type expander struct {
	compiler bool   // by the rules of compilers
	spaces   string // separate arguments

	out   []string
	open  []fs.FileInfo // the files it is within
	files int           // read so far
	bytes int
}

func (e *expander) add(arg string) error {
	if len(arg) > 1 && arg[0] == '@' {
		switch found, err := e.file(arg[1:]); {
		case err != nil && !e.compiler:
			return err
		case found:
			return nil
		}
	}
	e.out = append(e.out, arg)
	return nil
}

// file adds the arguments in a response file; found is false if there is none.
func (e *expander) file(name string) (found bool, err error) {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	if slices.ContainsFunc(e.open, func(outer fs.FileInfo) bool { return os.SameFile(outer, info) }) {
		return false, fmt.Errorf("response file %s contains itself", name)
	}
	if len(e.open) == maxResponseDepth {
		return false, fmt.Errorf("response file %s is nested more than %d deep", name, maxResponseDepth)
	}
	if e.files++; e.files > maxResponseFiles {
		return false, fmt.Errorf("more than %d response files", maxResponseFiles)
	}
	text, err := io.ReadAll(io.LimitReader(f, int64(maxResponseBytes-e.bytes)+1))
	if err != nil {
		return false, err
	}
	if e.bytes += len(text); e.bytes > maxResponseBytes {
		return false, fmt.Errorf("response file %s: more than %d MiB together", name, maxResponseBytes>>20)
	}
	e.open = append(e.open, info)
	defer func() { e.open = e.open[:len(e.open)-1] }()
	for _, arg := range e.split(decodeText(text)) {
		if err := e.add(arg); err != nil {
			return false, err
		}
	}
	return true, nil
}

// decodeText removes a byte order mark and turns UTF-16 into UTF-8.
func decodeText(text []byte) string {
	var order binary.ByteOrder
	switch {
	case bytes.HasPrefix(text, []byte{0xef, 0xbb, 0xbf}):
		return string(text[3:])
	case bytes.HasPrefix(text, []byte{0xff, 0xfe}):
		order = binary.LittleEndian
	case bytes.HasPrefix(text, []byte{0xfe, 0xff}):
		order = binary.BigEndian
	default:
		return string(text)
	}
	units := make([]uint16, 0, len(text)/2)
	for text = text[2:]; len(text) >= 2; text = text[2:] {
		units = append(units, order.Uint16(text))
	}
	return string(utf16.Decode(units))
}

func (e *expander) split(text string) []string {
	var args []string
	var arg strings.Builder
	quoted := false // the argument, or a part of it
	end := func() {
		if arg.Len() > 0 || quoted && e.compiler {
			args = append(args, arg.String())
			arg.Reset()
		}
		quoted = false
	}
	quote := byte(0)
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text):
			i++
			arg.WriteByte(text[i])
		case c == quote && quote != 0:
			quote = 0
		case quote != 0:
			arg.WriteByte(c)
		case c == '\'' || c == '"':
			quote, quoted = c, true
		case strings.IndexByte(e.spaces, c) >= 0:
			end()
		default:
			arg.WriteByte(c)
		}
	}
	end()
	return args
}
