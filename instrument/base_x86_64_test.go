package instrument

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/mip"
)

func TestAccessR11(t *testing.T) {
	const all = lowByte | otherBytes
	tests := []struct {
		ins           string
		reads, writes parts
	}{
		{"movq %rax, %r11", 0, all},
		{"movl $1, %r11d", 0, all},
		{"movb $1, %r11b", 0, lowByte},
		{"movw $1, %r11w", all, 0}, // keeps the rest
		{"movzbl %al, %r11d", 0, all},
		{"movq %r11, %rax", all, 0},
		{"movb %r11b, (%rax)", lowByte, 0},
		{"movq (%r11), %r11", all, all},
		{"movq $1, (%r11)", all, 0},
		{"movq $1, 8(%rax,%r11,2)", all, 0},
		{"leaq 8(%rax), %r11", 0, all},
		{"leaq 8(%r11), %r11", all, all},
		{"xorl %r11d, %r11d", 0, all},
		{"subq %r11, %r11", 0, all},
		{"addq %r11, %r11", all, 0},
		{"addl $1, %r11d", all, 0},
		{"imulq $3, %rdi, %r11", 0, all},
		{"imulq %rdi, %r11", all, 0},
		{"sete %r11b", 0, lowByte},
		{"cmovel %eax, %r11d", all, 0},
		{"notq %r11", all, 0},
		{"popq %r11", 0, all},
		{"pushq %r11", all, 0},
		{"testb %r11b, %r11b", lowByte, 0},
		{"jmpq *%r11", all, 0},
		{"callq __x86_indirect_thunk_r11", all, 0},
		{"callq _Zntsr11is_integral", 0, 0},
		{"unknown %r11", all, 0},
		{"movq %r10, %r12", 0, 0},
	}
	for _, tt := range tests {
		if reads, writes := accessR11([]byte(tt.ins)); reads != tt.reads || writes != tt.writes {
			t.Errorf("%s: reads %d, writes %d, want %d, %d", tt.ins, reads, writes, tt.reads, tt.writes)
		}
	}
}

// TestBasesRandomGraphs: wherever a probe uses r11, it holds the address that
// was meant, whatever way control came; it is loaded only where it is free.
func TestBasesRandomGraphs(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	loads, uses := 0, 0
	for range 3000 {
		n := 2 + r.IntN(40)
		blocks := randomGraph(r, n)
		f := &file{stmts: make([]stmt, n+1)}
		fn := &function{blocks: blocks, formula: make([][]int32, n), fragment: r.IntN(8) == 0}
		u := &registerUse{free: make([]bool, n), before: make([]bool, n), after: make([]bool, n)}
		for b := range blocks {
			blocks[b].stmt, blocks[b].probe = int32(b), int32(b)
			blocks[b].zero = zeros(r.IntN(3) * r.IntN(40))
			u.free[b], u.before[b], u.after[b] = r.IntN(10) > 0, r.IntN(20) > 0, r.IntN(8) > 0
			if b > 0 && r.IntN(4) == 0 {
				fn.formula[b] = []int32{0}
			}
		}
		c := baseChoice{file: f, fn: fn, use: u}
		c.choose(&Options{Profile: coverage | mip.BlockCoverage})
		for b := range blocks {
			if blocks[b].base.loads {
				loads++
				if !u.free[b] || b == 0 && fn.fragment {
					t.Fatalf("block %d loads r11, which is not free", b)
				}
			}
			if blocks[b].base.uses {
				uses++
			}
		}
		for range 30 {
			const other = -1
			holds, at := other, 0
			for range 100 {
				blk := &blocks[at]
				if !u.before[at] {
					holds = other
				}
				switch {
				case blk.base.loads:
					if fn.probed(at) && blk.base.disp != c.offset[at] {
						t.Fatalf("block %d loads the address of byte %d, not of its own, %d", at, blk.base.disp, c.offset[at])
					}
					holds = blk.base.disp
				case blk.base.uses && holds+blk.base.disp != c.offset[at] || blk.base.uses && holds == other:
					t.Fatalf("block %d uses r11, which holds %d: %+v", at, holds, blk.base)
				}
				if !u.after[at] {
					holds = other
				}
				if len(blk.succs) == 0 {
					break
				}
				at = int(blk.succs[r.IntN(len(blk.succs))])
				if blocks[at].root && r.IntN(2) == 0 {
					holds = other // from elsewhere
				}
			}
		}
	}
	if loads == 0 || uses < 3*loads {
		t.Errorf("%d loads for %d uses", loads, uses)
	}
}

// TestBasesOfFiles: where files have something in r11 the probes do not use it.
func TestBasesOfFiles(t *testing.T) {
	// branches has many blocks without calls.
	branches := func(name, first string) string {
		var b strings.Builder
		fmt.Fprintf(&b, "\t.type\t%s,@function\n%s:\n%s", name, name, first)
		for i := range 8 {
			fmt.Fprintf(&b, "\ttestl\t$%d, %%edi\n\tje\t.L%s%d\n\taddl\t$%d, %%esi\n.L%s%d:\n", 1<<i, name, i, i, name, i)
		}
		fmt.Fprintf(&b, "\tretq\n\t.size\t%s, .-%s\n", name, name)
		return b.String()
	}
	keeps := func(callee string) string {
		return "\t.type\tkeeps,@function\nkeeps:\n\tmovq\t%rdi, %r11\n\tcall\t" + callee + "\n\tmovq\t(%r11), %rax\n\tretq\n\t.size\tkeeps, .-keeps\n"
	}
	middle := "\t.type\tmiddle,@function\nmiddle:\n\tjmp\tleaf\n\t.size\tmiddle, .-middle\n"
	tests := []struct {
		name, text string
		want       string // functions whose probes use r11
	}{
		{"free", branches("leaf", "") + branches("next", ""), "leaf next"},
		{"across a call", branches("leaf", "") + branches("next", "") + keeps("leaf"), "next"},
		{"across a call, deeper", branches("leaf", "") + branches("next", "") + middle + keeps("middle"), "next"},
		{"across a call of an alias", branches("leaf", "") + keeps("also") + "\t.set\talso, leaf\n", ""},
		{"across a call of another file", branches("leaf", "") + keeps("other@PLT"), "leaf"},
		{"argument", branches("leaf", "") + branches("next", "\taddq\t%r11, %rsi\n"), ""},
		{"interrupts", branches("leaf", "") + strings.Replace(branches("next", ""), "\tretq", "\tiretq", 1), ""},
		{"written", branches("leaf", "") + branches("next", "\tmovq\t%rdi, %r11\n\taddq\t%r11, %rsi\n"), "leaf next"},
		{"inline assembly", branches("leaf", "#APP\n\tmovq %r11, %rax\n#NO_APP\n"), ""},
		{"all along", strings.Replace(branches("leaf", "\tmovq\t%rdi, %r11\n"), "\tretq", "\taddq\t%r11, %rsi\n\tretq", 1), ""},
	}
	for _, tt := range tests {
		out, _, err := Rewrite(nil, []byte("\t.text\n"+tt.text), Options{Profile: coverage | mip.BlockCoverage, Target: Target{X86_64, ELF}})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		function := ""
		for line := range strings.Lines(string(out)) {
			line = strings.TrimSpace(line)
			if name, ok := strings.CutSuffix(line, ":"); ok && !strings.HasPrefix(name, ".") {
				function = name
			}
			if strings.HasPrefix(line, "leaq\t.Lmip_r") && (len(got) == 0 || got[len(got)-1] != function) {
				got = append(got, function)
			}
		}
		if s := strings.Join(got, " "); s != tt.want {
			t.Errorf("%s: used in %q, want %q\n%s", tt.name, s, tt.want, out)
		}
	}
}
