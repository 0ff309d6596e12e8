package profdata

import (
	"encoding/binary"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/test/oracle"
)

// sampleFiles are the profiles of testdata/sampleprof, by their names without extension, and some that are not right.
func sampleFiles(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{
		"symbols": "zz\n aa \n\nbb\r\n  \nzz\n",
		"renames": "# old new\nmain begin\n_ZN4shop5twiceEl _ZN4shop6squareEl\n",
		"badmap":  "main\n",
		"other":   "main:100:2\n 1: 7\n 3: 90 atol:3 _ZN4shop5twiceEl:1\n 9: printf:2\n  1: 2\nfresh:50:5\n 0: 50\n",
		"probed":  "main:100:2\n 1: 7\n !CFGChecksum: 12345\n",
		"mapped":  "[a:1 @ main:2 @ x]:7:1\n 1: 7\n[main:2 @ x]:900:1\n 1: 900\n[x]:1:1\n",
		"callees": "6699318081062747564:100:10\n 3: 16434608426314478903:7\n  1: 7\n", "named": "foo:100:10\n 1: 50\n 2: 50 bar:20\n", "numbers": "6699318081062747564:100:10\n 1: 50\n 2: 50 16434608426314478903:20\n",
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
		data := oracle.ReadFile(t, filepath.Join(dir, name))
		base, _, _ := strings.Cut(name, ".")
		files[base] = string(data)
	}
	return files
}

func uleb(dst []byte, numbers ...uint64) []byte {
	for _, n := range numbers {
		dst = binary.AppendUvarint(dst, n)
	}
	return dst
}

// withSummary is a binary profile of one function with a count of 5 whose summary has one cutoff.
func withSummary(share, least uint64) string {
	b := uleb(nil, 0x5350524f463432ff, 103, 5, 5, 1, 1, 1, 1, share, least, 1, 1)
	b = append(b, "foo\x00"...)
	return string(uleb(b, 1, 0, 5, 1, 1, 0, 5, 0, 0))
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
		{args: "merge --sample -text named numbers"},
		{args: "merge --sample -o out -use-md5 numbers named"},
		{args: "merge --sample -o out numbers"},
		{args: "merge --sample -text callees"},
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
		{args: "merge --sample -o out flow lines-binary"},
		{args: "merge --sample -o out lines-binary flow"},
		{args: "merge --sample -o out -profile-isfs flow lines-binary"},
		{args: "merge --sample -text -weighted-input=2,inlined lines other"},
		{args: "merge --sample -o out contexts contexts"},
		{args: "merge --sample -o out contexts stacks"},
		{args: "merge --sample -text probes inlined"},
		{args: "merge --sample -text probes probed"},
		{args: "merge --sample -o out -sample-merge-cold-context contexts"},
		{args: "merge --sample -o out -sample-merge-cold-context -weighted-input=100000,lines other", differs: "exit code, file, stderr: LLVM crashes"},
		{args: "merge --sample -o out -sample-trim-cold-context contexts"},
		{args: "merge --sample -text -sample-merge-cold-context -sample-trim-cold-context -sample-frame-depth-for-cold-context=2 mapped mapped"},
		{args: "merge --sample -o out -convert-sample-profile-layout=nest contexts"},
		{args: "merge --sample -text -convert-sample-profile-layout=nest mapped"},
		{args: "merge --sample -o out -convert-sample-profile-layout=flat inlined"},
		{args: "merge --sample -text -convert-sample-profile-layout=flat lines other vtables"},
		{args: "merge --sample -o out -output-size-limit=500 lines"},
		{args: "merge --sample -o out -output-size-limit=10 lines"},
		{args: "merge --sample -o out -output-size-limit=9000 -no-function=. lines"},
		{args: "merge --sample -o out -profile-isfs lines-binary"},
		{args: "merge --sample -text -remapping-file=renames lines inlined"},
		{args: "merge --sample -text -remapping-file=renames lines other"},
		{args: "merge --sample -text -remapping-file=renames contexts stacks"},
		{args: "merge --sample -o out -remapping-file=renames contexts", differs: "file: LLVM writes contexts without frames, which nothing reads"},
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

func TestOverlapSamples(t *testing.T) {
	files := sampleFiles(t)
	for name, text := range map[string]string{
		"cutbinary": files["lines-binary"][:300], "cutheader": files["lines-binary"][:60],
		"cut": files["lines"][:600], "cuttable": files["lines"][:60],
		"badsummary": strings.Replace(files["lines"], files["lines"][0xf2:0xfe], strings.Repeat("\xff", 12), 1),
		"nothing":    "a:10:1\n", "zero": "a:10:1\n 1: 0\n", "most": "main:1:1\n 1: 18446744073709551615\n",
		"wraps": "main:1:1\n 1: 18446744073709551615\n 2: 3\n",
		"cold":  withSummary(990_000, 1000),
		// The same locations, callees and functions are in one, both or none, hot and cold.
		"base": "f:9:1\n 1: 900\n 2: 5\n 3: 40 g:40\n 4: g:7\n  1: 3\n  2: 4\n 4: h:900\n  1: 900\n 6: k:1\n  1: 1\ng:9:1\n 1: 1\nonly:4:1\n 1: 2\n",
		"test": "f:9:1\n 1: 800\n 3: 2\n 5: 1\n 4: g:7\n  2: 900\n 4: i:900\n  1: 30\n 7: k:1\n  1: 1000\ng:9:1\n 1: 999\nnew:4:1\n 1: 999\n",
	} {
		files[name] = text
	}
	var rows []row
	pairs := []string{
		"base test", "test base", "lines lines", "lines other", "other lines", "lines lines-binary", "lines lines-md5", "lines-md5 lines-md5",
		"lines flow", "flow flow", "probes probes", "probes probed", "inlined contexts", "contexts inlined", "stacks contexts",
		"mapped mapped", "vtables lines", "most other", "wraps other", "cold cold", "cold base",
	}
	for i, options := range []string{
		"", "--value-cutoff=0", "--value-cutoff=100 --cs", "--similarity-cutoff=500000", "--similarity-cutoff=18446744073709551615",
		"--function=main", "--function=shop --value-cutoff=1000", "--function=nonesuch", "-o out", "-o out --value-cutoff=1 --similarity-cutoff=990000",
		"--fs-discriminator-pass=Base --value-cutoff=1",
	} {
		for j, pair := range pairs {
			if i < 2 || (i+j)%4 == 0 || pair == "base test" {
				rows = append(rows, row{args: "overlap --sample " + options + " " + pair})
			}
		}
	}
	// Both files are opened before one is read: an error of the second one may come first.
	for _, pair := range []string{
		"lines nothing", "nothing lines", "zero nothing", "nothing zero -o out", "probes lines", "lines probes", "contexts lines", "flow contexts",
		"probes contexts", "lines lines-compact", "lines-compact lines", "lines junk", "junk lines", "badline junk", "junk badline", "badline nonesuch",
		"nonesuch badline", "badline badhead", "cutbinary cutheader", "cutheader cutbinary", "cuttable junk", "cutbinary junk", "cutheader junk",
		"empty lines", "lines empty", "cut junk", "badsummary junk", "badsummary lines", "badline cutheader", "cut cuttable", "badline lines", "lines",
	} {
		rows = append(rows, row{args: "overlap --sample " + pair})
	}
	compareRows(t, files, rows)
	t.Chdir(t.TempDir())
	writeFiles(t, ".", map[string]string{"i": textFiles["hot"], "s": withSummary(500_000, 5)})
	for _, args := range []string{"overlap --sample s s", "merge --supplement-instr-with-sample=s -o out i"} {
		if got := runMain(t, "", strings.Fields(args)); got.code != 1 || got.stderr != "error: "+errNoCutoff.message+"\n" || got.file != "" {
			t.Errorf("%s: %+v", args, got)
		}
	}
}

// suffixOfV is what the names of static functions of v.c have.
const suffixOfV = ".__uniq.139580699941641630641605244783400662121"

// coldFile is an instrumentation profile with functions that are cold, by few and by many zeros, and what
// the samples of supplements may be about.
func coldFile() string {
	var b strings.Builder
	b.WriteString(":ir\n:temporal_prof_traces\n1\n1\n1\nbusy,cold\n")
	function := func(name string, hash int, values string, counts ...uint64) {
		fmt.Fprintf(&b, "%s\n%d\n%d\n", name, hash, len(counts))
		for _, c := range counts {
			fmt.Fprintln(&b, c)
		}
		b.WriteString(values + "\n")
	}
	ones := slices.Repeat([]uint64{1}, 12)
	zeros := make([]uint64, 12)
	few, half := slices.Concat(zeros[:8], ones[:4]), slices.Concat(zeros[:6], ones[:6])
	const values = "1\n0\n2\n2\ncold:9\nbusy:18446744073709551615\n0\n"
	function("busy", 1, "", 1_000_000, 2_000_000)
	function("cold", 1, values, ones...)
	function("never", 1, "", zeros...)
	function("few", 1, "", few...)
	function("half", 1, "", half...)
	function("small", 1, "", ones[:9]...)
	function("twice", 1, "", ones...)
	function("twice", 2, "", ones...)
	function("known", 1, "", append([]uint64{1<<64 - 1}, zeros...)...)
	for i, file := range []string{"a.c", "dir/b.CPP", "c.hpp", "d.h", "e.cxx"} {
		function(file+";static", 1, "", ones...)
		function(file+";alone"+fmt.Sprint(i), 1, "", ones...)
	}
	for i := range 20 {
		function(fmt.Sprintf("x.cc;many%d", i), 1, "", ones...)
		function(fmt.Sprintf("y.cc;many%d", i), 1, "", ones...)
	}
	for i := range 60 {
		function(fmt.Sprintf("v.c;both%d", i), 1, "", ones...)
		function(fmt.Sprintf("v.c;both%d%s", i, suffixOfV), 1, "", ones...)
	}
	function("u.c;own.__uniq.123", 1, "", ones...)
	function("u.c;", 1, "", ones...)
	return b.String()
}

func TestSupplement(t *testing.T) {
	files := sampleFiles(t)
	files["cold"] = coldFile()
	t.Chdir(t.TempDir())
	writeFiles(t, ".", files)
	files["coldindexed"] = runMain(t, "", strings.Fields("merge -o out cold")).file // in another order
	files["large"] = "huge\n1\n12\n" + strings.Repeat("18446744073709551000\n", 12) + "\nless\n1\n12\n" + strings.Repeat("4000000000000\n", 12)
	files["hot"], files["none"] = textFiles["hot"], ""
	files["late"], files["fe"] = textFiles["late"], textFiles["fe"]
	var samples, unique strings.Builder
	for i, name := range []string{
		"cold", "never", "few", "half", "small", "twice", "known", "static", "alone0", "alone1", "alone2", "alone3", "alone4", "own", "huge", "less",
	} {
		fmt.Fprintf(&samples, "%s:9000:1\n 1: %d\n 2: inlined:9\n  1: %d\n", name, 2000-90*i, 1000*i)
	}
	for i := range 20 {
		fmt.Fprintf(&samples, "many%d:900:1\n 1: 900\n", i)
	}
	samples.WriteString("other:900:1\n 0: cold:5\n  1: 5\n 1: never:900\n  0: small:900\n   1: 900\n")
	// "a.c" and "dir/b.CPP" have these hashes.
	for _, file := range []string{"189702194130118823156495581805298510048", "238809443271415053823934669353522973022"} {
		fmt.Fprintf(&unique, "static.__uniq.%s:900:1\n 1: 900\n", file)
	}
	for i := range 60 { // which of two functions these are depends on the order of a hash map
		fmt.Fprintf(&unique, "both%d%s:900:1\n 1: 900\n", i, suffixOfV)
	}
	unique.WriteString("own.__uniq.123:900:1\n 1: 900\ncold:900:1\n 1: 1\n")
	files["samples"], files["unique"] = samples.String(), unique.String()
	files["incontext"] = "[busy:3 @ cold]:900:7\n 1: 900\n[never]:900:3\n 1: 5\n"
	// The counts of three functions inlined into a warm one make it hot only if they are added up.
	files["warm"] = "cold:900:1\n 0: 1\n 2: x:4\n  1: 400\n 3: x:4\n  1: 400\n 4: x:4\n  1: 400\nbusy:9:9\n"
	for line := range 200 {
		files["warm"] += fmt.Sprintf(" %d: 1000\n", line)
	}
	var rows []row
	for _, args := range []string{
		"samples -text cold", "warm -text cold", "samples cold", "unique -text cold", "unique -text coldindexed", "incontext -text cold", "samples -text large",
		"samples -text --suppl-min-size-threshold=9 cold", "samples -text --suppl-min-size-threshold=13 cold",
		"samples -text --instr-prof-cold-threshold=4294967295 cold", "samples -text --instr-prof-cold-threshold=1 large",
		"samples -text --instr-prof-cold-threshold=4294967295 --suppl-min-size-threshold=1 large",
		"samples -text --zero-counter-threshold=0.5 cold", "samples -text --zero-counter-threshold=-1 cold", "samples -text --zero-counter-threshold=nan cold",
		"samples -binary --sparse cold", "samples -gcc --write-prev-version cold", "samples -text --function=few --no-function=. -j 3 cold",
		"samples -text -r renames --debug-info=nonesuch cold", "samples -r nonesuch cold", "samples hot", "samples -text fe", "samples none",
		"samples late", "samples junk", "samples nonesuch", "samples cold cold", "samples -weighted-input=2,cold", "samples -text -weighted-input=1,cold",
		"samples --sample cold", "samples", "junk cold", "empty cold", "nonesuch cold", "badline cold", "lines -text cold", "lines-md5 cold", "probes cold",
		"contexts cold", "samples -failure-mode=warn late", "samples --keep-vtable-symbols cold",
	} {
		rows = append(rows, row{args: "merge -o out --supplement-instr-with-sample=" + args})
	}
	rows = append(rows, row{args: "merge --supplement-instr-with-sample=samples cold"}, row{args: "merge --sample -gcc --supplement-instr-with-sample=samples cold"})
	compareRows(t, files, rows)
}

// TestDamagedSamples: whatever a sample profile has become, a run ends with a result or an error, and an error leaves no file.
func TestDamagedSamples(t *testing.T) {
	files := sampleFiles(t)
	t.Chdir(t.TempDir())
	writeFiles(t, ".", files)
	writeFiles(t, ".", map[string]string{"cold": coldFile()})
	for _, name := range []string{"lines", "lines-binary", "lines-md5", "contexts", "probes", "flow", "mapped", "vtables"} {
		data := files[name]
		for at := 0; at < len(data); at += 7 * oracle.Step(len(data)/140+1) {
			flipped := []byte(data)
			flipped[at] ^= 1 << (at % 8)
			writeFiles(t, ".", map[string]string{"flipped": string(flipped), "cut": data[:at]})
			for _, args := range []string{
				"overlap --sample -o out --value-cutoff=0 flipped " + name, "overlap --sample -o out --similarity-cutoff=1000000 " + name + " flipped",
				"overlap --sample -o out cut flipped", "merge -text -o out --supplement-instr-with-sample=flipped cold",
				"merge -o out --supplement-instr-with-sample=cut cold", "show --sample -o out flipped",
			} {
				got := runMain(t, "", strings.Fields(args))
				if failed := got.code == 1; got.code > 1 || failed != strings.HasPrefix(got.stderr, "error: ") || failed && got.file != "" {
					t.Errorf("%s, byte %d: %s: exit code %d, stderr %q, a file of %d bytes", name, at, args, got.code, got.stderr, len(got.file))
				}
			}
		}
	}
}
