package iprofcmd

import (
	"strings"
	"testing"
)

func TestBytecodeName(t *testing.T) {
	var got []string
	for bci := int32(-7); bci <= 1; bci++ {
		got = append(got, bytecodeName(bci))
	}
	if want := "-7 INVALID_FRAMESTATE_BCI UNKNOWN_BCI AFTER_EXCEPTION_BCI AFTER_BCI BEFORE_BCI UNWIND_BCI 0 1"; strings.Join(got, " ") != want {
		t.Errorf("%q, want %s", got, want)
	}
}
