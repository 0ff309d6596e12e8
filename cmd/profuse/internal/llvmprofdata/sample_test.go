package llvmprofdata

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/internal/oracle"
)

// sampleFiles are the profiles of testdata/sampleprof, by their names without extension, and
// some that are not right.
func sampleFiles(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{
		"symbols": "zz\n aa \n\nbb\r\n  \nzz\n",
		"renames": "# old new\nmain begin\n_ZN4shop5twiceEl _ZN4shop6squareEl\n",
		"badmap":  "main\n",
		"other":   "main:100:2\n 1: 7\n 3: 90 atol:3 _ZN4shop5twiceEl:1\n 9: printf:2\n  1: 2\nfresh:50:5\n 0: 50\n",
		"probed":  "main:100:2\n 1: 7\n !CFGChecksum: 12345\n",
		"mapped":  "[a:1 @ main:2 @ x]:7:1\n 1: 7\n[main:2 @ x]:900:1\n 1: 900\n[x]:1:1\n",
		"vtables": "f:9:1\n 2: 5\n 2: vtables _ZTV1b:2 _ZTV1a:3 \n 4: g:3\n  1: 3\n 4: vtables _ZTV1c:1 \n",
		"badhead": "# c\nmain:x:1\n", "badlater": "main:1:1\nf\n", "badline": "main:1:1\n 1: 5\n 2: x\n",
		"badtable": "main:1:1\n 2: vtables a\n", "badmeta": "main:1:1\n !Who: 1\n", "badorder": "main:1:1\n !CFGChecksum: 1\n 1: 5\n",
		"empty": "", "junk": "junk\n",
	}
	dir := filepath.Join(oracle.Root(t), "testdata", "sampleprof")
	for _, name := range []string{
		"lines.afdo", "flow.afdo", "probes.afdo", "contexts.afdo", "inlined.afdo", "stacks.afdo", "lines-md5.afdo",
		"lines-binary.prof", "lines-compact.prof",
	} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		base, _, _ := strings.Cut(name, ".")
		files[base] = string(data)
	}
	return files
}

const (
	oldFormat  = "LLVM reads the compact format up to release 16"
	compact    = "exit code, stderr, stdout: " + oldFormat
	mixedKinds = "exit code, file, stderr: LLVM takes the kind of an earlier file and writes what nothing can read"
)

// cutSamples is why files that end early differ.
const cutSamples = "LLVM reads beyond the end of the file"

func TestMergeSamples(t *testing.T) {
	files := sampleFiles(t)
	files["cutbinary"] = files["lines-binary"][:300]
	files["cut"] = files["lines"][:600]
	rows := []row{
		{args: "merge --sample -text lines other"},
		{args: "merge --sample -text -weighted-input=3,lines -weighted-input=18446744073709551615,other"},
		{args: "merge --sample -o out lines other lines"},
		{args: "merge --sample -o out -binary lines"},
		{args: "merge --sample -o out -binary probes"},
		{args: "merge --sample -o out -gcc lines"},
		{args: "merge --sample -o out -use-md5 lines other"},
		{args: "merge --sample -o out -text -use-md5 -compress-all-sections -gen-partial-profile -split-layout lines"},
		{args: "merge --sample -o out -binary -use-md5 -compress-all-sections -gen-partial-profile -split-layout lines"},
		{args: "merge --sample -o out -gen-partial-profile lines-md5 other"},
		{args: "merge --sample -o out -split-layout lines probes"},
		{args: "merge --sample -o out -split-layout lines flow"},
		{args: "merge --sample -o out -prof-sym-list=symbols lines"},
		{args: "merge --sample -text -prof-sym-list=symbols lines"},
		{args: "merge --sample -o out -prof-sym-list=nonesuch lines"},
		{args: "merge --sample -o out -drop-profile-symbol-list lines"},
		{args: "merge --sample -o out contexts contexts inlined", differs: mixedKinds},
		{args: "merge --sample -o out inlined lines", differs: "exit code, file, stderr: LLVM takes the lines of the second file for probes"},
		{args: "merge --sample -o out flow lines"},
		{args: "merge --sample -o out flow other"},
		{args: "merge --sample -text -weighted-input=2,inlined lines other"},
		{args: "merge --sample -o out contexts contexts"},
		{args: "merge --sample -o out contexts stacks"},
		{args: "merge --sample -text probes inlined"},
		{args: "merge --sample -text probes probed"},
		{args: "merge --sample -o out -sample-merge-cold-context contexts"},
		{args: "merge --sample -o out -sample-trim-cold-context contexts"},
		{args: "merge --sample -text -sample-merge-cold-context -sample-trim-cold-context -sample-frame-depth-for-cold-context=2 mapped mapped"},
		{args: "merge --sample -o out -convert-sample-profile-layout=nest contexts"},
		{args: "merge --sample -text -convert-sample-profile-layout=nest mapped"},
		{args: "merge --sample -o out -convert-sample-profile-layout=flat inlined"},
		{args: "merge --sample -text -convert-sample-profile-layout=flat lines other vtables"},
		{args: "merge --sample -o out -output-size-limit=500 lines"},
		{args: "merge --sample -o out -output-size-limit=10 lines"},
		{args: "merge --sample -text -remapping-file=renames lines inlined"},
		{args: "merge --sample -text -remapping-file=renames lines other"},
		{args: "merge --sample -text -remapping-file=badmap lines"},
		{args: "merge --sample -text -function=shop -no-function=twice lines"},
		{args: "merge --sample -text -function=^main contexts"},
		{args: "merge --sample -text vtables vtables"},
		{args: "merge --sample -o out vtables"},
		{args: "merge --sample -o out -extbinary-write-vtable-type-prof vtables lines"},
		{args: "merge --sample -text -fs-discriminator-pass=Base flow"},
		{args: "merge --sample -text -fs-discriminator-pass=Pass1 -profile-isfs flow other"},
		{args: "merge --sample -o out -profile-isfs other"},
		{args: "merge --sample -text -sparse -j 3 lines"},
		{args: "merge --sample -text lines-compact", differs: compact},
		{args: "merge --sample -text empty"},
		{args: "merge --sample -text junk"},
		{args: "merge --sample -text -failure-mode=all junk lines"},
		{args: "merge --sample -text -failure-mode=warn empty lines-compact lines", differs: "stderr, stdout: " + oldFormat},
		{args: "merge --sample -text nonesuch"},
		{args: "merge --sample -text badhead"},
		{args: "merge --sample -text -failure-mode=warn badlater lines"},
		{args: "merge --sample -text badline"},
		{args: "merge --sample -text badtable"},
		{args: "merge --sample -text badmeta"},
		{args: "merge --sample -text badorder"},
		{args: "merge --sample -text cutbinary"},
		{args: "merge --sample -text cut", differs: "stderr: " + cutSamples},
	}
	compareRows(t, files, rows)
}

func TestShowSamples(t *testing.T) {
	var rows []row
	for _, file := range []string{"lines", "flow", "contexts", "inlined", "lines-md5", "vtables", "mapped"} {
		for _, option := range []string{
			"", "--json", "--show-format=yaml", "--show-sec-info-only", "--detailed-summary", "--hot-func-list", "--topn=2",
			"--function=main", "--function=nonesuch", "--function=main --json", "--function=x --all-functions",
		} {
			rows = append(rows, row{args: "show --sample " + option + " " + file})
		}
	}
	rows = append(rows,
		row{args: "show --sample junk"}, row{args: "show --sample empty"}, row{args: "show --sample badline"},
		row{args: "show --sample --show-sec-info-only junk"}, row{args: "show --sample --fs-discriminator-pass=Base flow"},
		row{args: "show --sample -o out lines"})
	compareRows(t, sampleFiles(t), rows)
}
