package instrument

import (
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/formats/mip"
)

// TestCalls: which calls are known to return, from a function whose last block
// follows from its first if they do.
func TestCalls(t *testing.T) {
	const helpers = `
	.type	leaf,@function
leaf:
	incl	%eax
	retq
	.size	leaf, .-leaf
	.globl	strong
	.type	strong,@function
strong:
	callq	leaf
	callq	memcpy@PLT
	retq
	.size	strong, .-strong
	.weak	weak
	.type	weak,@function
weak:
	retq
	.size	weak, .-weak
	.type	tail,@function
tail:
	testl	%eax, %eax
	je	leaf
	jmp	strlen@PLT
	.size	tail, .-tail
	.type	away,@function
away:
	jmp	unknown
	.size	away, .-away
	.type	spins,@function
spins:
	.p2align	4
.LBB9_1:
	testl	%eax, %eax
	jne	.LBB9_1
	retq
	.size	spins, .-spins
	.type	itself,@function
itself:
	testl	%eax, %eax
	je	.LBB9_3
	callq	itself
.LBB9_3:
	retq
	.size	itself, .-itself
	.type	ends,@function
ends:
	callq	abort
	.size	ends, .-ends
	.type	memchr,@function
memchr:
	callq	unknown
	retq
	.size	memchr, .-memchr
`
	tests := []struct {
		call    string
		returns bool
	}{
		{"callq leaf", true},
		{"callq leaf@PLT", true}, // local
		{"callq strong", true},
		{"callq strong@PLT", false}, // another may take its place
		{"callq weak", false},
		{"callq tail", true},
		{"callq away", false},
		{"callq spins", false},
		{"callq itself", false},
		{"callq ends", false},
		{"callq memchr", false}, // not the library's
		{"callq memcpy", true},
		{"callq strlen@PLT", true},
		{"callq unknown", false},
		{"callq exit", false},
		{"callq *%rax", false},
		{"callq *leaf(%rip)", false},
		{"syscall", false},
	}
	for _, tt := range tests {
		body := "\t.text\n" + helpers + "\t.globl\tf\n\t.type\tf,@function\nf:\n\t" + strings.Replace(tt.call, " ", "\t", 1) +
			"\n\ttestl\t%ecx, %ecx\n\tje\t.LBB0_2\n# %bb.1:\n\tincl\t%eax\n.LBB0_2:\n\tretq\n\t.size\tf, .-f\n"
		_, r, err := Rewrite(nil, []byte(body), Options{Profile: coverage | mip.BlockCoverage, Target: x86ELF})
		if err != nil {
			t.Fatal(err)
		}
		f := r[len(r)-1]
		want := 3
		if tt.returns {
			want = 2
		}
		if f.Name != "f" || f.Probes != want {
			t.Errorf("%s: %+v, want %d probes", tt.call, f, want)
		}
	}
}

// TestDeparting: nothing falls through a call that does not return.
func TestDeparting(t *testing.T) {
	for call, blocks := range map[string]int{"abort": 3, "_ZSt9terminatev@PLT": 3, "unknown": 4} {
		body := `	.text
	.globl	f
	.type	f,@function
f:
	testl	%ecx, %ecx
	je	.LBB0_2
# %bb.1:
	decl	%eax
	jmp	.LBB0_3
.LBB0_2:
	incl	%eax
	callq	` + call + `
.LBB0_3:
	retq
	.size	f, .-f
`
		_, r, err := Rewrite(nil, []byte(body), Options{Profile: coverage | mip.BlockCoverage, Target: x86ELF})
		if err != nil {
			t.Fatal(err)
		}
		if got := r[0]; got.Probes != blocks {
			t.Errorf("%s: %+v, want %d probes", call, got, blocks)
		}
	}
}
