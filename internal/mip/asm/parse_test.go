package asm

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/internal/mip/sign"
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

// graph prints the functions of a text: name, and for each block its
// successors, L if control may leave it, R if it may be entered from outside
// and P if it has a probe.
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
	if got, want := f.Functions[0].Signature(), sign.CFG([][]int{{2, 1}, {2}, {}}); got != want {
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
		"a": ".data  comdat:false code:false loaded:true",
		"b": ".text.f f comdat:true code:true loaded:true",
		"c": ".rodata.str  comdat:false code:false loaded:true",
		"d": ".text.f f comdat:true code:true loaded:true",
		"e": ".data  comdat:false code:false loaded:true",
		"g": ".text.g  comdat:false code:true loaded:true",
		"h": ".text  comdat:false code:true loaded:true",
		"i": ".text  comdat:false code:true loaded:true",
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
	for _, triple := range []string{"i686-linux-gnu", "x86_64-pc-windows-msvc", "x86_64-linux-gnux32", "armeb-linux-gnueabi", "riscv64-linux-gnu", "armv7-apple-ios"} {
		if got, err := ParseTriple(triple); err == nil {
			t.Errorf("%s: %v", triple, got)
		}
	}
}
