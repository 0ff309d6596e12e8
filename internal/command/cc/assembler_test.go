package cc_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/symbolize"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// Assembler sources. The result of flags depends on those at the call.
const assemblerX86 = `#include "value.h"
	.text
	.globl	flags
	.type	flags, @function
flags:	movl	$VALUE, %eax	/* a comment; other: */
	jz	1f
	addl	$4, %eax
1:	ret
	.size	flags, .-flags
	.macro	answer name
	.type	\\name, @function
\\name:	ret
	.endm
	answer	hidden
	.globl	zero
	.type	zero, %function
zero:	endbr64
	.cfi_startproc
	xorl	%eax, %eax
	call	flags@PLT
loop:	decl	%edi
	jnz	loop
	ret
	.cfi_endproc
	.size	zero, .-zero
	.type	never, @function
never:	jmp	zero
	.size	never, .-never
	.section	.note.GNU-stack,"",@progbits
`

const assemblerAArch64 = `#include "value.h"
	.text
	.globl	flags
	.type	flags, %function
flags:	mov	w0, VALUE	// a comment; other:
	b.eq	1f
	add	w0, w0, 4
1:	ret
	.size	flags, .-flags
	.globl	zero
	.type	zero, %function
zero:	stp	x29, x30, [sp, -16]!
	cmp	w0, w0
	bl	flags
	ldp	x29, x30, [sp], 16
	ret
	.size	zero, .-zero
	.type	never, %function
never:	b	zero
	.size	never, .-never
	.section	.note.GNU-stack,"",@progbits
`

// TestAssemblerSources: on request functions of assembler sources are recorded. Probes of
// coverage do not change the flags, and lines keep their numbers.
func TestAssemblerSources(t *testing.T) {
	const on = "-fmachine-profile-assembler-sources"
	for _, c := range []struct{ name, cc, source, flags, run string }{
		{"gcc", "gcc", assemblerX86, "", ""},
		{"clang", "clang-22", assemblerX86, "", ""},
		{"aarch64", "aarch64-linux-gnu-gcc", assemblerAArch64, "-static", "qemu-aarch64"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.name != "gcc" {
				oracle.Slow(t)
			}
			t.Parallel()
			cc := oracle.Tool(t, c.cc)
			b := newBench(t, "m.c", "#include <stdio.h>\nint zero(int);\nint main(void) { printf(\"%d\\n\", zero(4)); return 0; }\n",
				"f.S", strings.ReplaceAll(c.source, "\\\\", "\\"), "inc/value.h", "#define VALUE 3\n")
			want := map[string]uint64{"main": 1, "zero": 1, "flags": 1, "never": 0}
			for _, mode := range mipModes {
				b.build(append(append(strings.Fields(cc+" -g -O1 -Iinc m.c f.S -o prog "+c.flags), on), mode.flags...)...)
				program := []string{b.path("prog")}
				if c.run != "" {
					program = append([]string{oracle.Tool(t, c.run)}, program...)
				}
				printed := "3\n"
				if mode.name != "function" && mode.name != "blocks" {
					printed = "" // counting changes the flags
				}
				if r := b.exec(rawFile, program...); r.code != 0 || printed != "" && r.stdout != printed {
					t.Errorf("%s: %+v", mode.name, r)
				}
				p := b.profile("prog", "raw")
				for i := range p.Functions {
					f := &p.Functions[i]
					if n, ok := want[f.Name]; !ok || f.Covered() != (n > 0) || f.CallCount > 0 && f.CallCount != n {
						t.Errorf("%s: %s: %d calls, covered %t", mode.name, f.Name, f.CallCount, f.Covered())
					}
				}
				if len(p.Functions) != len(want) {
					t.Errorf("%s: %d functions", mode.name, len(p.Functions))
				}
			}
			b.wantLine("prog", "never", "f.S", uint32(strings.Count(strings.Split(string(b.read("f.S")), "never:")[0], "\n"))+1)
			// Without the flag and with -c.
			b.build(cc, generate, "-Iinc", "-c", "f.S", "-o", "plain.o")
			b.build(cc, generate, on, "-Iinc", "-c", "f.S", "-o", "probed.o")
			if plain, probed := b.read("plain.o"), b.read("probed.o"); strings.Contains(string(plain), "__llvm_mip") || !strings.Contains(string(probed), "__llvm_mip") {
				t.Error("instrumented without the flag, or not with it")
			}
		})
	}
	b := newBench(t, "f.s", "_f:\n\tret\n")
	r := b.cc(oracle.Tool(t, "clang-22"), "--target=arm64-apple-macos13", generate, on, "-c", "f.s")
	if r.code != 1 || !strings.Contains(r.stderr, "this is possible on ELF") {
		t.Errorf("Mach-O: %+v", r)
	}
}

// wantLine checks the line on which a function begins in debug information.
func (b *bench) wantLine(program, function, file string, line uint32) {
	b.t.Helper()
	f, err := symbolize.Open(b.path(program), symbolize.Options{})
	if err != nil {
		b.t.Fatal(err)
	}
	defer f.Close()
	frames, err := f.Frames(b.places(program)[function].addr)
	if err != nil || len(frames) == 0 || filepath.Base(frames[0].File) != file || frames[0].Line != line {
		b.t.Errorf("%s is at %+v, %v; want %s:%d", function, frames, err, file, line)
	}
}
