package instrument

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/profuse-pgo/profuse/formats/mip"
	"github.com/profuse-pgo/profuse/internal/mip/asm"
)

// armFunction is the text of a function in ARM code, or Thumb code.
func armFunction(thumb bool, body ...string) string {
	set := "\t.arm\n"
	if thumb {
		set = "\t.thumb\n\t.thumb_func\n"
	}
	return "\t.syntax unified\n\t.text\n\t.global f\n" + set + "\t.type f, %function\nf:\n" +
		strings.Join(body, "\n") + "\n\t.size f, .-f\n"
}

func rewriteARM(t *testing.T, profile mip.ProfileType, thumb bool, body ...string) (string, FunctionReport) {
	t.Helper()
	out, report, err := Rewrite(nil, []byte(armFunction(thumb, body...)), Options{
		Target: asm.Target{Arch: asm.ARM, Format: asm.ELF}, Profile: profile, AllBlockProbes: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(out), report[0]
}

// TestARMFlow: what ends a block, and how.
func TestARMFlow(t *testing.T) {
	for ins, want := range map[string]asm.FlowKind{
		"b\t.L1": asm.FlowJump, "b.w\t.L1": asm.FlowJump, "bls\t.L1": asm.FlowBranch, "ble.w\t.L1": asm.FlowBranch, "blt\t.L1": asm.FlowBranch,
		"bl\tf": asm.FlowCall, "blx\tr3": asm.FlowCall, "bleq\tf": asm.FlowCall, "blxne\tr3": asm.FlowCall, "cbz\tr3, .L1": asm.FlowBranch,
		"bx\tlr": asm.FlowReturn, "bxeq\tlr": asm.FlowBranch, "bx\tr3": asm.FlowIndirect, "bic\tr3, r3, #1": asm.FlowNone,
		"pop\t{r4, pc}": asm.FlowReturn, "popne\t{r4, pc}": asm.FlowBranch, "pop\t{r4, lr}": asm.FlowNone, "ldmfd\tsp!, {r4, pc}": asm.FlowReturn,
		"ldmgtfd\tsp!, {r4, r5}": asm.FlowNone, "ldr\tpc, [sp], #4": asm.FlowReturn, "ldrgt\tpc, [sp], #4": asm.FlowBranch,
		"ldr\tpc, [r0, r1, lsl #2]": asm.FlowIndirect, "mov\tpc, lr": asm.FlowReturn, "moveq\tpc, lr": asm.FlowBranch, "mov\tpc, r0": asm.FlowIndirect,
		"add\tpc, r0": asm.FlowIndirect, "add\tr0, pc": asm.FlowNone, "add\tr0, pc, r0": asm.FlowNone, "ldr\tr0, [pc, #8]": asm.FlowNone,
		"tbb\t[pc, r0]": asm.FlowIndirect, "subs\tpc, lr, #4": asm.FlowTrap, "udf\t#0": asm.FlowTrap, "svc\t#0": asm.FlowLeave, "str\tpc, [r0]": asm.FlowNone,
		"rfeia\tsp!": asm.FlowTrap, "it\teq": asm.FlowNone, "strb\tr0, [r1]": asm.FlowNone, "vldr\td0, .L1": asm.FlowNone,
	} {
		if got, _ := asm.ARM.Flow([]byte(ins), 0); got != want {
			t.Errorf("%s: %d, want %d", ins, got, want)
		}
	}
}

// TestARMScratch: block probes take registers that the block writes before it reads, and save others.
func TestARMScratch(t *testing.T) {
	for _, tt := range []struct {
		block string
		regs  string // the probe's, and those saved
	}{
		{"mov r3, #1; mov r2, r3; bx lr", "r3 r2"},
		{"ldr r3, [r3]; bx lr", "r0 r1 {r0, r1}"},
		{"adds r3, r2; bx lr", "r0 r1 {r0, r1}"},
		{"adds r3, r4, r5; movs r2, #0; bx lr", "r3 r2"},
		{"moveq r3, #1; bx lr", "r0 r1 {r0, r1}"},
		{"mov r3, #1; pop {r2, pc}", "r3 r0 {r0}"},
		{"ldrd r2, [r0]; mov r3, #1; mov r1, #2; bx lr", "r0 r1 {r0, r1}"},
		{"strd r2, [r0]; mov r3, #1; mov r1, #2; bx lr", "r0 r1 {r0, r1}"},
		{"push {r2-r5}; mov r3, #1; mov r4, #2; bx lr", "r0 r1 {r0, r1}"},
		{"bl g; mov r4, r0; mov r3, #1; bx lr", "r4 lr"},
		{"bleq g; mov r3, #1; bx lr", "r0 r1 {r0, r1}"},
		{"svc #0; mov r4, #0; mov r3, #1; bx lr", "r0 r1 {r0, r1}"},
		{"ldr r0, [r4]; ldr ip, [r4]; bx lr", "r0 r12"},
		{"b g", "r0 r1 {r0, r1}"},
	} {
		body := append([]string{"\tcmp\tr0, #0", "\tbeq\t.L2"}, strings.Split("\t"+strings.ReplaceAll(tt.block, "; ", "\n\t"), "\n")...)
		body = append(body, ".L2:", "\tbx\tlr")
		text, _ := rewriteARM(t, coverage|mip.BlockCoverage, false, body...)
		_, probe, _ := strings.Cut(text, "b0_1:\n")
		probe, _, _ = strings.Cut(probe, "\t"+strings.Split(tt.block, "; ")[0]+"\n")
		saved, store := "", ""
		for line := range strings.Lines(probe) {
			word, rest, _ := strings.Cut(strings.TrimSpace(line), "\t")
			switch word {
			case "push":
				saved = " " + rest
			case "strb":
				zero, at, _ := strings.Cut(rest, ", ")
				store = strings.Trim(at, "[]") + " " + zero
			}
		}
		if store+saved != tt.regs {
			t.Errorf("%s: %s, want %s\n%s", tt.block, store+saved, tt.regs, probe)
		}
	}
}

// TestARMRanges: what block probes would move apart too far is left alone, but
// for compare and branch instructions, which are replaced.
func TestARMRanges(t *testing.T) {
	blocks := func(n int) (body []string) {
		for i := range n {
			body = append(body, fmt.Sprintf(".L%d:", 10+i), "\tldr\tr0, [r0]", fmt.Sprintf("\tbeq\t.L%d", 10+i))
		}
		return body
	}
	for _, tt := range []struct {
		name  string
		thumb bool
		first string
		n     int
		want  asm.Reason
	}{
		{"literal", false, "\tldr\tr1, .L1", 20, ""},
		{"far literal", false, "\tldr\tr1, .L1", 130, asm.SkipBranchRange},
		{"double", true, "\tvldr.64\td0, .L1", 20, ""},
		{"far double", true, "\tvldr.64\td0, .L1", 60, asm.SkipBranchRange},
		{"pair in ARM code", false, "\tldrd\tr2, r3, .L1", 12, asm.SkipBranchRange},
		{"pair in Thumb code", true, "\tldrd\tr2, r3, .L1", 12, ""},
		{"narrow branch", true, "\tbne.n\t.L1", 20, asm.SkipBranchRange},
		{"branch", true, "\tbne\t.L1", 200, ""},
		{"table", true, "\ttbb\t[pc, r1]", 1, asm.SkipJumpTable},
		{"branches", false, "\taddls\tpc, pc, r3, lsl #2", 1, asm.SkipJumpTable},
		{"table behind", false, "\tldrls\tpc, [pc, r3, lsl #2]", 1, asm.SkipJumpTable},
		{"table elsewhere", false, "\tldr\tpc, [r2, r3, lsl #2]", 1, ""},
	} {
		_, r := rewriteARM(t, coverage|mip.BlockCoverage, tt.thumb,
			append(append([]string{tt.first}, blocks(tt.n)...), "\tbx\tlr", ".L1:", "\t.word\t0", "\t.word\t0")...)
		if r.BlocksSkipped != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, r.BlocksSkipped, tt.want)
		}
	}
	for _, ins := range []string{"cbz", "cbnz"} {
		body := append(append([]string{"\t" + ins + "\tr1, .L1"}, blocks(6)...), ".L1:", "\tbx\tlr")
		text, r := rewriteARM(t, coverage|mip.BlockCoverage, true, body...)
		opposite := map[string]string{"cbz": "cbnz", "cbnz": "cbz"}[ins]
		want := "\t" + opposite + "\tr1, .Lmip_o0_0\n\tb\t.L1\n.Lmip_o0_0:\n\t@ \t" + ins + "\tr1, .L1\n"
		if !strings.Contains(text, want) || r.BlocksSkipped != "" {
			t.Errorf("no %s in\n%s", want, text)
		}
		text, _ = rewriteARM(t, coverage|mip.BlockCoverage, true, append(body[:1:1], ".L1:", "\tbx\tlr")...)
		if strings.Contains(text, "@") {
			t.Errorf("replaced without need:\n%s", text)
		}
	}
}

// TestARMAnchors: nothing comes between an instruction and the label from which
// position-independent code counts.
func TestARMAnchors(t *testing.T) {
	text, _ := rewriteARM(t, coverage|mip.BlockCoverage, true, "\tldr\tr3, .L3", "\tcmp\tr0, #0", "\tbeq\t.L2",
		".L2:", ".LPIC0:", "\tadd\tr3, pc", "\tbx\tlr", ".L3:", "\t.word\tx-(.LPIC0+4)")
	if !strings.Contains(text, ".LPIC0:\n\tadd\tr3, pc\n") {
		t.Error(text)
	}
}

// TestARMStaysFirst: the marker of a branch target stays at the very beginning.
func TestARMStaysFirst(t *testing.T) {
	text, _ := rewriteARM(t, coverage, true, "\tpacbti\tr12, lr, sp", "\tmovs\tr0, #1", "\tbx\tlr")
	_, body, _ := strings.Cut(text, "\nf:\n")
	marker, probe, code := strings.Index(body, "\tpacbti"), strings.Index(body, "\tpush"), strings.Index(body, "\tmovs\tr0, #1")
	if marker < 0 || probe < marker || code < probe {
		t.Error(text)
	}
}

// TestARMProbes: the entry probes.
func TestARMProbes(t *testing.T) {
	for profile, want := range map[mip.ProfileType]string{
		coverage: `
	push	{r0, r1}
	movw	r0, #:lower16:(.Lmip_r0-(.Lmip_g0_1+4))
	movt	r0, #:upper16:(.Lmip_r0-(.Lmip_g0_1+4))
.Lmip_g0_1:
	add	r0, pc
	movs	r1, #0
	strb	r1, [r0]
	pop	{r0, r1}
`,
		callCounts | mip.ReturnAddress: `
	push	{r0, r1}
	movw	r0, #:lower16:(.Lmip_r0+8-(.Lmip_g0_1+4))
	movt	r0, #:upper16:(.Lmip_r0+8-(.Lmip_g0_1+4))
.Lmip_g0_1:
	add	r0, pc
	ldr	r1, [r0]
	adds	r1, r1, #1
	str	r1, [r0]
	bmi	.Lmip_g0
	mov	r1, lr
	bl	__profuse_mip_sample
.Lmip_g0:
	pop	{r0, r1}
`,
	} {
		text, _ := rewriteARM(t, profile, true, "\tbx\tlr")
		_, probe, _ := strings.Cut(text, ".Lmip_f0:")
		probe, _, _ = strings.Cut(probe, "\tbx\tlr")
		if diff := cmp.Diff(want, probe); diff != "" {
			t.Error(diff)
		}
	}
}

// TestARMVersions: probes need ARMv7, so what is compiled for older processors is left alone.
func TestARMVersions(t *testing.T) {
	for directive, want := range map[string]asm.Reason{
		".arch armv5te": asm.SkipInstructionSet, ".arch armv6": asm.SkipInstructionSet, ".arch armv6t2": "", ".arch armv7-a": "", ".arch armv8-a": "",
		".cpu arm926ej-s": asm.SkipInstructionSet, ".cpu cortex-m0plus": asm.SkipInstructionSet, ".cpu cortex-m1": asm.SkipInstructionSet, ".cpu cortex-a9": "", ".cpu cortex-m33": "",
		".eabi_attribute 6, 6": asm.SkipInstructionSet, ".eabi_attribute 6, 10": "", ".eabi_attribute 6, 11": asm.SkipInstructionSet, ".eabi_attribute 20, 1": "",
	} {
		_, report, err := Rewrite(nil, []byte("\t"+directive+"\n"+armFunction(true, "\tbx\tlr")), Options{
			Target: asm.Target{Arch: asm.ARM, Format: asm.ELF}, Profile: coverage,
		})
		if err != nil || report[0].Skipped != want {
			t.Errorf("%s: %v, %q; want %q", directive, err, report[0].Skipped, want)
		}
	}
}

// TestARMSizes: what data among the code takes at most, and how far instructions reach.
func TestARMSizes(t *testing.T) {
	for text, want := range map[string]int{
		".byte 1, 2": 2, ".short 1, 2": 4, ".word 1": 4, ".quad 1, 2": 16, ".asciz \"abc\"": 5, ".space 4": 32, ".space x": armCondRange, ".skip -1": armCondRange,
		".p2align 2": alignmentMax, ".loc 1 2": 0,
	} {
		if got := armDataSize([]byte(text)); got != want {
			t.Errorf("%s: %d bytes, want %d", text, got, want)
		}
	}
	for ins, want := range map[string]int{
		"b.n\t.L1": armNarrowJump, "bne.n\t.L1": armNarrowBranch, "bne\t.L1": armCondRange, "b\t.L1": 0, "pld\t.L1": armShortLiteral, "ldr\tr0, .L1": armLiteralRange,
		"ldr.n\tr0, .L1": armWideLiteral, "ldr\tr0, [r1]": 0,
	} {
		if got, _ := armReach([]byte(ins), true); got != want {
			t.Errorf("%s reaches %d bytes, want %d", ins, got, want)
		}
	}
}

// TestAArch64Scratch: block probes take x16 or x17 where the block writes it before it reads it,
// and else save x16, on Mach-O below the red zone.
func TestAArch64Scratch(t *testing.T) {
	for _, tt := range []struct {
		block string
		regs  string // the probe's, and the room for the one saved
	}{
		{"mov x16, x0; ret", "x16"},
		{"mov w16, w17; ret", "x16"},
		{"ldr ip0, [x0]; ret", "x16"},
		{"add x16, x16, #1; mov x17, #1; ret", "x17"},
		{"ldr x0, [x16]; bl g; ret", "x17"},
		{"bl g; add x16, x16, x17; ret", "x16"},
		{"ret", "x16"},
		{"add x16, x16, x17; ret", "x16 16"},
		{"movk x16, #1, lsl #16; movk x17, #1; ret", "x16 16"},
		{"ldp x16, x17, [sp]; ret", "x16 16"},
		{"mov x0, x1; b g", "x16 16"},
	} {
		for _, target := range []asm.Target{{Arch: asm.AArch64, Format: asm.ELF}, {Arch: asm.AArch64, Format: asm.MachO}} {
			text := "\t.text\n\t.globl f\n\t.type f, %function\nf:\n\tcbz\tx0, .L2\n"
			end := ".L2:\n\tadd\tx0, x16, x17\n\tret\n\t.size f, .-f\n"
			want := tt.regs
			if target.Format == asm.MachO {
				text, end = "\t.globl _f\n_f:\n\tcbz\tx0, LBB0_2\n", "LBB0_2:\n\tadd\tx0, x16, x17\n\tret\n"
				want = strings.Replace(want, " 16", " 144", 1)
			}
			first := "\t" + strings.ReplaceAll(tt.block, "; ", "\n\t") + "\n"
			out, _, err := Rewrite(nil, []byte(text+first+end), Options{Target: target, Profile: coverage | mip.BlockCoverage, AllBlockProbes: true})
			if err != nil {
				t.Fatal(err)
			}
			probe, _, _ := strings.Cut(string(out), first)
			probe = probe[strings.LastIndex(probe, "cbz"):]
			got := ""
			for line := range strings.Lines(probe) {
				word, rest, _ := strings.Cut(strings.TrimSpace(line), "\t")
				switch reg, at, _ := strings.Cut(rest, ", "); word {
				case "adrp":
					got = reg + got
				case "str":
					got = " " + strings.TrimSuffix(strings.TrimPrefix(at, "[sp, #-"), "]!")
				}
			}
			if got != want {
				t.Errorf("%v: %s: %s, want %s\n%s", target, tt.block, got, want, probe)
			}
		}
	}
}

// TestSpecialCaseLists: what a list must not say.
func TestSpecialCaseLists(t *testing.T) {
	for list, want := range map[string]string{
		"# none\n[mip": "line 2: section without ]", "[[]": "line 1: section [[]: syntax error", "fun:a\nfun:[a": `line 2: pattern "[a": syntax error`, "main": `line 1: "main" is not KIND:PATTERN`,
	} {
		if _, err := ParseSpecialCaseList([]byte(list)); !errors.Is(err, ErrOptions) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", list, err, want)
		}
	}
	for text, want := range map[string]int{"abc": 3, `a\101b\n`: 4, `\\\"`: 2, `\7`: 1, `\`: 1, `\18`: 2} {
		if got := stringLength(text); got != want {
			t.Errorf("%q: length %d, want %d", text, got, want)
		}
	}
}
