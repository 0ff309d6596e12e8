package profdata

import (
	"debug/elf"
	"encoding/hex"
	"path/filepath"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/symbolize"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// startSource has initializers, which the debug information says of no file to be declared in.
const startSource = `struct setting { volatile int value; setting(int v); };
__attribute__((noinline)) setting::setting(int v) : value(v) { if (v < 0) value = 0; }
setting low(4), high(5);
`

// TestCorrelate completes profiles of programs made here: with DWARF 4 and 5,
// by the sections of the program, with functions that the linker dropped.
func TestCorrelate(t *testing.T) {
	clang := oracle.Tool(t, "clang-22")
	dir := t.TempDir()
	source := filepath.Join(oracle.Root(t), "testdata", "irpgo", "src")
	writeFiles(t, dir, map[string]string{"start.cpp": startSource})
	for name, args := range map[string][]string{
		"dwarf4": {"-g", "-gdwarf-4", "-mllvm", "-profile-correlate=debug-info"},
		"dwarf5": {"-g", "-gdwarf-5", "-gz", "-mllvm", "-profile-correlate=debug-info"},
		"binary": {"-mllvm", "-profile-correlate=binary", "-Wl,--build-id=sha1"},
		"gc":     {"-mllvm", "-profile-correlate=binary", "-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections", "-Wl,--build-id=none"},
	} {
		cmd := append([]string{"-O2", "-fprofile-generate", "-mllvm", "-disable-vp"}, args...)
		if _, stderr, code := oracle.RunIn(t, dir, clang, append(cmd, filepath.Join(source, "store.c"), filepath.Join(source, "main.c"),
			filepath.Join(source, "report.cpp"), "start.cpp", "-lstdc++", "-o", name)...); code != 0 {
			t.Fatal(stderr)
		}
		t.Setenv("LLVM_PROFILE_FILE", filepath.Join(dir, name+".profraw"))
		if _, stderr, code := oracle.RunIn(t, dir, filepath.Join(dir, name), "400", "7"); code != 0 {
			t.Fatal(stderr)
		}
	}
	files := map[string]string{
		"text": textFiles["values"],
		"junk": textFiles["junk"],
	}
	take := func(name, path string) {
		b := oracle.ReadFile(t, path)
		files[name] = string(b)
	}
	for _, name := range []string{"dwarf4", "dwarf5", "binary", "gc"} {
		take(name, filepath.Join(dir, name))
		take(name+".raw", filepath.Join(dir, name+".profraw"))
	}
	take("plain.raw", filepath.Join(oracle.Root(t), "testdata", "irpgo", "clang22", "tool-b.profraw"))
	files["astray"] = astray(t, files["binary"], 7)
	program := oracle.Must(symbolize.Open(filepath.Join(dir, "binary"), symbolize.Options{}))(t)
	defer program.Close()
	id := hex.EncodeToString(program.BuildID)
	files["ids/.build-id/"+id[:2]+"/"+id[2:]+".debug"] = files["binary"]

	const leftOut = ": llvm-profdata leaves out the profile, we the functions without counters"
	compareRows(t, files, []row{
		{args: "merge --debug-info=dwarf4 dwarf4.raw -o out"},
		{args: "merge --debug-info=dwarf5 dwarf5.raw dwarf5.raw --text"},
		{args: "merge --debug-info=dwarf5 --weighted-input=3,dwarf5.raw -o out"},
		{args: "merge --debug-info=dwarf5 dwarf4.raw -o out"},
		{args: "merge --debug-info=dwarf5 dwarf5.raw text -o out"},
		{args: "merge --debug-info=dwarf5 dwarf5.raw plain.raw -o out"},
		{args: "merge --debug-info=dwarf5 dwarf5.raw plain.raw -o out -failure-mode=warn"},
		{args: "merge --debug-info=dwarf5 --max-debug-info-correlation-warnings=1 dwarf5.raw -o out"},
		{args: "merge --debug-info=binary binary.raw -o out"},
		{args: "merge --debug-info=junk dwarf5.raw -o out"},
		{args: "merge --debug-info=nonesuch dwarf5.raw -o out"},
		{args: "merge --binary-file=binary binary.raw -o out"},
		{args: "merge --binary-file=binary plain.raw -o out"},
		{args: "merge --binary-file=astray binary.raw -o out", differs: "exit code, file, stderr" + leftOut},
		{args: "merge --binary-file=astray --max-debug-info-correlation-warnings=1 binary.raw --text", differs: "exit code, stderr, stdout" + leftOut},
		{args: "merge --binary-file=gc gc.raw --text"},
		{args: "merge --binary-file=dwarf5 binary.raw -o out"},
		{args: "merge --binary-file=junk binary.raw -o out"},
		{args: "merge --binary-file=nonesuch binary.raw -o out"},
		{args: "merge --binary-file=binary --debug-info=dwarf5 binary.raw -o out"},
		{args: "merge --binary-file=binary --debug-file-directory=ids binary.raw -o out"},
		{args: "merge --debug-info=dwarf4 --debuginfod dwarf4.raw -o out"},
		{args: "merge --debug-file-directory=ids binary.raw -o out"},
		{args: "merge --debuginfod binary.raw -o out"},
		{args: "merge --correlate=binary binary.raw -o out"},
		{args: "merge --debug-file-directory=ids --correlate=binary binary.raw -o out"},
		{args: "merge --debug-file-directory=. --debug-file-directory=ids --correlate=binary binary.raw binary.raw -o out"},
		{args: "merge --debug-file-directory=ids --correlate=debug-info binary.raw -o out"},
		{args: "merge --debug-file-directory=ids --correlate=binary dwarf5.raw -o out"},
		{args: "merge --debug-file-directory=ids --correlate=binary gc.raw -o out"},
		{args: "merge --debug-file-directory=ids --correlate=binary plain.raw -o out"},
		{args: "merge --debug-file-directory=ids --correlate=binary text -o out"},
		{args: "show --debug-info=dwarf4"},
		{args: "show --debug-info=dwarf4 --show-format=yaml"},
		{args: "show --debug-info=dwarf5 --show-format=yaml -o out"},
		{args: "show --debug-info=dwarf5 --json"},
		{args: "show --debug-info=dwarf5 --show-prof-sym-list --detailed-summary"},
		{args: "show --debug-info=binary"},
		{args: "show --debug-info=binary --show-format=yaml"},
		{args: "show --debug-info=junk"},
		{args: "show --debug-info=nonesuch"},
		{args: "show --debug-info=dwarf5 plain.raw"},
	})

	got := runMain(t, "", strings.Fields("merge --binary-file=astray --max-debug-info-correlation-warnings=1 binary.raw --text"))
	lines := strings.Split(got.stderr, "\n")
	if got.code != 0 || len(lines) != 3 || !strings.HasPrefix(lines[0], "warning: CounterPtr out of range for function: Actual=0x0 Expected=[") ||
		lines[1] != "warning: Suppressed 6 additional warnings" {
		t.Errorf("%+v", got)
	}
}

// astray is a program for binary correlation in which the first records point to no counters.
func astray(t *testing.T, program string, records int) string {
	t.Helper()
	f := oracle.Must(elf.NewFile(strings.NewReader(program)))(t)
	const size, counterPtr = 64, 16 // of a record of raw version 10, 64-bit
	data := []byte(program)
	section := f.Section("__llvm_covdata")
	if section == nil || section.Size < uint64(size*(records+1)) {
		t.Fatalf("section of records: %+v", section)
	}
	for i := range records {
		at := int(section.Offset) + i*size + counterPtr
		clear(data[at : at+8])
	}
	return string(data)
}
