package instrument

import (
	"bytes"
	"errors"
	"path/filepath"
	"testing"

	"github.com/profuse-pgo/profuse/formats/mip"
	"github.com/profuse-pgo/profuse/internal/mip/asm"
	"github.com/profuse-pgo/profuse/test/oracle"
)

var x86ELF = asm.Target{Arch: asm.X86_64, Format: asm.ELF}

var fuzzTargets = []asm.Target{
	x86ELF,
	{Arch: asm.AArch64, Format: asm.ELF},
	{Arch: asm.ARM, Format: asm.ELF},
	{Arch: asm.X86_64, Format: asm.MachO},
	{Arch: asm.AArch64, Format: asm.MachO},
}

var fuzzProfiles = []mip.ProfileType{coverage, callCounts, coverage | mip.BlockCoverage, callCounts | mip.BlockCoverage}

// FuzzRewrite: whatever the text, nothing is lost of it, lines are only added,
// and the result is refused a second time.
func FuzzRewrite(f *testing.F) {
	for _, seed := range fuzzSeeds {
		for target := range fuzzTargets {
			f.Add([]byte(seed), uint8(target), uint8(target+2), false)
		}
	}
	files, _ := filepath.Glob("testdata/*.s")
	for _, name := range files {
		text := oracle.ReadFile(f, name)
		f.Add(text, uint8(0), uint8(2), true)
	}
	f.Fuzz(func(t *testing.T, src []byte, target, profile uint8, all bool) {
		opt := Options{
			Target:         fuzzTargets[int(target)%len(fuzzTargets)],
			Profile:        fuzzProfiles[int(profile)%len(fuzzProfiles)],
			AllBlockProbes: all,
		}
		e, err := parse(src, &opt)
		if err != nil {
			out, _, again := Rewrite(nil, src, opt)
			if out != nil || again == nil {
				t.Fatalf("parse failed with %v, Rewrite with %v", err, again)
			}
			return
		}
		e.emit()
		out := e.apply(nil)
		if back := remove(out, e); !bytes.Equal(back, src) {
			t.Fatalf("without what was added:\n%q\nwant\n%q", back, src)
		}
		report := report(e.File)
		probed := 0
		for _, fn := range report {
			if fn.Skipped == "" {
				probed++
			}
			if fn.Probes > max(fn.Blocks, 1) || (fn.Probes == 0) != (fn.Skipped != "") {
				t.Fatalf("%+v", fn)
			}
		}
		if probed == 0 != bytes.Equal(out, src) {
			t.Fatalf("%d functions instrumented, changed: %t", probed, !bytes.Equal(out, src))
		}
		if probed > 0 {
			if _, _, err := Rewrite(nil, out, opt); !errors.Is(err, asm.ErrInstrumented) {
				t.Fatalf("a second time: %v", err)
			}
		}
	})
}

// remove takes the insertions out of what apply returned; nil if they are not where they should be.
func remove(out []byte, e *emitter) []byte {
	var back []byte
	for _, ins := range e.insertions {
		// Lines are added before the indentation of the one that follows.
		n := max(len(bytes.TrimRight(e.Src[:ins.pos], " \t"))-len(back), 0)
		if n > len(out) {
			return nil
		}
		back, out = append(back, out[:n]...), out[n:]
		added := e.text[ins.lo:ins.hi]
		if !bytes.HasPrefix(out, added) { // in the middle of a line
			out = bytes.TrimPrefix(out, []byte("\n"))
		}
		var ok bool
		if out, ok = bytes.CutPrefix(out, added); !ok {
			return nil
		}
	}
	return append(back, out...)
}

var fuzzSeeds = []string{
	"\t.text\n\t.type\tf,@function\nf:\n\tmovl\t%edi, %eax\n\tret\n\t.size\tf, .-f\n",
	"\t.type f,@function\nf: .L1: jne .L1; jmp *%rax; .L2: ret",
	"\t.type f,@function\nf:\n#APP\n1: jmp 1b\n#NO_APP\n\tret\n\t.size f,.-f\n.end\nrubbish",
	"\t.type \"a b\",@function\n\"a b\":\n\tcall *8(%rax) # x \" y\n\t/* a\n b */ ret\n",
	".macro m\nf: ret\n.endm\n.type f,@function\nf: m\nret\n.rept 3\nnop\n.endr\n.if 1\nnop\n.endif\n",
	"\t.section .text.f,\"axG\",@progbits,f,comdat\n.type f,%function\nf: b.eq .L1\n.L1: tbz x0, #1, .L1\n bl g\n ret\n.size f,.-f\n",
	"\t.section __TEXT,__text,regular,pure_instructions\n_f:\n\t.cfi_startproc\n\tcbz x0, LBB0_1\nLBB0_1:\n\tret\n\t.cfi_endproc\n",
	"\t.syntax unified\n\t.thumb\n\t.type f,%function\nf:\n\tbx lr\n\t.size f,.-f\n",
	"\t.type f,@function\nf:\n\tjmp *.L4(,%rax,8)\n\t.section .rodata\n.L4:\n\t.quad .L2\n\t.quad .L3\n\t.text\n.L2:\n\tcall g\n.L3:\n\tret\n\t.section .text.unlikely\n\t.type f.cold,@function\nf.cold:\n.L9:\n\tjmp .L3\n\t.text\n\t.size f,.-f\n\t.section .text.unlikely\n\t.size f.cold,.-f.cold\n",
	"\t.section .gcc_except_table,\"a\"\n\t.uleb128 .Ltmp0-f\n\t.uleb128 .Ltmp1-.Ltmp0\n\t.uleb128 .Ltmp2-f\n\t.text\n\t.type f,@function\nf:\n.Ltmp0:\n\tcall g\n.Ltmp1:\n\tret\n.LBB0_1:\n.Ltmp2:\n\tjmp .LBB0_1\n",
	"\t.intel_syntax noprefix\n\t.type f,@function\nf:\n\tjmp [QWORD PTR .L4[0+rax*8]]\n\tjmp rax\n.att_syntax noprefix\n\tret\n",
}
