package symbolize

import (
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/test/oracle"
)

// TestOwnBeforeSeparate: a program with debug information is looked up in its
// own, whatever is found by its build id or link; llvm-symbolizer looks there.
func TestOwnBeforeSeparate(t *testing.T) {
	t.Parallel()
	flags := "-g -O2 -fdebug-compilation-dir="
	file := build(t, program("clang++-22", flags+"/separate", "-static -Wl,--build-id=0xabcdef0123456789")+`
mkdir -p dirs/.build-id/ab
cp out dirs/.build-id/ab/cdef0123456789.debug
mv out separate
`+program("clang++-22", flags+"/own", "-static -Wl,--build-id=0xabcdef0123456789")+`
cp out unlinked
llvm-objcopy-22 --add-gnu-debuglink=separate out
`, "clang++-22", "llvm-objcopy-22")
	dirs := filepath.Join(filepath.Dir(file), "dirs")
	f := open(t, file, Options{DebugDirs: []string{dirs}})
	addrs := every(t, f, ".text", 1)
	ours := batchFrames(t, f, addrs)
	if got, err := f.DebugFile(); got != file || err != nil {
		t.Errorf("debug file %q, %v", got, err)
	}
	theirs := map[string][][]Frame{
		"link":     llvmFrames(t, file, addrs),
		"build id": llvmFrames(t, filepath.Join(filepath.Dir(file), "unlinked"), addrs, "--debug-file-directory="+dirs),
	}
	seen := 0
	for i := range addrs {
		for k, frame := range ours[i] {
			if !strings.HasPrefix(frame.File, "/own/") {
				continue // no line
			}
			seen++
			frame.File = "/separate/" + strings.TrimPrefix(frame.File, "/own/")
			for by, frames := range theirs {
				if len(frames[i]) != len(ours[i]) || frames[i][k] != frame {
					t.Fatalf("%s, %#x: llvm-symbolizer says %+v, we %+v", by, addrs[i], frames[i], ours[i])
				}
			}
		}
	}
	if seen < 100 {
		t.Errorf("only %d frames", seen)
	}
}

// TestLargeNumbers: file and column numbers above 65535 are those that the
// assembler was given; llvm-symbolizer keeps their lower 16 bits.
func TestLargeNumbers(t *testing.T) {
	t.Parallel()
	const files = 1<<16 + 7
	var source strings.Builder
	for i := range files {
		fmt.Fprintf(&source, "\t.file %d \"f%d.c\"\n", i+1, i+1)
	}
	fmt.Fprintf(&source, `	.text
	.globl _start
	.type _start,%%function
_start:
	.loc 1 5 3
	nop
	.loc 1 6 %d
	nop
	.loc %d 7 4
	nop
.Lend:
	.size _start, .-_start
	.section .debug_abbrev,"",%%progbits
	.uleb128 1, 0x11              # DW_TAG_compile_unit, no children
	.byte 0
	.uleb128 0x10, 0x17           # DW_AT_stmt_list, DW_FORM_sec_offset
	.uleb128 0x11, 0x01           # DW_AT_low_pc, DW_FORM_addr
	.uleb128 0x12, 0x06           # DW_AT_high_pc, DW_FORM_data4
	.byte 0, 0, 0
	.section .debug_info,"",%%progbits
	.4byte .Linfo_end - .Linfo
.Linfo:
	.2byte 4
	.4byte .debug_abbrev
	.byte 8
	.uleb128 1
	.4byte .debug_line
	.8byte _start
	.4byte .Lend - _start
.Linfo_end:
	.section .debug_line,"",%%progbits
`, 1<<16+9, files)
	path := filepath.Join(t.TempDir(), "large.s")
	oracle.WriteFile(t, path, []byte(source.String()))
	// LLVM's assembler keeps 16 bits of a column.
	file := build(t, "as '"+path+"' -o large.o\nld large.o -o out\n", "as", "ld")
	f := open(t, file, Options{SymbolTable: true})
	addrs := every(t, f, ".text", 1)[:3]
	want := [][]Frame{
		{{Function: "_start", File: "f1.c", Line: 5, Column: 3}},
		{{Function: "_start", File: "f1.c", Line: 6, Column: 1<<16 + 9}},
		{{Function: "_start", File: fmt.Sprintf("f%d.c", files), Line: 7, Column: 4}},
	}
	if got := batchFrames(t, f, addrs); !reflect.DeepEqual(got, want) {
		t.Errorf("frames %+v, want %+v", got, want)
	}
	want[1][0].Column = 9
	want[2][0].File = "f7.c"
	if got := llvmFrames(t, file, addrs); !reflect.DeepEqual(got, want) {
		t.Errorf("llvm-symbolizer: frames %+v, want %+v", got, want)
	}
}
