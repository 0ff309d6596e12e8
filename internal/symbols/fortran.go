package symbols

import (
	"regexp"
	"strings"
	"sync"
)

// flangName matches a procedure as flang names it: the modules, submodules, procedures and blocks around it, each
// a letter in upper case before its name in lower case, and the procedure. A procedure without a name is the main program.
var flangName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^_Q((?:[MSF][a-z0-9_]*|B[0-9]*)*)P([a-z0-9_]+)(\..*)?$`)
})

// gfortranName matches a procedure of a module as gfortran names it; a submodule follows its module after a point.
var gfortranName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^__([a-z][a-z0-9_.]*)_MOD_([a-z][a-z0-9_]*)(\..*)?$`)
})

// flangMain is the main program of flang, and mainProgram how it is shown: its name is not in the symbol.
const flangMain, mainProgram = "_QQmain", "main program"

// demangleFortran returns "module::procedure" for a procedure of Fortran. A submodule follows its module as in the
// standard, "module:submodule". External procedures, such as "f_", are not mangled in a way that C's names exclude.
func demangleFortran(name string) (readable string, ok bool) {
	switch {
	case name == flangMain:
		return mainProgram, true
	case len(name) > maxMangled:
		return "", false
	case strings.HasPrefix(name, "_Q"):
		m := flangName().FindStringSubmatch(name)
		if m == nil {
			return "", false
		}
		return flangScopes(m[1]) + m[2] + clone(m[3]), true
	case strings.HasPrefix(name, "__"):
		m := gfortranName().FindStringSubmatch(name)
		if m == nil {
			return "", false
		}
		return strings.ReplaceAll(m[1], ".", ":") + "::" + m[2] + clone(m[3]), true
	}
	return "", false
}

// flangScopes returns what stands before the name of a procedure for its scopes, such as "MmFf" for "m::f::".
func flangScopes(scopes string) string {
	var b strings.Builder
	for scopes != "" {
		kind, rest := scopes[0], scopes[1:]
		end := strings.IndexFunc(rest, func(r rune) bool { return 'A' <= r && r <= 'Z' })
		if end < 0 {
			end = len(rest)
		}
		scope := rest[:end]
		scopes = rest[end:]
		if kind == 'F' && scope == "" {
			scope = mainProgram
		}
		switch {
		case kind == 'B': // a block has no name
		case strings.HasPrefix(scopes, "S"):
			b.WriteString(scope + ":")
		default:
			b.WriteString(scope + "::")
		}
	}
	return b.String()
}

// clone returns the suffix of a compiler as Demangle prints it for other languages.
func clone(suffix string) string {
	if suffix == "" {
		return ""
	}
	return " (" + suffix + ")"
}
