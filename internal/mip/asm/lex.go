package asm

import (
	"bytes"
	"math"
	"strings"
)

type stmtKind byte

const (
	StmtLabel       stmtKind = iota // a label; its text is without the colon
	StmtDirective                   // begins with a dot
	StmtAssign                      // symbol = expression
	StmtInstruction                 // anything else, macro calls included
	StmtOpaque                      // the start of an opaque region, at the comment that marks it
)

// opacity is the reason why the package may not interpret or change a statement.
type opacity byte

const (
	Transparent opacity = iota
	inlineAsm           // between the markers that compilers put around inline assembly
	macro               // definition or use of a macro, repetition, conditional
)

// X86Syntax is the syntax that .intel_syntax and .att_syntax have selected.
type X86Syntax byte

const (
	AttPrefix X86Syntax = iota
	IntelNoPrefix
	AttNoPrefix
	IntelPrefix
)

// Stmt is one statement of the file.
type Stmt struct {
	Pos, End int32 // its text in File.Src, without the blanks and comments around it
	Section  int32 // index into File.Sections
	Fn       int32 // index into File.Functions, -1 outside functions
	Kind     stmtKind
	Opaque   opacity
	Syntax   X86Syntax
	Thumb    bool // in Thumb code
}

// A File is a parsed assembly file.
type File struct {
	Src    []byte
	Target Target
	isa    isa
	Stmts  []Stmt
	// Tail is the position where text can be appended: the end of Src, or the position of .end.
	Tail int

	Sections  []Section
	Functions []Function
	Labels    labels
	tables    []table // data with the addresses of labels
}

// Text returns the text of a statement.
func (f *File) Text(s *Stmt) []byte { return f.Src[s.Pos:s.End] }

type lexer struct {
	*File
	comment    string // begins a comment anywhere in a line
	separator  string // separates the statements of a line
	inAsm      int    // open inline assembly markers
	macroDepth int
	ifDepth    int
	macros     map[string]bool // names defined
	syntax     X86Syntax
	thumb      bool
}

// commentAndSeparator returns the characters that begin a comment and the characters that separate
// the statements of a line. On every target '#' also begins a comment
// where a statement could begin, and /* */ encloses one anywhere.
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

func (f *File) lex() error {
	if len(f.Src) > math.MaxInt32 {
		return ErrTooLarge
	}
	f.Tail = len(f.Src)
	l := lexer{File: f}
	l.comment, l.separator = f.Target.commentAndSeparator()
	// Compilers print 25 to 40 bytes per statement.
	f.Stmts = make([]Stmt, 0, len(f.Src)/28+16)
	for i := 0; i < f.Tail; {
		i = l.nextStatement(i)
	}
	return nil
}

// nextStatement consumes one statement, comment or separator at i and returns its end.
func (l *lexer) nextStatement(i int) int {
	src := l.Src
	switch c := src[i]; {
	case c == ' ' || c == '\t' || c == '\n' || c == '\r':
		return i + 1
	case c == '/' && hasPrefixAt(src, i, "/*"):
		return skipBlockComment(src, i)
	case c == '#' || hasPrefixAt(src, i, l.comment):
		end := LineEnd(src, i)
		l.marker(i, src[i:end])
		return end
	case hasPrefixAt(src, i, l.separator):
		return i + len(l.separator)
	}
	if end, ok := ScanSymbol(src, i); ok {
		j := SkipBlanks(src, end)
		if j < len(src) && src[j] == ':' {
			l.addStatement(StmtLabel, i, end)
			return j + 1
		}
		if j < len(src) && src[j] == '=' && !hasPrefixAt(src, j, "==") {
			end, next := l.scanStatement(j)
			l.addStatement(StmtAssign, i, end)
			return next
		}
	}
	end, next := l.scanStatement(i)
	if src[i] == '.' {
		l.directive(i, end)
	} else {
		l.addStatement(StmtInstruction, i, end)
	}
	return next
}

// scanStatement returns the end of the statement's text and the place where the next one may begin.
func (l *lexer) scanStatement(i int) (end, next int) {
	src := l.Src
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

// addStatement appends a statement in the current state.
func (l *lexer) addStatement(kind stmtKind, pos, end int) {
	s := Stmt{Pos: int32(pos), End: int32(end), Fn: -1, Kind: kind, Syntax: l.syntax, Thumb: l.thumb}
	switch {
	case l.macroDepth > 0 || l.ifDepth > 0:
		s.Opaque = macro
	case l.inAsm > 0:
		s.Opaque = inlineAsm
	case kind == StmtInstruction && l.macros != nil:
		if word, _ := SplitWord(l.Src[pos:end]); l.macros[string(word)] {
			s.Opaque = macro
		}
	}
	l.Stmts = append(l.Stmts, s)
}

// directive appends a directive and applies its effect to the text after it.
func (l *lexer) directive(pos, end int) {
	word, rest := SplitWord(l.Src[pos:end])
	switch string(word) {
	case ".macro":
		l.macroDepth++
		name, _ := SplitWord(bytes.ReplaceAll(rest, []byte(","), []byte(" ")))
		if l.macros == nil {
			l.macros = map[string]bool{}
		}
		l.macros[string(name)] = true
	case ".rept", ".irp", ".irpc":
		l.macroDepth++
	case ".endm", ".endr", ".endmacro":
		l.addStatement(StmtDirective, pos, end)
		l.macroDepth = max(l.macroDepth-1, 0)
		return
	case ".endif":
		l.addStatement(StmtDirective, pos, end)
		l.ifDepth = max(l.ifDepth-1, 0)
		return
	case ".intel_syntax":
		l.syntax = IntelPrefix
		if string(rest) == "noprefix" {
			l.syntax = IntelNoPrefix
		}
	case ".att_syntax":
		l.syntax = AttPrefix
		if string(rest) == "noprefix" {
			l.syntax = AttNoPrefix
		}
	case ".thumb", ".thumb_func":
		l.thumb = true
	case ".arm":
		l.thumb = false
	case ".code":
		l.thumb = string(rest) == "16"
	case ".end":
		if l.macroDepth == 0 && l.ifDepth == 0 {
			l.Tail = pos
			return
		}
	default:
		if bytes.HasPrefix(word, []byte(".if")) {
			l.ifDepth++
		}
	}
	l.addStatement(StmtDirective, pos, end)
}

// marker recognizes the comments that compilers print around inline assembly.
func (l *lexer) marker(pos int, comment []byte) {
	body := bytes.TrimSpace(bytes.TrimLeft(comment, "#/;@"))
	switch {
	case string(body) == "APP", string(body) == "InlineAsm Start",
		string(body) == "Start of file scope inline assembly":
		// rustc's file-scope assembly may contain markers of its own.
		l.inAsm = 1
		l.addStatement(StmtOpaque, pos, pos)
	case string(body) == "NO_APP", string(body) == "InlineAsm End",
		string(body) == "End of file scope inline assembly":
		l.inAsm = 0
	}
}

func hasPrefixAt(b []byte, i int, prefix string) bool {
	return len(b)-i >= len(prefix) && string(b[i:i+len(prefix)]) == prefix
}

func LineEnd(src []byte, i int) int {
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

func SkipBlanks(src []byte, i int) int {
	for i < len(src) && (src[i] == ' ' || src[i] == '\t') {
		i++
	}
	return i
}

// skipString returns the index after the string that starts at i; the end of the line also ends a string.
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

// symbolChar holds the characters of symbols that need no quotes.
var symbolChar = func() (t [256]bool) {
	for c := range t {
		t[c] = c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' ||
			c == '_' || c == '.' || c == '$' || c >= 0x80
	}
	return t
}()

// ScanSymbol returns the end of the symbol that starts at i, with its quotes.
func ScanSymbol(src []byte, i int) (end int, ok bool) {
	if i < len(src) && src[i] == '"' {
		end = skipString(src, i)
		return end, end-i > 2 && src[end-1] == '"'
	}
	for end = i; end < len(src) && symbolChar[src[end]]; end++ {
	}
	return end, end > i
}

// HasWord reports whether the text has the word, other than as part of a longer symbol.
func HasWord(text []byte, word string) bool {
	for i := 0; ; {
		n := bytes.Index(text[i:], []byte(word))
		if n < 0 {
			return false
		}
		i += n
		end := i + len(word)
		if (i == 0 || !symbolChar[text[i-1]]) && (end == len(text) || !symbolChar[text[end]]) {
			return true
		}
		i = end
	}
}

// Unquote returns the symbol without its quotes. It keeps escapes, since symbols are compared only with
// assembly text and printed only into it.
func Unquote(sym []byte) []byte {
	if len(sym) >= 2 && sym[0] == '"' && sym[len(sym)-1] == '"' {
		return sym[1 : len(sym)-1]
	}
	return sym
}

// Words returns the set of the words of a list.
func Words(list string) map[string]bool {
	m := map[string]bool{}
	for word := range strings.FieldsSeq(list) {
		m[word] = true
	}
	return m
}

// SplitWord cuts a statement into its first word and the operands.
func SplitWord(text []byte) (word, rest []byte) {
	i := bytes.IndexAny(text, " \t")
	if i < 0 {
		return text, nil
	}
	return text[:i], bytes.TrimLeft(text[i:], " \t")
}
