package split_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/profuse-pgo/profuse/internal/mip/asm"
	"github.com/profuse-pgo/profuse/internal/mip/split"
	"github.com/profuse-pgo/profuse/test/oracle"
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
	f := oracle.Must(asm.Read([]byte(text), asm.Target{Arch: asm.X86_64, Format: asm.ELF}))(t)
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

// TestFunction: the cold block becomes bail.cold, with call frame information of its own, and the rest stays.
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
		{"assignment", replace("\tret\n", "\tret\n\tx = 5\n"), []bool{true, true, false}, asm.UseDirective},
		{"section without flags", replace(`,"ax",@progbits`, ""), []bool{true, true, false}, asm.UseSection},
		{"no section", replace("\t.section\t.text.bail,\"ax\",@progbits\n", ""), []bool{true, true, false}, asm.UseSection},
		{"unknown unwinding", replace("\t.cfi_offset 3, -16\n", "\t.cfi_escape 0x16\n"), []bool{true, true, false}, asm.UseUnwind},
		{"register without another", replace("\t.cfi_offset 3, -16\n", "\t.cfi_register 3\n"), []bool{true, true, false}, asm.UseUnwind},
		{"no offset", replace("\t.cfi_offset 3, -16\n", "\t.cfi_def_cfa 7\n"), []bool{true, true, false}, asm.UseUnwind},
		{"branch of one byte", replace("\tjs\t.L2\n", "\tjrcxz\t.L2\n"), []bool{true, true, false}, ""},
		{"labels of this package", replace("message(", split.UseStem+"message("), []bool{true, true, false}, asm.UseOpaque},
	} {
		out, moved, why := cut(t, tc.text, tc.ran...)
		if moved != 0 || why != tc.why || out != tc.text {
			t.Errorf("%s: %d blocks moved, %q, want %q\n%s", tc.name, moved, why, tc.why, out)
		}
	}
}

// TestUnwinding: the cold part begins with the state in effect where its code stood.
func TestUnwinding(t *testing.T) {
	for directives, want := range map[string]string{
		".cfi_adjust_cfa_offset 8; .cfi_rel_offset 3, 0": ".cfi_def_cfa_offset 16; .cfi_offset 3, -16",
		".cfi_def_cfa 6, 16; .cfi_register 3, 12":        ".cfi_def_cfa 6, 16; .cfi_register 3, 12",
		".cfi_def_cfa_register 6; .cfi_undefined 3":      ".cfi_def_cfa 6, 8; .cfi_undefined 3",
		".cfi_same_value 12; .cfi_undefined 3":           ".cfi_undefined 3; .cfi_same_value 12",
		".cfi_offset 3, -16; .cfi_offset 3, -24":         ".cfi_offset 3, -24",
		".cfi_offset 3, -16; .cfi_restore 3":             "",
	} {
		lines := func(list string) string { return "\t" + strings.ReplaceAll(list, "; ", "\n\t") + "\n" }
		out, moved, why := cut(t, strings.Replace(bail, lines(".cfi_def_cfa_offset 16; .cfi_offset 3, -16"), lines(directives), 1), true, true, false)
		_, cold, _ := strings.Cut(out, ".Lmipuse_0_2:\n.L2:\n")
		cold, _, _ = strings.Cut(cold, "\tleaq")
		// The order of registers is that of their names.
		got, wanted := strings.Split(strings.TrimSpace(strings.ReplaceAll(cold, "\n\t", "; ")), "; "), strings.Split(want, "; ")
		slices.Sort(got)
		slices.Sort(wanted)
		if moved != 1 || why != "" || !slices.Equal(got, wanted) {
			t.Errorf("%s: %d blocks moved, %q; cold part begins with %q, want %q", directives, moved, why, got, wanted)
		}
	}
}

// TestIntelSyntax: the cold part stands in the syntax of its function, whatever is in effect at the
// end of the file.
func TestIntelSyntax(t *testing.T) {
	att := strings.NewReplacer("pushq\t%rbx", "push\trbx", "testl\t%edi, %edi", "test\tedi, edi", "movl\t%edi, %eax", "mov\teax, edi", "popq\t%rbx", "pop\trbx",
		"leaq\tmessage(%rip), %rdi", "lea\trdi, message[rip]", "movl\t$1, %esi", "mov\tesi, 1", "movl\t$2, %edx", "mov\tedx, 2")
	for end, want := range map[string]bool{"": false, "\t.att_syntax\n": true, "\t.att_syntax prefix\n": true, "\t.att_syntax\n\t.intel_syntax noprefix\n": false} {
		out, moved, why := cut(t, "\t.intel_syntax noprefix\n"+att.Replace(bail)+end, true, true, false)
		_, cold, _ := strings.Cut(out, "bail.cold:\n")
		cold, _, _ = strings.Cut(cold, "lea\trdi, message[rip]")
		_, tail, _ := strings.Cut(out, ".size\tbail, .-bail\n")
		if got := strings.Contains(tail[len(end):], ".intel_syntax noprefix"); moved != 1 || why != "" || got != want || cold == "" {
			t.Errorf("%q: %d blocks moved, %q; switches the syntax: %t, want %t\n%s", end, moved, why, got, want, tail)
		}
	}
}

// TestExceptionTable: a table of call sites is read if it has the form of compilers; else the function
// stays whole.
func TestExceptionTable(t *testing.T) {
	const table = `	.section	.gcc_except_table,"a",@progbits
.LLSDA0:
	.byte	0xff
	.byte	0xff
	.byte	0x1
	.uleb128 .LLSDACSE0-.LLSDACSB0
.LLSDACSB0:
	.uleb128 .LEHB0-.LFB0
	.uleb128 .LEHE0-.LEHB0
	.uleb128 0
	.uleb128 0
.LLSDACSE0:
`
	text := strings.NewReplacer("bail:\n\t.cfi_startproc\n", "bail:\n.LFB0:\n\t.cfi_startproc\n\t.cfi_personality 0x3,__gxx_personality_v0\n\t.cfi_lsda 0x3,.LLSDA0\n",
		"\tcall\treport\n", ".LEHB0:\n\tcall\treport\n.LEHE0:\n").Replace(bail) + table
	if _, moved, why := cut(t, text, true, true, false); moved != 1 || why != "" {
		t.Errorf("%d blocks moved, %q", moved, why)
	}
	for _, c := range [][2]string{
		{".cfi_lsda 0x3,.LLSDA0", ".cfi_lsda 0x3"},
		{".cfi_lsda 0x3,.LLSDA0", ".cfi_lsda 0x3,.LLSDA9"},
		{".LLSDA0:\n\t.byte\t0xff", ".LLSDA0:\n\t.byte\t0"},
		{".LLSDA0:\n\t.byte\t0xff", ".LLSDA0:\n\t.byte\t0xfg"},
		{"\t.byte\t0x1\n", "\t.byte\t0x3\n"},
		{"\t.uleb128 .LLSDACSE0-.LLSDACSB0\n", "\t.uleb128 .LLSDACSE0\n"},
		{"\t.uleb128 .LLSDACSE0-.LLSDACSB0\n", "\t.uleb128 .LLSDACSE0-.LLSDACSB9\n"},
		{"\t.uleb128 .LEHB0-.LFB0\n", "\t.long .LEHB0-.LFB0\n"},
		{".LEHE0-.LEHB0", ".LEHE0-.LFB0"},
		{"\t.uleb128 0\n\t.uleb128 0\n", ""},
		{table[strings.Index(table, "\t.uleb128 .LEHB0"):], "\t.text\n.LLSDACSE0:\n"},
	} {
		damaged := strings.Replace(text, c[0], c[1], 1)
		if out, moved, why := cut(t, damaged, true, true, false); moved != 0 || why != asm.UseTable || out != damaged {
			t.Errorf("%q for %q: %d blocks moved, %q", c[1], c[0], moved, why)
		}
	}
}
