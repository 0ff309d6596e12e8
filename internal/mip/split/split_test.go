package split_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/profuse-pgo/profuse/internal/mip/asm"
	"github.com/profuse-pgo/profuse/internal/mip/split"
)

// bail is a function with an error path, block 2, that is large enough to move.
const bail = `	.section	.text.bail,"ax",@progbits
	.globl	bail
	.type	bail, @function
bail:
	.cfi_startproc
	pushq	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset 3, -16
	testl	%edi, %edi
	js	.L2
.L1:
	movl	%edi, %eax
	.cfi_remember_state
	popq	%rbx
	.cfi_def_cfa_offset 8
	ret
.L2:
	.cfi_restore_state
	leaq	message(%rip), %rdi
	movl	$1, %esi
	movl	$2, %edx
	call	report
	jmp	.L1
	.cfi_endproc
	.size	bail, .-bail
`

// cut splits the one function of a text whose blocks ran as given.
func cut(t *testing.T, text string, ran ...bool) (out string, moved int, why asm.Reason) {
	t.Helper()
	f, err := asm.Read([]byte(text), asm.Target{Arch: asm.X86_64, Format: asm.ELF})
	if err != nil {
		t.Fatal(err)
	}
	f.FindEntry(0)
	f.BuildBlocks(0, false)
	if got := len(f.Functions[0].Blocks); got != len(ran) {
		t.Fatalf("%d blocks, want %d", got, len(ran))
	}
	s := split.New(f)
	moved, why = s.Function(0, ran)
	edits, tail := s.Finish()
	return string(f.Apply(nil, edits, tail)), moved, why
}

// TestFunction: the cold block becomes bail.cold, with call frame information of its
// own, and the rest stays.
func TestFunction(t *testing.T) {
	const want = `	.section	.text.bail,"ax",@progbits
	.globl	bail
	.type	bail, @function
bail:
	.cfi_startproc
	pushq	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset 3, -16
	testl	%edi, %edi
	js	.L2
.L1:
	movl	%edi, %eax
	popq	%rbx
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	bail, .-bail
	.section	.text.unlikely.bail,"ax",@progbits
	.type	bail.cold, @function
bail.cold:
.Lmipuse_0s:
	.cfi_startproc
.Lmipuse_0_2:
.L2:
	.cfi_def_cfa_offset 16
	.cfi_offset 3, -16
	leaq	message(%rip), %rdi
	movl	$1, %esi
	movl	$2, %edx
	call	report
	jmp	.L1
.Lmipuse_0z:
	.cfi_endproc
	.size	bail.cold, .Lmipuse_0z-.Lmipuse_0s
`
	out, moved, why := cut(t, bail, true, true, false)
	if moved != 1 || why != "" {
		t.Errorf("%d blocks moved, %q", moved, why)
	}
	out = strings.ReplaceAll(out, "\t\n", "") // what is left of lines that were removed
	if diff := cmp.Diff(want, out); diff != "" {
		t.Error(diff)
	}
}

// TestFallsThrough: control that falls into a block in the other part jumps there.
func TestFallsThrough(t *testing.T) {
	// The cold block lies between two others and falls into the second.
	const body = `	testl	%edi, %edi
	jns	.L1
	leaq	message(%rip), %rdi
	movl	$1, %esi
	movl	$2, %edx
	call	report
.L1:
	ret
`
	head, _, _ := strings.Cut(bail, "\tpushq")
	out, moved, why := cut(t, head+body+"\t.cfi_endproc\n\t.size\tbail, .-bail\n", true, false, true)
	if moved != 1 || why != "" {
		t.Fatalf("%d blocks moved, %q", moved, why)
	}
	hot, cold, found := strings.Cut(out, "bail.cold:")
	if !found || !strings.Contains(hot, "\tjs\t.Lmipuse_0_1\n") || !strings.Contains(hot, ".Lmipuse_0_2:\n\tret\n") || strings.Contains(hot, "report") ||
		!strings.Contains(cold, ".Lmipuse_0_1:\n") || !strings.Contains(cold, "\tcall\treport\n\tjmp\t.Lmipuse_0_2\n") {
		t.Error(out)
	}
}

// TestJumpToNext: a block that is only a jump loses it when the block that it leads to
// follows, and keeps the label that the cold block before it needs.
func TestJumpToNext(t *testing.T) {
	const cold = "\tleaq\tmessage(%rip), %rdi\n\tmovl\t$1, %esi\n\tmovl\t$2, %edx\n\tcall\treport\n"
	const body = "\ttestl\t%edi, %edi\n\tje\t.L2\n\tjns\t.L1\n" + cold + ".L1:\n\tjmp\t.L3\n.L2:\n" + cold + ".L3:\n\tret\n"
	head, _, _ := strings.Cut(bail, "\tpushq")
	out, moved, why := cut(t, head+body+"\t.cfi_endproc\n\t.size\tbail, .-bail\n", true, false, true, false, true)
	if moved != 2 || why != "" {
		t.Fatalf("%d blocks moved, %q", moved, why)
	}
	hot, _, _ := strings.Cut(out, "bail.cold:")
	if !strings.Contains(hot, ".L1:\n\t\n.Lmipuse_0_2:\n\t\n") || strings.Contains(hot, "\tjmp") || !strings.Contains(out, "\tjmp\t.Lmipuse_0_2\n") {
		t.Error(out)
	}
}

// TestStays: functions that cannot be split, or need not be, stay as they are.
func TestStays(t *testing.T) {
	replace := func(old, new string) string {
		if !strings.Contains(bail, old) {
			t.Fatalf("no %q", old)
		}
		return strings.Replace(bail, old, new, 1)
	}
	for _, tc := range []struct {
		name, text string
		ran        []bool
		why        asm.Reason
	}{
		{"all ran", bail, []bool{true, true, true}, ""},
		{"other flags", replace(`"ax"`, `"aR"`), []bool{true, true, false}, asm.UseSection},
		{"restored but not remembered", replace("\t.cfi_remember_state\n", ""), []bool{true, true, false}, asm.UseUnwind},
		{"data", replace("\tret\n", "\tret\n\t.quad\t.L1\n"), []bool{true, true, false}, asm.UseDirective},
		{"inline assembly", replace("\tmovl\t$1, %esi\n", "#APP\n\tmovl\t$1, %esi\n#NO_APP\n"), []bool{true, true, false}, ""},
		{"labels of this package", replace("message(", split.UseStem+"message("), []bool{true, true, false}, asm.UseOpaque},
	} {
		out, moved, why := cut(t, tc.text, tc.ran...)
		if moved != 0 || why != tc.why || out != tc.text {
			t.Errorf("%s: %d blocks moved, %q, want %q\n%s", tc.name, moved, why, tc.why, out)
		}
	}
}
