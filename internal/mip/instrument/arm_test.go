package instrument

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/profuse-pgo/profuse/internal/mip/asm"
	"github.com/profuse-pgo/profuse/mip"
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
		"it\teq": asm.FlowNone, "strb\tr0, [r1]": asm.FlowNone, "vldr\td0, .L1": asm.FlowNone,
	} {
		if got, _ := asm.ARM.Flow([]byte(ins), 0); got != want {
			t.Errorf("%s: %d, want %d", ins, got, want)
		}
	}
}

// TestARMScratch: block probes take registers that the block writes before it
// reads, and save others.
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
