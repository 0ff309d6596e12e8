package asm

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/internal/llvm/guid"
)

// readBlocks reads a file, the blocks of its functions and what can be inferred.
func readBlocks(t *testing.T, target Target, text string) *File {
	t.Helper()
	f, err := Read([]byte(text), target)
	if err != nil {
		t.Fatal(err)
	}
	for i := range f.Functions {
		if f.Functions[i].Skip == "" {
			f.FindEntry(int32(i))
			f.BuildBlocks(int32(i), false)
		}
	}
	f.ResolveCalls()
	for i := range f.Functions {
		if f.Functions[i].Skip == "" {
			f.Functions[i].Infer()
		}
	}
	return f
}

// graph prints the functions of a text: name, and for each block its successors, L if control may leave
// it, R if it may be entered from outside and P if it has a probe.
func graph(t *testing.T, target Target, text string) []string {
	t.Helper()
	f := readBlocks(t, target, text)
	var out []string
	for i := range f.Functions {
		fn := &f.Functions[i]
		var s strings.Builder
		fmt.Fprintf(&s, "%s", fn.Name)
		if fn.Skip != "" {
			fmt.Fprintf(&s, " skipped: %v", fn.Skip)
		}
		for b := range fn.Blocks {
			blk := &fn.Blocks[b]
			fmt.Fprintf(&s, " {%s", strings.Trim(fmt.Sprint(blk.Succs), "[]"))
			for _, flag := range []struct {
				set bool
				c   string
			}{{blk.mayLeave, "L"}, {blk.root, "R"}, {fn.Probed(b), "P"}} {
				if flag.set {
					s.WriteString(flag.c)
				}
			}
			s.WriteString("}")
		}
		out = append(out, s.String())
	}
	return out
}

func TestGraphs(t *testing.T) {
	elf, apple := Target{X86_64, ELF}, Target{AArch64, MachO}
	tests := []struct {
		name   string
		target Target
		text   string
		want   []string
	}{
		{"if", elf, `
	.type f, @function
f:
	testl %edi, %edi
	je .L2
	incl %eax
.L2:
	ret
	.size f, .-f
`, []string{"f {2 1P} {2P} {L}"}},
		{"labels of gcc that are not blocks", elf, `
	.type f, @function
f:
.LFB0:
	.loc 1 1 1
.LVL0:
	nop
.LBB12:
	addl $1, %eax
.LBE12:
.LEHB0:
	addl $1, %eax
.LEHE0:
	ret
.LFE0:
	.size f, .-f
	.section .debug_info
	.quad .LBB12
`, []string{"f {LP}"}},
		{"two branches on one comparison", elf, `
	.type f, @function
f:
	ucomisd %xmm0, %xmm1
	jne .LBB0_2
	jp .LBB0_2
	call g
	jmp .LBB0_3
.LBB0_2:
	call h
.LBB0_3:
	ret
	.size f, .-f
`, []string{"f {2 1P} {3LP} {3LP} {LP}"}},
		{"landing pad", elf, `
	.type f, @function
f:
.Lfunc_begin0:
.Ltmp0:
	call g
.Ltmp1:
	ret
.LBB0_1:
.Ltmp2:
	call h
	jmp .LBB0_2
.LBB0_2:
.Ltmp3:
	call i
.Ltmp4:
	ret
	.size f, .-f
	.section .gcc_except_table,"a"
	.uleb128 .Ltmp0-.Lfunc_begin0
	.uleb128 .Ltmp1-.Ltmp0
	.uleb128 .Ltmp2-.Lfunc_begin0
	.byte 1
	.uleb128 .Ltmp3-.Lfunc_begin0
	.uleb128 .Ltmp4-.Ltmp3
	.byte 0
	.byte 0
`, []string{"f {LP} {2LRP} {LP}"}},
		{"jump table in the operand", elf, `
	.type f, @function
f:
	cmpl $2, %edi
	ja .L5
	jmp *.L4(,%rdi,8)
	.section .rodata
	.align 8
.L4:
	.quad .L3
	.quad .L2
	.quad .L3
	.text
.L2:
	incl %eax
.L3:
	incl %eax
.L5:
	ret
	.size f, .-f
`, []string{"f {4 1P} {3 2} {3P} {4P} {L}"}},
		{"computed goto", elf, `
	.type f, @function
f:
	leaq table(%rip), %rax
	jmp *(%rax,%rdi,8)
.L2:
	jmp *(%rax,%rsi,8)
.L3:
	ret
	.size f, .-f
	.section .data.rel.ro.local,"aw"
table:
	.quad .L2
	.quad .L3
`, []string{"f {1 2LP} {1 2LP} {LP}"}},
		{"cold part", elf, `
	.text
	.type f, @function
f:
	testl %edi, %edi
	js .L3
.L2:
	ret
	.section .text.unlikely,"ax",@progbits
	.type f.cold, @function
f.cold:
.L4:
	call g
	jmp .L2
.L3:
	call h
	jmp .L4
	.text
	.size f, .-f
	.section .text.unlikely
	.size f.cold, .-f.cold
`, []string{"f {1LP} {LRP}", "f.cold {LP} {0LRP}"}},
		{"asm goto", elf, `
	.type f, @function
f:
	movl %edi, %eax
#APP
	jmp .L3
#NO_APP
	incl %eax
.L3:
	ret
	.size f, .-f
`, []string{"f {1LP} {2P} {LRP}"}},
		{"loop at the entry", elf, `
	.type f, @function
f:
	.p2align 4
.LBB0_1:
	cmpl $0, (%rdi)
	je .LBB0_1
	ret
	.size f, .-f
`, []string{"f {1P} {1 2} {LP}"}},
		{"local callee", elf, `
	.type leaf, @function
leaf:
	ret
	.size leaf, .-leaf
	.type loops, @function
loops:
	jmp loops
	.size loops, .-loops
	.globl f
	.type f, @function
f:
	call leaf
	call memcpy@PLT
.L2:
	call loops
.L3:
	call f
.L4:
	ret
	.size f, .-f
	.section .rodata
	.quad .L2
	.quad .L3
`, []string{"leaf {LP}", "loops {LP}", "f {1P} {2LR} {LRP}"}},
		{"inline assembly", elf, `
#APP
	.type raw, @function
raw:
	ret
	.size raw, .-raw
#NO_APP
	.type f, @function
f:
	ret
	.size f, .-f
`, []string{"raw skipped: defined in inline assembly", "f {LP}"}},
		{"type without a comma, outlined code", elf, `
	.type f @function
f:
	call OUTLINED_FUNCTION_0
	ret
	.size f, .-f
	.type OUTLINED_FUNCTION_0, @function
OUTLINED_FUNCTION_0:
	ret
	.size OUTLINED_FUNCTION_0, .-OUTLINED_FUNCTION_0
`, []string{"f {LP}", "OUTLINED_FUNCTION_0 skipped: made by the outliner"}},
		{"entry inside of a function", apple, `
	.globl _f
_f:
	nop
	.alt_entry _g
_g:
	ret
`, []string{"_f {LP}"}},
		{"Apple", apple, `
	.section __TEXT,__text,regular,pure_instructions
	.globl _f ; -- Begin function f
	.p2align 2
_f: ; @f
	.cfi_startproc
; %bb.0:
	cbz w0, LBB0_2
; %bb.1:
	bl _g
LBB0_2:
	ret
	.cfi_endproc
	.globl _h
_h:
	.cfi_startproc
	b _f
	.cfi_endproc
.subsections_via_symbols
`, []string{"_f {2 1P} {2LP} {LP}", "_h {LP}"}},
	}
	for _, tt := range tests {
		if got := graph(t, tt.target, tt.text); !slices.Equal(got, tt.want) {
			t.Errorf("%s:\n got %q\nwant %q", tt.name, got, tt.want)
		}
	}
}

// TestSignatureGolden is the value of the reference's tests.
func TestSignatureGolden(t *testing.T) {
	f := readBlocks(t, Target{X86_64, ELF}, "\t.type f,@function\nf:\n\tcmpl $0, %edi\n\tje .L2\n\tnop\n.L2:\n\tret\n\t.size f,.-f\n")
	// The reference lists the fall-through first: {1;2;}{2;}{}.
	if got, want := f.Functions[0].Signature(), guid.CFG([][]int{{2, 1}, {2}, {}}); got != want {
		t.Errorf("signature %#x, want %#x", got, want)
	}
}

func TestSections(t *testing.T) {
	text := `
	.data
a:
	.section .text.f,"axG",@progbits,f,comdat
b:
	.pushsection .rodata.str,"aMS",@progbits,1
c:
	.popsection
d:
	.previous
e:
	.section ".note","",@progbits
	.section .text.g,"ax",@progbits,unique,4
g:
	.text
h:
	.section .text
i:
	.section .text.f,"axG",@progbits,f,comdat
	.section .text.same,"ax?",@progbits
same:
`
	f := &File{Src: []byte(text), Target: Target{X86_64, ELF}}
	if err := f.lex(); err != nil {
		t.Fatal(err)
	}
	if err := f.trackSections(); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for i := range f.Stmts {
		if s := &f.Stmts[i]; s.Kind == StmtLabel {
			sec := f.Sections[s.Section]
			got[string(f.Text(s))] = fmt.Sprintf("%s %s comdat:%t code:%t loaded:%t", sec.Name, sec.Group, sec.Comdat, sec.Code, sec.Loaded)
		}
	}
	want := map[string]string{
		"a":    ".data  comdat:false code:false loaded:true",
		"b":    ".text.f f comdat:true code:true loaded:true",
		"c":    ".rodata.str  comdat:false code:false loaded:true",
		"d":    ".text.f f comdat:true code:true loaded:true",
		"e":    ".data  comdat:false code:false loaded:true",
		"same": ".text.same f comdat:true code:true loaded:true",
		"g":    ".text.g  comdat:false code:true loaded:true",
		"h":    ".text  comdat:false code:true loaded:true",
		"i":    ".text  comdat:false code:true loaded:true",
	}
	for name, w := range want {
		if got[name] != w {
			t.Errorf("%s: %q, want %q", name, got[name], w)
		}
	}
	if h, i := sectionOf(f, "h"), sectionOf(f, "i"); h != i {
		t.Errorf(".text is section %d, .section .text %d", h, i)
	}
}

func sectionOf(f *File, label string) int32 {
	for i := range f.Stmts {
		if s := &f.Stmts[i]; s.Kind == StmtLabel && string(f.Text(s)) == label {
			return s.Section
		}
	}
	return -1
}

func TestTargets(t *testing.T) {
	for triple, want := range map[string]string{
		"x86_64-pc-linux-gnu": "x86_64-elf", "aarch64-linux-gnu": "aarch64-elf", "arm-linux-gnueabihf": "arm-elf",
		"armv7a-unknown-linux-gnueabihf": "arm-elf", "thumbv7m-none-eabi": "arm-elf",
		"arm64-apple-macos13": "aarch64-macho", "x86_64-apple-darwin22": "x86_64-macho",
	} {
		if got, err := ParseTriple(triple); err != nil || got.String() != want {
			t.Errorf("%s: %v, %v", triple, got, err)
		}
	}
	for _, triple := range []string{"i686-linux-gnu", "x86_64-pc-windows-msvc", "x86_64-linux-gnux32", "armeb-linux-gnueabi", "", "riscv64-linux-gnu", "armv7-apple-ios"} {
		if got, err := ParseTriple(triple); err == nil {
			t.Errorf("%s: %v", triple, got)
		}
	}
}

// TestStatements: where statements begin and end, whatever comments, strings and characters are in them.
func TestStatements(t *testing.T) {
	for _, c := range []struct {
		target Target
		text   string
		want   string // the statements' texts, each in brackets
	}{
		{Target{X86_64, ELF}, "\tmovb\t$'#', %al # say\n\tret", "[movb\t$'#', %al][ret]"},
		{Target{X86_64, ELF}, "\tmovb\t$'\\'', %al; ret\n", "[movb\t$'\\'', %al][ret]"},
		{Target{X86_64, ELF}, "\tmovb\t$';, %al\n\tret\n", "[movb\t$';, %al][ret]"},
		{Target{X86_64, ELF}, "\tmovb\t$'\n\tret\n", "[movb\t$'][ret]"},
		{Target{X86_64, ELF}, "\tmovl\t/* to */ %eax, %ebx /* and\n more */\n\tret\n", "[movl\t/* to */ %eax, %ebx][ret]"},
		{Target{X86_64, ELF}, "f: ;; ret; nop\nx = 5\n/* ret */\n/* ret", "[f][ret][nop][x = 5]"},
		{Target{AArch64, ELF}, "\tmov\tw0, #1 // ret\n\tret; nop", "[mov\tw0, #1][ret][nop]"},
		{Target{AArch64, MachO}, "_f: ret %% nop ; ret", "[_f][ret][nop]"},
		{Target{ARM, ELF}, "\tmov\tr0, #1 @ ret\n\tbx\tlr", "[mov\tr0, #1][bx\tlr]"},
	} {
		f := &File{Src: []byte(c.text), Target: c.target}
		if err := f.lex(); err != nil {
			t.Fatal(err)
		}
		got := ""
		for i := range f.Stmts {
			got += "[" + string(f.Text(&f.Stmts[i])) + "]"
		}
		if got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}

// TestHasWord: a symbol is used where it stands alone.
func TestHasWord(t *testing.T) {
	for text, want := range map[string]bool{"call f": true, "f": true, "call ff\n jmp f2": false, "jmp ff; jmp f": true, "": false, "call a.f": false, "(f)": true} {
		if got := HasWord([]byte(text), "f"); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
}

// TestFlow: what ends a block on x86_64 and AArch64, and how.
func TestFlow(t *testing.T) {
	for ins, want := range map[string]FlowKind{
		"jne,pn\t.L1": FlowBranch, "loop\t.L1": FlowBranch, "loopne\t.L1": FlowBranch, "jrcxz\t.L1": FlowBranch, "jmp\t.L1": FlowJump, "jmp\t*%rax": FlowIndirect,
		"notrack jmp\t*(%rax)": FlowIndirect, "jmp": FlowIndirect, "bnd call\tf": FlowCall, "lcall\t*(%rax)": FlowCall, "repz ret": FlowReturn,
		"lretq": FlowTrap, "iretq": FlowTrap, "ud2": FlowTrap, "ljmp\t*(%rax)": FlowTrap, "xbegin\t.L1": FlowBranch, "xabort\t$1": FlowLeave, "syscall": FlowLeave,
		"lock incl\t(%rax)": FlowNone, ",x": FlowNone, "movl\t%eax, %ebx": FlowNone,
	} {
		if got, _ := X86_64.Flow([]byte(ins), AttPrefix); got != want {
			t.Errorf("%s: %d, want %d", ins, got, want)
		}
	}
	for ins, want := range map[string]FlowKind{"jmp\trax": FlowIndirect, "jmp\tr16": FlowIndirect, "jmp\tQWORD PTR x[rip]": FlowIndirect, "jmp\t[rax]": FlowIndirect, "jmp\t.L1": FlowJump} {
		if got, _ := X86_64.Flow([]byte(ins), IntelNoPrefix); got != want {
			t.Errorf("%s: %d, want %d", ins, got, want)
		}
	}
	for ins, want := range map[string]FlowKind{
		"b\t.L1": FlowJump, "b.eq\t.L1": FlowBranch, "tbz\tw0, #1, .L1": FlowBranch, "bl\tf": FlowCall, "blr\tx1": FlowCall, "br\tx1": FlowIndirect, "ret": FlowReturn,
		"svc\t#0": FlowLeave, "hvc\t#1": FlowLeave, "brk\t#1": FlowTrap, "mov\tx0, x1": FlowNone,
	} {
		if got, _ := AArch64.Flow([]byte(ins), 0); got != want {
			t.Errorf("%s: %d, want %d", ins, got, want)
		}
	}
}
