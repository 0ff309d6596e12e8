package report

import (
	"path"
	"strings"

	"github.com/profuse-pgo/profuse/profile"
)

const (
	// maxPath limits the parts of a name. The last part holds all deeper parts.
	maxPath = 32

	// The first parts of the paths of functions without a file or package.
	noFile    = "(no file)"
	noPackage = "(no package)"
)

// A namePath is the path of a function from the outside in: namespaces, crate and modules, package and class, or
// folder and file. The last part is the function's own name.
type namePath []string

// group returns the group that decides the colour of a function: the outermost
// namespace or crate, or the beginning of a package's name.
func (p namePath) group(java bool) string {
	if java {
		return strings.Join(p[:min(3, max(1, len(p)-2))], ".")
	}
	if strings.HasSuffix(p[0], "/") && len(p) > 1 {
		return p[0] + p[1]
	}
	return p[0]
}

// short returns the name without its path, except for a class.
func (p namePath) short(java bool) string {
	last := p[len(p)-1]
	if java {
		last, _, _ = strings.Cut(last, "(")
		return p[len(p)-2] + "." + last
	}
	if in := p[len(p)-2]; len(p) > 2 && in != anonymous && !strings.HasSuffix(p[0], "/") {
		return in + "::" + last
	}
	return last
}

// pathOf returns the path of a function with the demangled name readable. The path has at least two parts.
func pathOf(sym *profile.Symbol, readable string, java bool) namePath {
	name := sym.Name
	if java {
		if name == "" {
			name = readable
		}
		return javaPath(name, sym.Signature)
	}
	if p := objectivePath(name); p != nil {
		return p
	}
	p := splitName(readable)
	if len(p) > 1 && (p[0] != anonymous || sym.File == "") {
		return p
	}
	return append(filePath(sym.File), p...)
}

func filePath(file string) namePath {
	if file == "" {
		return namePath{noFile}
	}
	file = strings.ReplaceAll(file, `\`, "/")
	if dir := path.Dir(file); dir != "." {
		return namePath{strings.TrimSuffix(dir, "/") + "/", path.Base(file)}
	}
	return namePath{file}
}

// javaPath splits "java.util.HashMap.get"; the signature goes with the method.
func javaPath(name, signature string) namePath {
	array := ""
	for strings.HasPrefix(name, "[") {
		name, array = name[1:], array+"[]"
	}
	class, method, ok := cutLast(name, ".")
	if !ok {
		return namePath{noPackage, name + signature}
	}
	if array != "" {
		class = strings.TrimSuffix(strings.TrimPrefix(class, "L"), ";") + array
	}
	p := namePath(strings.SplitN(class, ".", maxPath))
	if len(p) == 1 {
		p = namePath{noPackage, class}
	}
	return append(p, method+signature)
}

// cutLast cuts at the last separator that is neither at the beginning nor at the end.
func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i <= 0 || i == len(s)-len(sep) {
		return "", s, false
	}
	return s[:i], s[i+len(sep):], true
}

// objectivePath splits "-[Class selector:]" and blocks in it, "__18-[Class selector:]_block_invoke"; nil for other names.
func objectivePath(name string) namePath {
	start := strings.TrimLeft(name, "_0123456789")
	if !strings.HasPrefix(start, "-[") && !strings.HasPrefix(start, "+[") {
		return nil
	}
	class, selector, ok := strings.Cut(start[2:], " ")
	if !ok || class == "" {
		return nil
	}
	selector, ok = strings.CutSuffix(selector, "]")
	if ok && start == name {
		return namePath{class, start[:1] + selector}
	}
	return namePath{class, name}
}

// anonymous is how demanglers write the namespace of C++ without a name.
const anonymous = "(anonymous namespace)"

// aboutWords are the words that demanglers put before the name of a function or type.
var aboutWords = []string{
	"non-virtual thunk to ", "virtual thunk to ", "covariant return thunk to ", "invocation function for block in ",
	"guard variable for ", "thread-local wrapper routine for ", "thread-local initialization routine for ",
	"construction vtable for ", "vtable for ", "VTT for ", "typeinfo for ", "typeinfo name for ", "reference temporary for ",
}

// splitName splits a demangled name of C++ or Rust at each "::" outside of brackets. It drops return types. A name
// of another language is one part. splitName takes at most 4*maxPath steps, which bounds the time for long names.
func splitName(name string) namePath {
	about := ""
	for _, words := range aboutWords {
		if strings.HasPrefix(name, words) {
			about, name = words, name[len(words):]
			break
		}
	}
	p := make(namePath, 0, 8)
	s := nameSplitter{text: name}
	for steps := 0; ; steps++ {
		part, more := s.part()
		if steps == 4*maxPath && more {
			part, more = part+"::"+s.text, false
		}
		if s.isReturn && more {
			p, s.isReturn = p[:0], false
			continue
		}
		switch last := len(p) - 1; {
		case last >= 0 && strings.HasPrefix(part, "<") && !strings.HasPrefix(part, "<impl ") && !strings.Contains(part, " as "):
			p[last] += "::" + part // arguments: size_of::<u8>
		case part == "" && len(p) == 0 && more: // "::name"
		case len(p) >= maxPath:
			p[last] += "::" + part
		default:
			p = append(p, part)
		}
		if !more {
			break
		}
	}
	p = implementation(p)
	p[len(p)-1] = about + p[len(p)-1]
	return p
}

// implementation splits the form that Rust puts first: "<Type as Trait>::f"
// belongs to the path of Type or, if that is not a path, to the path of Trait.
func implementation(p namePath) namePath {
	if len(p) < 2 || !strings.HasPrefix(p[0], "<") || !strings.HasSuffix(p[0], ">") {
		return p
	}
	inner := p[0][1 : len(p[0])-1]
	of, trait := inner, ""
	if i := outside(inner, " as "); i >= 0 {
		of, trait = inner[:i], inner[i+len(" as "):]
	}
	bare := strings.TrimLeft(of, "&*([ ")
	for _, word := range []string{"mut ", "const ", "dyn "} {
		bare = strings.TrimPrefix(bare, word)
	}
	var head namePath
	switch {
	case strings.HasPrefix(bare, "<") || strings.HasPrefix(bare, "impl "):
		return p
	case outside(bare, "::") > 0:
		head = splitPlain(bare)
		if bare != of {
			head[len(head)-1] = "<" + of + ">"
		}
		if trait != "" {
			head = append(head, "<as "+trait+">")
		}
	case outside(trait, "::") > 0:
		head = append(splitPlain(trait), "<for "+of+">")
	default:
		return p
	}
	// A name that nests too deep stays as it is.
	if len(head)+len(p) > 2*maxPath {
		return p
	}
	return append(head, p[1:]...)
}

func splitPlain(text string) namePath {
	var p namePath
	for len(p) < maxPath {
		i := outside(text, "::")
		if i <= 0 {
			break
		}
		p, text = append(p, text[:i]), text[i+2:]
	}
	return append(p, text)
}

// outside returns the index of the first sep outside of brackets, or -1.
func outside(text, sep string) int {
	var b brackets
	for i := 0; i < len(text); {
		if b.depth() == 0 && strings.HasPrefix(text[i:], sep) {
			return i
		}
		i += b.step(text[i:])
	}
	return -1
}

type nameSplitter struct {
	text     string
	isReturn bool // the part, and all before, belong to the type that the function returns
	params   bool // parameters came already: there is no return type any more
}

// part returns the next part and whether another one follows.
func (s *nameSplitter) part() (part string, more bool) {
	text := s.text
	var b brackets
	operator := false
	for i := 0; i < len(text); {
		if b.depth() > 0 {
			i += b.step(text[i:])
			continue
		}
		switch c := text[i]; {
		case strings.HasPrefix(text[i:], "::"):
			s.text = text[i+2:]
			return text[:i], true
		case isOperator(text[i:]):
			operator = true
			i += operatorSize(text[i:])
			continue
		case c == '(' && i > 0 && text[:i] != "decltype" && text[i-1] != ' ':
			s.params = true
		case c == ' ' && !s.params && !operator && i+1 < len(text) && !strings.HasPrefix(text[i+1:], "(."):
			s.text, s.isReturn = text[i+1:], true
			return "", true
		}
		i += b.step(text[i:])
	}
	s.text = ""
	return text, false
}

// wordByte reports whether a byte belongs to an identifier, as every byte of a character beyond ASCII does.
func wordByte(c byte) bool {
	return c == '_' || c == '$' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= 0x80
}

// isOperator reports whether text, which begins a word, begins with the name of an operator.
func isOperator(text string) bool {
	return strings.HasPrefix(text, "operator") && (len(text) == len("operator") || !wordByte(text[len("operator")]))
}

// operatorSigns are the operators that contain brackets or spaces, longer ones first.
var operatorSigns = []string{"<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "->", "()", "[]", "<", ">"}

// operatorSize returns the length of an operator's name at the beginning of
// text, up to its arguments: "operator<<", "operator()", "operator std::string".
func operatorSize(text string) int {
	n := len("operator")
	for _, sign := range operatorSigns {
		if strings.HasPrefix(text[n:], sign) {
			return n + len(sign)
		}
	}
	if n >= len(text) || text[n] != ' ' && text[n] != '"' {
		return n
	}
	var b brackets // a type, or new and delete
	for n < len(text) && (b.depth() > 0 || text[n] != '(') {
		n += b.step(text[n:])
	}
	return n
}

// brackets holds the open brackets. A closing bracket without an open one is plain text.
type brackets struct {
	open []byte
	kind [128]int // how many are open of each
}

func (b *brackets) depth() int { return len(b.open) }

// step processes the word or sign that text begins with and returns its length.
func (b *brackets) step(text string) int {
	switch c := text[0]; c {
	case '(', '[', '{', '<':
		b.open = append(b.open, c)
		b.kind[c]++
	case ')':
		b.shut('(')
	case ']':
		b.shut('[')
	case '}':
		b.shut('{')
	// In other brackets it is an operator.
	case '>':
		if n := len(b.open); n > 0 && b.open[n-1] == '<' {
			b.shut('<')
		}
	case '-':
		if strings.HasPrefix(text, "->") {
			return 2
		}
	default:
		if !wordByte(c) {
			return 1
		}
		if isOperator(text) && len(text) > len("operator") && strings.IndexByte("<>-", text[len("operator")]) >= 0 {
			return operatorSize(text)
		}
		n := 1
		for n < len(text) && wordByte(text[n]) {
			n++
		}
		return n
	}
	return 1
}

// shut closes the innermost bracket of the kind and all brackets inside of it.
func (b *brackets) shut(kind byte) {
	for b.kind[kind] > 0 {
		last := b.open[len(b.open)-1]
		b.open = b.open[:len(b.open)-1]
		b.kind[last]--
		if last == kind {
			return
		}
	}
}
