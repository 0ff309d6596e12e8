package iprof

import (
	"strings"
	"testing"
)

func TestPossibleNames(t *testing.T) {
	for _, name := range []string{
		"int", "void", "[I", "[[Z", "A", "a.B$C", "[La.B;", "a.b.C$$Lambda/0xe1988", "[La.C/0x1;",
		"java.lang.invoke.LambdaForm$DMH/s384ff554", "a.b-c.d e", strings.Repeat("[", 255) + "I",
	} {
		if !possibleType(name) {
			t.Errorf("type %q is said to be impossible", name)
		}
	}
	for _, name := range []string{
		"", ".", "a.", ".a", "a..b", "a;b", "a[", "[", "[V", "[X", "[II", "[L;", "[La.b", "[a.b;", "[La;b;", "a/", "/a", "a/b.c", "a/b/c", strings.Repeat("[", 256) + "I",
	} {
		if possibleType(name) {
			t.Errorf("type %q is said to be possible", name)
		}
	}
	for name, want := range map[string]bool{
		"get": true, "<init>": true, "<clinit>": true, "String(AIA)": true, "foo-impl": true, "a b": true, "": false,
		"<inht>": false, "a.b": false, "a;": false, "[a": false, "a/b": false, "a>": false,
	} {
		if got := possibleMethod(name); got != want {
			t.Errorf("method %q: possible %t, want %t", name, got, want)
		}
	}
}
