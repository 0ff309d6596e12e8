package instrument

import (
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/formats/mip"
	"github.com/profuse-pgo/profuse/internal/mip/asm"
	"github.com/profuse-pgo/profuse/internal/mip/split"
	"github.com/profuse-pgo/profuse/internal/symbols"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// FuzzUse: whatever the text and the profile, all instructions and labels are in the result as often as
// before, but for jumps between the parts of split functions, and it is read again.
func FuzzUse(f *testing.F) {
	for i, seed := range append(slices.Clone(fuzzSeeds), useSeeds...) {
		for target := range fuzzTargets {
			f.Add([]byte(seed), uint8(target), uint64(i))
		}
	}
	files, _ := filepath.Glob("testdata/*.s")
	for _, name := range files {
		text := oracle.ReadFile(f, name)
		f.Add(text, uint8(0), uint64(1))
	}
	f.Fuzz(func(t *testing.T, src []byte, target uint8, seed uint64) {
		opt := UseOptions{Target: fuzzTargets[int(target)%len(fuzzTargets)], Split: seed%4 != 0}
		whole := &Evidence{blocks: true}
		before, err := parseForUse(src, whole, &UseOptions{Target: opt.Target})
		out, report, again := Use(nil, src, NewEvidence(), opt)
		if err != nil {
			if out != nil || again == nil {
				t.Fatalf("parse failed with %v, Use with %v", err, again)
			}
			return
		}
		if string(out) != string(src) || len(report) != len(before.Functions) {
			t.Fatalf("without evidence: %q", out)
		}
		out, report, err = Use(nil, src, NewEvidence(inventProfile(before, seed)), opt)
		if err != nil {
			t.Fatal(err)
		}
		after, err := parseForUse(out, whole, &UseOptions{Target: opt.Target})
		if err != nil {
			t.Fatalf("%v in\n%s", err, out)
		}
		moved := 0
		for _, fn := range report {
			if fn.Moved > fn.Cold || fn.Cold > fn.Blocks || fn.Moved > 0 && (!opt.Split || fn.NotSplit != "" || fn.Left != "") {
				t.Fatalf("%+v", fn)
			}
			moved += fn.Moved
		}
		want, got := inventory(before), inventory(after)
		if moved > 0 {
			for _, m := range []map[string]int{want, got} {
				maps.DeleteFunc(m, func(text string, _ int) bool { return text[0] == 'j' })
			}
		}
		if !maps.Equal(want, got) {
			t.Fatalf("%v\nwant %v\n%s", got, want, out)
		}
	})
}

// inventProfile returns a profile of the file with functions and blocks covered by chance.
func inventProfile(f *asm.File, seed uint64) *mip.Profile {
	r := rand.New(rand.NewPCG(seed, 1))
	p := &mip.Profile{Type: mip.FunctionCoverage | mip.BlockCoverage}
	for i := range f.Functions {
		fn := &f.Functions[i]
		record := mip.Function{Name: fn.Name, CFG: fn.Signature()}
		if r.IntN(4) > 0 {
			record.MergeCount, record.CallCount = 1, 1
		}
		for b := 1; b < len(fn.Blocks); b++ {
			if fn.BlocksSkip == "" {
				record.Blocks = append(record.Blocks, mip.Block{Covered: r.IntN(2) > 0})
			}
		}
		p.Functions = append(p.Functions, record)
	}
	return p
}

// inventory counts the instructions, and the labels that splitting does not add.
func inventory(f *asm.File) map[string]int {
	m := map[string]int{}
	for i := range f.Stmts {
		s := &f.Stmts[i]
		text := string(f.Text(s))
		switch {
		case s.Kind == asm.StmtInstruction:
			m[text]++
		case s.Kind == asm.StmtLabel && !strings.HasPrefix(text, split.UseStem):
			if _, cold := symbols.CutCold(string(asm.Unquote(f.Text(s)))); !cold {
				m[text+":"]++
			}
		}
	}
	return m
}

var useSeeds = []string{
	"\t.section\t.text.f,\"ax\",@progbits\n\t.type\tf,@function\nf:\n\t.cfi_startproc\n\tpushq %rbx\n\t.cfi_def_cfa_offset 16\n\t.cfi_offset %rbx, -16\n" +
		"\tcmpl $1, %edi\n\tje .LBB0_2\n# %bb.1:\n\tmovl %edi, %eax\n\tcall g\n\tmovl %edi, %eax\n\tcall h # why\n.LBB0_2:\n\tpopq %rbx\n\t.cfi_def_cfa_offset 8\n\tretq\n" +
		"\t.p2align 4\n.LBB0_3:\n\t.cfi_def_cfa_offset 16\n\tmovl $7, %ecx\n\tjmp .LBB0_2\n.Lend: .size\tf, .Lend-f\n\t.cfi_endproc\n",
	"\t.section\t.text.f,\"axG\",@progbits,f,comdat\n\t.type\tf,@function\nf: test %edi, %edi; jne .L2; call a; call b; jmp .L3\n.L2: call c; call d\n.L3: ret\n\t.size f,.-f\n" +
		"\t.section .stack_sizes,\"o\",@progbits,.text.f\n\t.quad f\n",
}
