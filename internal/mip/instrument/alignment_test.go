package instrument

import (
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/formats/mip"
	"github.com/profuse-pgo/profuse/internal/mip/asm"
)

// aligned is a function with directives that align code, and others. Those with a comment stay.
const aligned = `	.text
	.p2align	4 # function
	.type	f,@function
f:
	testl	%edi, %edi
	je	.L3
	.p2align 4,,10
	.p2align 3
.L2:
	.loc 1 2 3
	decl	%edi
	jne	.L2
	.balign	32
	.cfi_def_cfa_offset 16
.L5:
	decl	%edi
	jne	.L5
	jmp	*.L4(,%rax,8)
	.p2align	3 # table
.L4:
	.quad	.L3
	.p2align	2 # after data
.L3:
	ret
	.section	.rodata
	.p2align	5 # data
	.quad	0
	.text
#APP
	.p2align	4 # asm
#NO_APP
	ret
	.p2align	4 # end
	.size	f, .-f
	.p2align	4 # next
	.type	g,@function
g:
	.p2align	4
.L6:
	decl	%edi
	jne	.L6
	ret
	.size	g, .-g
`

// passed returns the alignment directives that the assembler passes over, and those that it reads.
func passed(t *testing.T, text string) (over, read []string) {
	t.Helper()
	inside := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case line == ".if\t0":
			if inside {
				t.Error("two .if")
			}
			inside = true
		case line == ".endif":
			inside = false
		case asm.IsAlignment([]byte(strings.Split(line, "#")[0])):
			if inside {
				over = append(over, line)
			} else {
				read = append(read, line)
			}
		case inside:
			t.Errorf("passes over %q", line)
		}
	}
	return over, read
}

// TestInnerAlignment: block probes do away with the alignment of blocks, and with no other.
func TestInnerAlignment(t *testing.T) {
	records := func(list []string) (own []string) {
		for _, line := range list {
			if strings.Contains(line, "#") {
				own = append(own, line)
			}
		}
		return own
	}
	text, _, err := Rewrite(nil, []byte(aligned), Options{Target: x86ELF, Profile: coverage | mip.BlockCoverage})
	if err != nil {
		t.Fatal(err)
	}
	over, read := passed(t, string(text))
	if want := []string{".p2align 4,,10", ".p2align 3", ".balign\t32", ".p2align\t4"}; !slices.Equal(over, want) {
		t.Errorf("passes over %q, want %q\n%s", over, want, text)
	}
	if got, want := len(records(read)), strings.Count(aligned, " # "); got != want {
		t.Errorf("%d directives stay, want %d: %q", got, want, read)
	}
	for _, opt := range []Options{
		{Profile: coverage}, {Profile: callCounts}, {Profile: coverage | mip.BlockCoverage, KeepAlignment: true},
	} {
		opt.Target = x86ELF
		text, _, err := Rewrite(nil, []byte(aligned), opt)
		if err != nil {
			t.Fatal(err)
		}
		if over, _ := passed(t, string(text)); len(over) > 0 {
			t.Errorf("%+v: passes over %q", opt, over)
		}
	}
}
