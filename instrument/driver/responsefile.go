package driver

import (
	"os"
	"path/filepath"
	"strings"
)

// maxResponseDepth bounds response files that name others.
const maxResponseDepth = 16

// expandResponseFiles replaces @FILE by the arguments in the file, as gcc and
// clang do; an argument whose file cannot be read stays as it is.
func expandResponseFiles(dir string, args []string, depth int) []string {
	var out []string
	for _, arg := range args {
		name, ok := strings.CutPrefix(arg, "@")
		if !ok || name == "" || depth >= maxResponseDepth {
			out = append(out, arg)
			continue
		}
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		text, err := os.ReadFile(name)
		if err != nil {
			out = append(out, arg)
			continue
		}
		out = append(out, expandResponseFiles(dir, splitResponse(string(text)), depth+1)...)
	}
	return out
}

// splitResponse splits the text of a response file: blanks separate arguments,
// and quotes of both kinds and backslashes protect blanks.
func splitResponse(text string) []string {
	var args []string
	var word strings.Builder
	inWord := false
	var quote byte
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '\\' && i+1 < len(text):
			i++
			word.WriteByte(text[i])
			inWord = true
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word.WriteByte(c)
		case c == '\'' || c == '"':
			quote, inWord = c, true
		case c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v':
			if inWord {
				args = append(args, word.String())
				word.Reset()
				inWord = false
			}
		default:
			word.WriteByte(c)
			inWord = true
		}
	}
	if inWord {
		args = append(args, word.String())
	}
	return args
}

// joinResponse is the inverse of splitResponse.
func joinResponse(args []string) string {
	var b strings.Builder
	for _, arg := range args {
		b.WriteByte('"')
		for i := 0; i < len(arg); i++ {
			if arg[i] == '"' || arg[i] == '\\' {
				b.WriteByte('\\')
			}
			b.WriteByte(arg[i])
		}
		b.WriteString("\"\n")
	}
	return b.String()
}
