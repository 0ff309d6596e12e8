package profdata

import (
	"debug/elf"
	"path/filepath"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/test/oracle"
)

// TestCorrelateUnnamed: merge warns once per file about functions whose names the program lacks.
// LLVM does not warn; the output is the same.
func TestCorrelateUnnamed(t *testing.T) {
	files := make(map[string]string)
	for _, name := range []string{"binary.elf", "binary.profraw"} {
		b := oracle.ReadFile(t, filepath.Join(oracle.Root(t), "testdata", "correlate", name))
		files[name] = string(b)
	}
	files["unnamed.elf"] = unnamed(t, files["binary.elf"], 2)
	const silent = "stderr: llvm-profdata does not tell of names that are not there"
	compareRows(t, files, []row{
		{args: "merge --binary-file=binary.elf binary.profraw -o out"},
		{args: "merge --binary-file=unnamed.elf binary.profraw -o out", differs: silent},
		{args: "merge --binary-file=unnamed.elf binary.profraw binary.profraw -o out", differs: silent},
	})
	got := runMain(t, "", strings.Fields("merge --binary-file=unnamed.elf binary.profraw -o out"))
	if lines := strings.Split(got.stderr, "\n"); got.code != 0 || len(lines) != 2 || !strings.HasPrefix(lines[0], "warning: binary.profraw: name reference is 0x") {
		t.Errorf("%+v", got)
	}
}

// unnamed is a program for binary correlation with other name references in the first records.
func unnamed(t *testing.T, program string, records int) string {
	t.Helper()
	f := oracle.Must(elf.NewFile(strings.NewReader(program)))(t)
	const size = 64 // of a record of raw version 10, which begins with the reference
	data := []byte(program)
	section := f.Section("__llvm_covdata")
	if section == nil || section.Size < uint64(size*(records+1)) {
		t.Fatalf("section of records: %+v", section)
	}
	for i := range records {
		data[int(section.Offset)+i*size]++
	}
	return string(data)
}
