package instrument

import (
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/mip"
)

// TestZeroBytes: what is known after sequences of instructions in AT&T syntax.
func TestZeroBytes(t *testing.T) {
	tests := []struct{ code, want string }{
		{"xorl %eax, %eax", "al ah"},
		{"xorb %al, %al", "al"},
		{"xorl %eax, %ecx", ""},
		{"xorl %esi, %esi", ""},
		{"subq %rdx, %rdx", "dl dh"},
		{"movl $0, %ebx", "bl bh"},
		{"movl $5, %ecx", "ch"},
		{"movl $256, %ecx", "cl"},
		{"movl $-1, %ecx", ""},
		{"movl $x, %ecx", ""},
		{"movl $x+1, %ecx", ""},
		{"movabsq $0x1200, %rax", "al"},
		{"movb $0, %dh", "dh"},
		{"movb $0, (%rax)", ""},
		{"movzbl (%rdi,%rcx), %edx", "dh"},
		{"movzwl (%rdi), %edx", ""},
		{"movsbl (%rdi), %edx", ""},
		{"xorl %ecx, %ecx; movl %ecx, %eax", "al cl ah ch"},
		{"movl $3, %ecx; movq %rcx, %rax", "ah ch"},
		{"xorl %ecx, %ecx; movb %ch, %al", "al cl ch"},
		{"xorl %ecx, %ecx; movzbl %cl, %edx", "cl dl ch dh"},
		{"xorl %eax, %eax; movl %edi, %eax", ""},
		{"xorl %eax, %eax; movb (%rdi), %al", "ah"},
		{"xorl %eax, %eax; sete %al", "ah"},
		{"xorl %eax, %eax; cmovel %ecx, %eax", ""},
		{"xorl %eax, %eax; addq $8, %rsp; movq %rax, 8(%rsp)", "al ah"},
		{"xorl %eax, %eax; incl %eax", ""},
		{"xorl %eax, %eax; orl $0x80, %eax", "ah"},
		{"xorl %eax, %eax; xorl $0x8000, %eax", "al"},
		{"andl $255, %edx", "dh"},
		{"andl $-256, %edx", "dl"},
		{"xorl %edx, %edx; andl %ecx, %edx", "dl dh"},
		{"shll $8, %eax", "al"},
		{"shll $4, %eax", ""},
		{"shldl $8, %ecx, %eax", ""},
		{"shlb $8, %al", ""},
		{"xorl %ebx, %ebx; mull %ecx", "bl bh"},
		{"xorl %eax, %eax; xorl %ecx, %ecx; imulq %rdi", "cl ch"},
		{"xorl %eax, %eax; imull %ecx, %eax", ""},
		{"xorl %eax, %eax; xorl %edx, %edx; cltd", "al ah"},
		{"xorl %eax, %eax; cltq", "al ah"},
		{"xorl %ecx, %ecx; divl %ecx", "cl ch"},
		{"xorl %ecx, %ecx; xchgl %ecx, %eax", ""},
		{"xorl %ecx, %ecx; popq %rcx", ""},
		{"xorl %ecx, %ecx; pushq %rcx", "cl ch"},
		{"xorl %ecx, %ecx; leaq (%rcx,%rdi), %rcx", ""},
		{"xorl %eax, %eax; cvttsd2si %xmm0, %eax", ""},
		{"xorl %eax, %eax; movd %xmm0, %eax", ""},
		{"xorl %eax, %eax; movsd (%rdi), %xmm0", "al ah"},
		// Not understood: nothing is known.
		{"xorl %eax, %eax; cpuid", ""},
		{"xorl %ecx, %ecx; rep movsq", ""},
		{"xorl %ecx, %ecx; lock xaddl %ecx, (%rdi)", ""},
		{"xorl %ecx, %ecx; cmpxchgl %edx, (%rdi)", ""},
		{"xorl %ecx, %ecx; some_macro", ""},
		// Branches.
		{"testl %eax, %eax; je", "al ah"},
		{"testl %eax, %eax; jne", ""},
		{"testl %eax, %ecx; je", ""},
		{"testl %eax, %eax; !jne", "al ah"},
		{"testb %cl, %cl; je", "cl"},
		{"cmpl $7, %edx; je", "dh"},
		{"cmpq $0, %rdx; je", "dl dh"},
		{"cmpb $0, (%rdi); je", ""},
		{"cmpl %eax, %edx; je", ""},
		{"cmpl $200, %edx; !ja", "dh"},
		{"cmpl $300, %edx; !ja", ""},
		{"cmpl $-1, %edx; !ja", ""},
		{"cmpl $200, %edx; ja", ""},
		{"cmpl $200, %edx; !jg", ""},
		{"cmpl $256, %edx; jb", "dh"},
		{"cmpb $3, %dl; !ja", ""},
		{"subl $1, %ecx; je", "cl ch"},
		{"decl %ecx; !jne", "cl ch"},
		{"shrl %cl, %eax; je", ""}, // by nothing changes no flag
		{"testl %eax, %eax; movl (%rdi), %ecx; je", "al ah"},
		{"testl %eax, %eax; movl (%rdi), %eax; je", ""},
		{"testl %eax, %eax; addl %ecx, %edx; je", "dl dh"},
		{"testl %eax, %eax; btl %ecx, %edx; je", ""},
	}
	for _, tt := range tests {
		var r registers
		for ins := range strings.SplitSeq(tt.code, "; ") {
			switch fallen := strings.TrimPrefix(ins, "!"); {
			case fallen != ins:
				r = r.fallen([]byte(fallen))
			case strings.HasPrefix(ins, "j"):
				r = r.taken([]byte(ins))
			default:
				r = r.step([]byte(ins))
			}
		}
		var got []string
		for i, name := range zeroNames {
			if r.zero>>i&1 != 0 {
				got = append(got, name[1:])
			}
		}
		if s := strings.Join(got, " "); s != tt.want {
			t.Errorf("%s: zero are %q, want %q", tt.code, s, tt.want)
		}
	}
}

// TestZeroProbes: probes use a register that holds zero on every way to them,
// and move only past what cannot fault.
func TestZeroProbes(t *testing.T) {
	const body = `	.text
	.type	f,@function
f:
	movzbl	(%rdi), %eax
	testl	%esi, %esi
	je	.LBB0_2
# %bb.1:
	movl	(%rsi), %edx
	xorl	%ecx, %ecx
	movl	$7, %eax
	callq	g
.LBB0_2:
	movl	%edi, %ecx
	xorl	%edx, %edx
	callq	g
	xorl	%ebx, %ebx
	testl	%eax, %eax
	jne	.LBB0_4
# %bb.3:
	callq	g
	jmp	.LBB0_5
.LBB0_4:
	callq	g
.LBB0_5:
	movl	$1, %ecx
	retq
	.size	f, .-f
`
	out, _, err := Rewrite(nil, []byte(body), Options{Profile: coverage | mip.BlockCoverage, Target: Target{X86_64, ELF}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	last := ""
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "movb") && strings.Contains(line, ".Lmip_r") {
			got = append(got, last+" | "+strings.Fields(line)[1])
		}
		if line != "" && !strings.HasPrefix(line, ".Lmip") && !strings.HasPrefix(line, "#") {
			last = line
		}
	}
	want := []string{
		"f: | $0,",
		"je	.LBB0_2 | %ah,",      // loaded from a byte before the branch
		"xorl	%edx, %edx | %dl,", // the other way here has called g
		"jne	.LBB0_4 | %al,",     // compared with zero
		".LBB0_4: | %bl,",        // cleared before the branch
		"movl	$1, %ecx | %ch,",   // nothing is known after calls
	}
	if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
		t.Errorf("probes\n%s\nwant\n%s\n%s", g, w, out)
	}
}
