package instrument

import (
	"bytes"
	"math"
)

// stmtKind is what a statement is by its look.
type stmtKind byte

const (
	stmtLabel       stmtKind = iota // without the colon
	stmtDirective                   // begins with a dot
	stmtAssign                      // symbol = expression
	stmtInstruction                 // anything else, macro calls included
	stmtOpaque                      // marks the start of an opaque region, where its comment stands
)

// opacity is why the text of a statement is not ours to read or change.
type opacity byte

const (
	transparent opacity = iota
	inlineAsm           // between the markers that compilers put around inline assembly
	macro               // definition or use of a macro, repetition, conditional
)

// x86Syntax is the state of .intel_syntax and .att_syntax.
type x86Syntax byte

const (
	attPrefix x86Syntax = iota
	intelNoPrefix
	attNoPrefix
	intelPrefix
)

// stmt is one statement of the file.
type stmt struct {
	pos, end int32 // its text in file.src, without blanks and comments around it
	section  int32 // index into file.sections
	fn       int32 // index into file.functions, -1 outside of functions
	kind     stmtKind
	opaque   opacity
	syntax   x86Syntax
	thumb    bool // in Thumb code
}

// file is an assembly file taken apart.
type file struct {
	src    []byte
	target Target
	stmts  []stmt
	// tail is where text can be appended: the end of src, or .end.
	tail int

	sections  []section
	functions []function
	labels    labels
	tables    []table // data with the addresses of labels
	// farCompares are cbz and cbnz of ARM functions that block probes move out
	// of the reach of their targets.
	farCompares map[int32][]int32
}

// text returns the text of a statement.
func (f *file) text(s *stmt) []byte { return f.src[s.pos:s.end] }

// lexer splits a file into statements.
type lexer struct {
	*file
	comment    string // begins a comment anywhere
	separator  string // of statements on one line
	inAsm      int    // open inline assembly markers
	macroDepth int
	ifDepth    int
	macros     map[string]bool // names defined
	syntax     x86Syntax
	thumb      bool
}

// commentAndSeparator returns the target's comment and statement separator.
// On every target '#' also begins a comment where a statement could, and /* */
// works everywhere.
func (t Target) commentAndSeparator() (comment, separator string) {
	switch {
	case t.Arch == X86_64:
		return "#", ";"
	case t.Arch == AArch64 && t.Format == MachO:
		return ";", "%%"
	case t.Arch == AArch64:
		return "//", ";"
	}
	return "@", ";"
}

// lex fills f.stmts.
func (f *file) lex() error {
	if len(f.src) > math.MaxInt32 {
		return ErrTooLarge
	}
	f.tail = len(f.src)
	l := lexer{file: f}
	l.comment, l.separator = f.target.commentAndSeparator()
	// Compilers print 25 to 40 bytes for a statement.
	f.stmts = make([]stmt, 0, len(f.src)/28+16)
	for i := 0; i < f.tail; {
		i = l.next(i)
	}
	return nil
}

// next consumes one statement, comment or separator at i and returns where it
// ends.
func (l *lexer) next(i int) int {
	src := l.src
	switch c := src[i]; {
	case c == ' ' || c == '\t' || c == '\n' || c == '\r':
		return i + 1
	case c == '/' && hasPrefixAt(src, i, "/*"):
		return skipBlockComment(src, i)
	case c == '#' || hasPrefixAt(src, i, l.comment):
		end := lineEnd(src, i)
		l.marker(i, src[i:end])
		return end
	case hasPrefixAt(src, i, l.separator):
		return i + len(l.separator)
	}
	if end, ok := scanSymbol(src, i); ok {
		j := skipBlanks(src, end)
		if j < len(src) && src[j] == ':' {
			l.add(stmtLabel, i, end)
			return j + 1
		}
		if j < len(src) && src[j] == '=' && !hasPrefixAt(src, j, "==") {
			end, next := l.scanStatement(j)
			l.add(stmtAssign, i, end)
			return next
		}
	}
	end, next := l.scanStatement(i)
	if src[i] == '.' {
		l.directive(i, end)
	} else {
		l.add(stmtInstruction, i, end)
	}
	return next
}

// scanStatement returns the end of the statement's text and where the next one
// may begin.
func (l *lexer) scanStatement(i int) (end, next int) {
	src := l.src
	end = i
	for i < len(src) {
		switch c := src[i]; {
		case c == '\n':
			return end, i + 1
		case c == ' ' || c == '\t' || c == '\r':
			i++
			continue
		case c == '"':
			i = skipString(src, i)
		case c == '\'': // a character constant may be a comment character
			i++
			if i < len(src) && src[i] == '\\' {
				i++
			}
			if i < len(src) && src[i] != '\n' {
				i++
			}
		case c == '/' && hasPrefixAt(src, i, "/*"):
			i = skipBlockComment(src, i)
			continue
		case c == l.comment[0] && hasPrefixAt(src, i, l.comment):
			return end, i
		case c == l.separator[0] && hasPrefixAt(src, i, l.separator):
			return end, i + len(l.separator)
		default:
			i++
		}
		end = i
	}
	return end, i
}

// add appends a statement in the current state.
func (l *lexer) add(kind stmtKind, pos, end int) {
	s := stmt{pos: int32(pos), end: int32(end), fn: -1, kind: kind, syntax: l.syntax, thumb: l.thumb}
	switch {
	case l.macroDepth > 0 || l.ifDepth > 0:
		s.opaque = macro
	case l.inAsm > 0:
		s.opaque = inlineAsm
	case kind == stmtInstruction && l.macros != nil:
		if word, _ := splitWord(l.src[pos:end]); l.macros[string(word)] {
			s.opaque = macro
		}
	}
	l.stmts = append(l.stmts, s)
}

// directive appends a directive and follows what it does to the text after it.
func (l *lexer) directive(pos, end int) {
	word, rest := splitWord(l.src[pos:end])
	switch string(word) {
	case ".macro":
		l.macroDepth++
		name, _ := splitWord(bytes.ReplaceAll(rest, []byte(","), []byte(" ")))
		if l.macros == nil {
			l.macros = map[string]bool{}
		}
		l.macros[string(name)] = true
	case ".rept", ".irp", ".irpc":
		l.macroDepth++
	case ".endm", ".endr", ".endmacro":
		l.add(stmtDirective, pos, end)
		l.macroDepth = max(l.macroDepth-1, 0)
		return
	case ".endif":
		l.add(stmtDirective, pos, end)
		l.ifDepth = max(l.ifDepth-1, 0)
		return
	case ".intel_syntax":
		l.syntax = intelPrefix
		if string(rest) == "noprefix" {
			l.syntax = intelNoPrefix
		}
	case ".att_syntax":
		l.syntax = attPrefix
		if string(rest) == "noprefix" {
			l.syntax = attNoPrefix
		}
	case ".thumb", ".thumb_func":
		l.thumb = true
	case ".arm":
		l.thumb = false
	case ".code":
		l.thumb = string(rest) == "16"
	case ".end":
		if l.macroDepth == 0 && l.ifDepth == 0 {
			l.tail = pos
			return
		}
	default:
		if bytes.HasPrefix(word, []byte(".if")) {
			l.ifDepth++
		}
	}
	l.add(stmtDirective, pos, end)
}

// marker looks for the comments with which compilers enclose inline assembly.
func (l *lexer) marker(pos int, comment []byte) {
	body := bytes.TrimSpace(bytes.TrimLeft(comment, "#/;@"))
	switch {
	case string(body) == "APP", string(body) == "InlineAsm Start",
		string(body) == "Start of file scope inline assembly":
		// rustc's file-scope assembly may hold markers of its own.
		l.inAsm = 1
		l.add(stmtOpaque, pos, pos)
	case string(body) == "NO_APP", string(body) == "InlineAsm End",
		string(body) == "End of file scope inline assembly":
		l.inAsm = 0
	}
}

func hasPrefixAt(b []byte, i int, prefix string) bool {
	return len(b)-i >= len(prefix) && string(b[i:i+len(prefix)]) == prefix
}

func lineEnd(src []byte, i int) int {
	if n := bytes.IndexByte(src[i:], '\n'); n >= 0 {
		return i + n
	}
	return len(src)
}

func skipBlockComment(src []byte, i int) int {
	if n := bytes.Index(src[i+2:], []byte("*/")); n >= 0 {
		return i + 2 + n + 2
	}
	return len(src)
}

func skipBlanks(src []byte, i int) int {
	for i < len(src) && (src[i] == ' ' || src[i] == '\t') {
		i++
	}
	return i
}

// skipString returns the index after the string that starts at i; a line's end
// ends it, too.
func skipString(src []byte, i int) int {
	for i++; i < len(src) && src[i] != '\n'; i++ {
		switch src[i] {
		case '\\':
			if i+1 < len(src) && src[i+1] != '\n' {
				i++
			}
		case '"':
			return i + 1
		}
	}
	return i
}

// symbolChar tells the characters of symbols that need no quotes.
var symbolChar = func() (t [256]bool) {
	for c := range t {
		t[c] = c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' ||
			c == '_' || c == '.' || c == '$' || c >= 0x80
	}
	return t
}()

// scanSymbol returns the end of the symbol that starts at i, with its quotes.
func scanSymbol(src []byte, i int) (end int, ok bool) {
	if i < len(src) && src[i] == '"' {
		end = skipString(src, i)
		return end, end-i > 2 && src[end-1] == '"'
	}
	for end = i; end < len(src) && symbolChar[src[end]]; end++ {
	}
	return end, end > i
}

// unquote returns the symbol without the quotes around it. Escapes stay: the
// symbol is compared with and printed into assembly text only.
func unquote(sym []byte) []byte {
	if len(sym) >= 2 && sym[0] == '"' && sym[len(sym)-1] == '"' {
		return sym[1 : len(sym)-1]
	}
	return sym
}

// splitWord cuts a statement into its first word and the operands.
func splitWord(text []byte) (word, rest []byte) {
	i := bytes.IndexAny(text, " \t")
	if i < 0 {
		return text, nil
	}
	return text[:i], bytes.TrimLeft(text[i:], " \t")
}
