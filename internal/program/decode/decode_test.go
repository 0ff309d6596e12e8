package decode

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/test/oracle"
)

func TestMain(m *testing.M) { oracle.Main(m) }

// TestX86 has what MC of LLVM 22 decodes; it takes some prefixes as instructions.
func TestX86(t *testing.T) {
	const addr = 0x1000
	for code, want := range map[string]Instruction{
		"f30f1efa":                     {Size: 4, Valid: true},
		"66662e0f1f840000000000":       {Size: 11, Valid: true},
		"f0480fb10e":                   {Size: 1, Valid: true},
		"66f00fb10e":                   {Size: 5, Valid: true},
		"f3a4":                         {Size: 2, Valid: true},
		"f390":                         {Size: 2, Valid: true},
		"f290":                         {Size: 1, Valid: true},
		"f38908":                       {Size: 1, Valid: true},
		"4866b80102":                   {Size: 5, Valid: true},
		"6648b80102030405060708":       {Size: 11, Valid: true},
		"e801000000":                   {Size: 5, Valid: true, Class: Call, Direct: true, Target: addr + 6},
		"66e8ffffffff":                 {Size: 6, Valid: true, Class: Call, Direct: true, Target: addr + 5},
		"e9fbffffff":                   {Size: 5, Valid: true, Class: Jump, Direct: true, Target: addr},
		"66e90102":                     {Size: 4, Valid: true, Class: Jump, Direct: true, Target: addr + 4 + 0x201},
		"eb80":                         {Size: 2, Valid: true, Class: Jump, Direct: true, Target: addr + 2 - 128},
		"7405":                         {Size: 2, Valid: true, Class: Branch, Direct: true, Target: addr + 7},
		"e305":                         {Size: 2, Valid: true, Class: Branch, Direct: true, Target: addr + 7},
		"0f8405000000":                 {Size: 6, Valid: true, Class: Branch, Direct: true, Target: addr + 11},
		"c7f805000000":                 {Size: 6, Valid: true, Class: Branch, Direct: true, Target: addr + 11},
		"ff25000000ff":                 {Size: 6, Valid: true, Class: IndirectJump},
		"3effe0":                       {Size: 3, Valid: true, Class: IndirectJump},
		"ff28":                         {Size: 2, Valid: true, Class: IndirectJump},
		"ff14c500000000":               {Size: 7, Valid: true, Class: Call},
		"ff18":                         {Size: 2, Valid: true, Class: Call},
		"f3c3":                         {Size: 2, Valid: true, Class: Return},
		"c20800":                       {Size: 3, Valid: true, Class: Return},
		"48cb":                         {Size: 2, Valid: true, Class: Return},
		"48cf":                         {Size: 2, Valid: true, Class: Return},
		"0f05":                         {Size: 2, Valid: true},
		"cc":                           {Size: 1, Valid: true},
		"c5f877":                       {Size: 3, Valid: true},
		"c4e3790f c108":                {Size: 6, Valid: true},
		"62f17c4858c2":                 {Size: 6, Valid: true},
		"660f78c00102":                 {Size: 6, Valid: true},
		"0f0fc19e":                     {Size: 4, Valid: true},
		"d500a10102030405060708":       {Size: 11, Valid: true, Class: Jump},
		"a10102030405060708":           {Size: 9, Valid: true},
		"67a101020304":                 {Size: 6, Valid: true},
		"06":                           {Size: 1},
		"0f04":                         {Size: 2},
		"0f2000":                       {Size: 3},
		"ffff":                         {Size: 2},
		"f6c801":                       {Size: 2},
		"e80100":                       {Size: 3},
		"2626262626262626262626262626": {Size: 14},
		"ba":                           {Size: 1},
		"f30fb8c0":                     {Size: 4, Valid: true},
		"0fb8c0":                       {Size: 3},
		"c8010002":                     {Size: 4, Valid: true},
		"8f e97882 00":                 {Size: 5, Valid: true},
		"f7042400000080":               {Size: 7, Valid: true},
		"66f7042400 80":                {Size: 6, Valid: true},
		"f714 24":                      {Size: 3, Valid: true},
		"488b05cd6f5200":               {Size: 7, Valid: true},
		"48c7c0ffffffff":               {Size: 7, Valid: true},
		"0fbae01f":                     {Size: 4, Valid: true},
		"4a8b8c c5 11223344":           {Size: 8, Valid: true},
		"66480f6ec0":                   {Size: 5, Valid: true},
		"f20f38f0c0":                   {Size: 5, Valid: true},
		"660f3a0fc108":                 {Size: 6, Valid: true},
		"f1":                           {Size: 1},
		"64488b042528000000":           {Size: 9, Valid: true},
		"c6f801":                       {Size: 3, Valid: true},
		"6a05":                         {Size: 2, Valid: true},
		"6868010000":                   {Size: 5, Valid: true},
	} {
		b, err := hex.DecodeString(strings.ReplaceAll(code, " ", ""))
		oracle.NoError(t, err)
		if got := For("x86_64")(b, addr); got != want {
			t.Errorf("%s: %+v, want %+v", code, got, want)
		}
	}
}

// TestARM64 has what MC of LLVM 22 decodes for the base architecture.
func TestARM64(t *testing.T) {
	const addr = 0x1000
	decode := For("aarch64")
	for word, want := range map[uint32]Instruction{
		0x94000001: {Size: 4, Valid: true, Class: Call, Direct: true, Target: addr + 4},
		0x17ffffff: {Size: 4, Valid: true, Class: Jump, Direct: true, Target: addr - 4},
		0x54000040: {Size: 4, Valid: true, Class: Branch, Direct: true, Target: addr + 8},
		0xb4ffffe0: {Size: 4, Valid: true, Class: Branch, Direct: true, Target: addr - 4},
		0x3707ffe0: {Size: 4, Valid: true, Class: Branch, Direct: true, Target: addr - 4},
		0xd61f0200: {Size: 4, Valid: true, Class: IndirectJump},
		0xd63f0100: {Size: 4, Valid: true, Class: Call},
		0xd65f03c0: {Size: 4, Valid: true, Class: Return},
		0xd69f03e0: {Size: 4, Valid: true, Class: Return},
		0xd503233f: {Size: 4, Valid: true}, // paciasp is a hint
		0xd65f0bff: {Size: 4},              // retaa
		0x54000050: {Size: 4},              // bc.eq
		0xb8e00020: {Size: 4},              // ldaddal
		0x1ac04000: {Size: 4},              // crc32b
		0x00000000: {Size: 4, Valid: true}, // udf
		0xd4000002: {Size: 4, Valid: true}, // hvc
		0x4ea01c20: {Size: 4, Valid: true}, // mov v0.16b, v1.16b
		0x91000420: {Size: 4, Valid: true}, // add x0, x1, #1
		0x91800420: {Size: 4},              // addg
		0x9240fc20: {Size: 4},              // and of all ones
		0x92400020: {Size: 4, Valid: true}, // and x0, x1, #1
	} {
		code := binary.LittleEndian.AppendUint32(nil, word)
		if got := decode(code, addr); got != want {
			t.Errorf("%08x: %+v, want %+v", word, got, want)
		}
	}
	if got := decode([]byte{1, 2}, addr); got != (Instruction{Size: 2}) {
		t.Errorf("a cut word: %+v", got)
	}
}

// TestObjdump: the instructions of real programs have the sizes and targets that llvm-objdump prints.
func TestObjdump(t *testing.T) {
	objdump := oracle.Tool(t, "llvm-objdump-22")
	var programs []string
	if oracle.Everything() {
		programs = append(programs, objdump)
	}
	for _, name := range []string{"clang", "gcc", "flow"} {
		programs = append(programs, filepath.Join(oracle.Root(t), "testdata", "profgen", name))
	}
	for _, program := range programs {
		file, err := elf.Open(program)
		oracle.NoError(t, err)
		defer file.Close()
		stdout, _, code := oracle.Run(t, objdump, "-d", "--no-print-imm-hex", "-j", ".text", program)
		if code != 0 {
			t.Fatalf("%s: exit code %d", program, code)
		}
		text := file.Section(".text")
		data, err := text.Data()
		oracle.NoError(t, err)
		seen := 0
		for line := range strings.Lines(stdout) {
			at, rest, ok := strings.Cut(line, ": ")
			addr, err := strconv.ParseUint(strings.TrimSpace(at), 16, 64)
			if !ok || err != nil {
				continue
			}
			bytes, words, _ := strings.Cut(rest, "\t")
			fields := strings.Fields(words)
			got := decodeX86(data[addr-text.Addr:], addr)
			seen++
			want := Instruction{Size: len(strings.Fields(bytes)), Valid: true, Class: got.Class, Direct: got.Direct, Target: got.Target}
			if got.Direct {
				want.Target, _ = strconv.ParseUint(strings.TrimPrefix(fields[1], "0x"), 16, 64)
			}
			if got != want {
				t.Errorf("%s: %+v at %s", filepath.Base(program), got, line)
			}
		}
		if seen < 100 {
			t.Errorf("%s: %d instructions", program, seen)
		}
	}
}

// FuzzDecode: sizes are within the code, so that every walk ends, and what follows an instruction does not change it.
func FuzzDecode(f *testing.F) {
	f.Add([]byte{0x66, 0x48, 0xe8, 1, 2, 3, 4, 5})
	f.Add([]byte{0x62, 0xf1, 0x7c, 0x48, 0x58, 0xc2})
	f.Add([]byte{0, 4, 0, 0x91, 0xff})
	f.Fuzz(func(t *testing.T, code []byte) {
		if len(code) == 0 {
			return
		}
		for _, arch := range []string{"x86_64", "aarch64"} {
			i := For(arch)(code, 0x1000)
			if i.Size < 1 || i.Size > len(code) {
				t.Fatalf("%s: size %d of %d", arch, i.Size, len(code))
			}
			if i.Valid {
				if again := For(arch)(append(bytes.Clone(code[:i.Size]), 0xaa), 0x1000); again != i && code[i.Size-1]&0xf0 != 0xf0 {
					t.Errorf("%s: %+v, alone %+v", arch, i, again)
				}
			}
		}
	})
}
