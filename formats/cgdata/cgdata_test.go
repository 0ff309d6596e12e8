package cgdata

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

func vector(t testing.TB, name string) []byte {
	t.Helper()
	return oracle.Must(base64.StdEncoding.DecodeString(vectors[name]))(t)
}

// read reads data without warnings.
func read(t testing.TB, data []byte) *Data {
	t.Helper()
	return oracle.Must(Read("f", data, func(err error) { t.Errorf("warning: %v", err) }))(t)
}

func write(t testing.TB, d *Data, text bool) []byte {
	t.Helper()
	var b bytes.Buffer
	oracle.NoError(t, d.Write(&b, text))
	return b.Bytes()
}

func fixture(t testing.TB, name string) []byte {
	t.Helper()
	return oracle.ReadFile(t, oracle.Testdata(t, "cgdata/"+name)[0])
}

// elfObject returns an ELF object for x86-64 with sections.
func elfObject(sections map[string][]byte) []byte {
	le := binary.LittleEndian
	names := []string{"", ".shstrtab"}
	for _, name := range []string{treeSection, mapSection} {
		if sections[name] != nil {
			names = append(names, name)
		}
	}
	strtab := []byte(strings.Join(names, "\x00") + "\x00")
	body, headers := make([]byte, 64), make([]byte, 64)
	for _, name := range names[1:] {
		contents := sections[name]
		kind := uint32(1)
		if name == ".shstrtab" {
			contents, kind = strtab, 3
		}
		for len(body)%8 != 0 {
			body = append(body, 0)
		}
		h := le.AppendUint32(nil, uint32(bytes.Index(strtab, []byte("\x00"+name+"\x00"))+1))
		h = le.AppendUint32(h, kind)
		for _, v := range []uint64{0, 0, uint64(len(body)), uint64(len(contents)), 0, 8, 0} {
			h = le.AppendUint64(h, v)
		}
		headers, body = append(headers, h...), append(body, contents...)
	}
	for len(body)%8 != 0 {
		body = append(body, 0)
	}
	copy(body, "\x7fELF\x02\x01\x01")
	le.PutUint16(body[16:], 1)  // ET_REL
	le.PutUint16(body[18:], 62) // EM_X86_64
	le.PutUint32(body[20:], 1)
	le.PutUint64(body[40:], uint64(len(body)))
	le.PutUint16(body[52:], 64)
	le.PutUint16(body[58:], 64)
	le.PutUint16(body[60:], uint16(len(names)))
	le.PutUint16(body[62:], 1)
	return append(body, headers...)
}

// objectOf returns an object with data.
func objectOf(d *Data) []byte {
	sections := make(map[string][]byte)
	if len(d.Tree) > 0 {
		sections[treeSection] = d.encodeTree()
	}
	if len(d.Functions) > 0 {
		sections[mapSection] = d.encodeMap()
	}
	return elfObject(sections)
}

// random returns data of one module; hashes are of a few groups.
func random(rng *rand.Rand, module string) *Data {
	d := &Data{}
	if rng.IntN(4) > 0 {
		var t hashTree
		for range rng.IntN(20) {
			at := t.root()
			for range 1 + rng.IntN(6) {
				at = t.child(at, uint64(rng.IntN(4))*0x5555555555555555+1)
			}
			t.addTerminals(at, uint32(1+rng.IntN(5)))
		}
		d.Tree = t.list()
	}
	for i := range rng.IntN(4 + rng.IntN(70)) {
		group := uint64(rng.IntN(60))
		f := Function{Hash: group * 0x9e3779b97f4a7c15, Name: fmt.Sprintf("f%d_%d", i, rng.IntN(100)), Module: module, Instructions: uint32(group%9 + 1)}
		operands := int(group % 4)
		if rng.IntN(12) == 0 { // contradicts
			operands++
		}
		for j := range operands {
			f.Operands = append(f.Operands, Operand{uint32(j), uint32(group % 3), uint64(rng.IntN(3))})
		}
		d.names = append(d.names, f.Name, f.Module)
		d.Functions = append(d.Functions, f)
	}
	sortFunctions(d.Functions)
	return d
}

// TestVectors: what LLVM wrote is written again, and goes through text.
func TestVectors(t *testing.T) {
	for name := range vectors {
		if strings.HasPrefix(name, "raw") {
			continue
		}
		data := vector(t, name)
		d := read(t, data)
		if !bytes.Equal(write(t, d, false), data) {
			t.Errorf("%s: other bytes", name)
		}
		text := write(t, d, true)
		if name != "empty" && !bytes.Equal(write(t, read(t, text), true), text) {
			t.Errorf("%s: other text:\n%s", name, text)
		}
	}
}

// TestObjectsOracle compares merges of random objects with llvm-cgdata, and then conversions.
func TestObjectsOracle(t *testing.T) {
	tool := oracle.Tool(t, "llvm-cgdata-22")
	run := func(args ...string) {
		if _, stderr, code := oracle.Run(t, tool, args...); code != 0 {
			t.Fatalf("%q: exit code %d: %s", args, code, stderr)
		}
	}
	dir := t.TempDir()
	out, text, again := filepath.Join(dir, "out"), filepath.Join(dir, "text"), filepath.Join(dir, "again")
	for seed := range 100 / oracle.Step(10) {
		rng := rand.New(rand.NewPCG(3, uint64(seed)))
		skip := seed%3 == 0
		m := Merger{SkipTrim: skip}
		args := []string{"--merge", "-o", out}
		if skip {
			args = append(args, "--skip-trim")
		}
		for i := range 5 {
			name := filepath.Join(dir, fmt.Sprintf("%d.o", i))
			object := objectOf(random(rng, fmt.Sprintf("m%d.c", 9-i)))
			oracle.WriteFile(t, name, object)
			args = append(args, name)
			err := ReadObjects(name, object, "", func(o *Object) error {
				m.Add(o.Data)
				return nil
			})
			if err != nil && !strings.Contains(err.Error(), "codegen data is missing") {
				t.Fatal(err)
			}
		}
		run(args...)
		got, want := write(t, m.Data(), false), oracle.ReadFile(t, out)
		if diff := cmp.Diff(string(write(t, read(t, want), true)), string(write(t, read(t, got), true))); diff != "" {
			t.Fatalf("seed %d: other text: %s", seed, diff)
		}
		if !bytes.Equal(got, want) {
			t.Fatalf("seed %d: other bytes: %q, want %q", seed, read(t, got).names, read(t, want).names)
		}
		if bytes.Equal(want, vector(t, "empty")) {
			continue
		}
		run("--convert", "-o", text, out)
		d := read(t, want)
		if got := write(t, d, true); !bytes.Equal(got, oracle.ReadFile(t, text)) {
			t.Fatalf("seed %d: other text than of --convert:\n%s", seed, got)
		}
		run("--convert", "--format", "binary", "-o", again, text)
		if got := write(t, read(t, oracle.ReadFile(t, text)), false); !bytes.Equal(got, oracle.ReadFile(t, again)) {
			t.Fatalf("seed %d: other bytes than of --convert of text", seed)
		}
	}
}

// TestObjects: the fixtures have the data that llvm-cgdata merged, alone, twice after a partial link, and in a library.
func TestObjects(t *testing.T) {
	merge := func(files ...[]byte) []byte {
		var m Merger
		for _, data := range files {
			oracle.NoError(t, ReadObjects("f", data, "", func(o *Object) error {
				m.Add(o.Data)
				return nil
			}))
		}
		return write(t, m.Data(), false)
	}
	one, two := fixture(t, "shapes1.o"), fixture(t, "shapes2.o")
	want := fixture(t, "both.cgdata")
	if !bytes.Equal(merge(one, two), want) {
		t.Error("other bytes than of llvm-cgdata")
	}
	library := []byte("!<arch>\n")
	for i, data := range [][]byte{one, []byte("BC\xc0\xde"), two} {
		library = fmt.Appendf(library, "%-16s%-12d%-6d%-6d%-8o%-10d`\n", fmt.Sprintf("%d.o/", i), 0, 0, 0, 0o644, len(data))
		if library = append(library, data...); len(data)%2 != 0 {
			library = append(library, '\n')
		}
	}
	if !bytes.Equal(merge(library), want) {
		t.Error("other bytes of a library")
	}
	// As "ld -r" leaves two objects.
	tree := slices.Concat(vector(t, "raw tree"), vector(t, "raw tree"))
	functions := slices.Concat(vector(t, "raw map"), vector(t, "raw map"))
	var m Merger
	oracle.NoError(t, ReadObjects("f", elfObject(map[string][]byte{treeSection: tree, mapSection: functions}), "", func(o *Object) error {
		m.SkipTrim = true
		m.Add(o.Data)
		return nil
	}))
	d := m.Data()
	var outlined []uint32
	for _, n := range d.Sequences() {
		outlined = append(outlined, n)
	}
	if len(d.Tree) != 27 || len(d.Functions) != 4 || fmt.Sprint(outlined) != "[4 6 4 4 6 4 6]" {
		t.Errorf("%d nodes, %d functions, outlined %d times", len(d.Tree), len(d.Functions), outlined)
	}
	err := ReadObjects("f", elfObject(nil), "", func(*Object) error { return nil })
	if profile.ClassOf(err) != profile.ErrMismatch {
		t.Errorf("an object without data: %v", err)
	}
}

// TestCompilers: objects of all formats, as clang writes them.
func TestCompilers(t *testing.T) {
	clang := oracle.Tool(t, "clang-22")
	dir := t.TempDir()
	source, object := filepath.Join(dir, "s.c"), filepath.Join(dir, "s.o")
	// Without frames: clang 22 fails to merge functions with frames for Windows.
	oracle.WriteFile(t, source, []byte(`
int one[64], two[64];
int f(int a) { return one[a & 63] * 3 + one[a >> 3 & 63] * 5 ^ one[a & 7] - a * 77; }
int g(int a) { return two[a & 63] * 3 + two[a >> 3 & 63] * 5 ^ two[a & 7] - a * 77; }
`))
	for _, target := range []string{"x86_64-linux-gnu", "arm64-apple-macos13", "x86_64-pc-windows-msvc"} {
		args := []string{
			"-c", "--target=" + target, "-Oz", "-fcodegen-data-generate", "-mllvm", "-enable-global-merge-func=true",
			"-mllvm", "-enable-machine-outliner=always", source, "-o", object,
		}
		if _, stderr, code := oracle.Run(t, clang, args...); code != 0 {
			t.Fatalf("%s: %s", target, stderr)
		}
		functions, nodes := 0, 0
		oracle.NoError(t, ReadObjects("f", oracle.ReadFile(t, object), "", func(o *Object) error {
			functions, nodes = len(o.Functions), len(o.Tree)
			return nil
		}))
		if functions != 2 || nodes == 0 {
			t.Errorf("%s: %d functions, %d nodes", target, functions, nodes)
		}
	}
}

// TestTrim: which functions are worth merging, by LLVM's coefficients.
func TestTrim(t *testing.T) {
	group := func(functions, instructions int, operands ...[]uint64) *Data { // hashes by operand and function
		d := &Data{}
		for i := range functions {
			f := Function{Hash: 1, Name: fmt.Sprint(i), Module: "m", Instructions: uint32(instructions)}
			for j, hashes := range operands {
				f.Operands = append(f.Operands, Operand{uint32(j), 0, hashes[i]})
			}
			d.Functions = append(d.Functions, f)
		}
		return d
	}
	for _, c := range []struct {
		d                   *Data
		kept, operands      int
		contradicting, lost int
	}{
		{group(2, 6, []uint64{1, 2}), 2, 1, 0, 0}, // 7.2 > 6
		{group(2, 5, []uint64{1, 2}), 0, 0, 0, 2}, // 6 = 6
		{group(2, 6, []uint64{1, 2}, []uint64{7, 7}), 2, 1, 0, 0},
		{group(2, 6, []uint64{1, 2}, []uint64{1, 2}), 2, 2, 0, 0}, // one parameter for both
		{group(2, 6, []uint64{1, 2}, []uint64{1, 3}), 0, 0, 0, 2}, // 7.2 < 3 + 5
		{group(2, 7, []uint64{1, 2}, []uint64{1, 3}), 2, 2, 0, 0}, // 8.4 > 8
		{group(3, 4, []uint64{1, 2, 2}), 3, 1, 0, 0},              // 9.6 > 9
		{group(2, 99), 0, 0, 0, 2},
		{group(1, 99, []uint64{1}), 0, 0, 0, 1},
	} {
		var m Merger
		m.Add(c.d)
		d := m.Data()
		if len(d.Functions) != c.kept || c.kept > 0 && len(d.Functions[0].Operands) != c.operands || m.Unprofitable != c.lost || m.Contradicting != 0 {
			t.Errorf("%+v: %+v", c, d.Functions)
		}
	}
	for _, partial := range []bool{false, true} {
		m := Merger{Partial: partial, SkipTrim: true}
		m.Add(group(2, 6, []uint64{1, 2}))
		m.Add(group(1, 7, []uint64{1}))
		if d := m.Data(); len(d.Functions) != map[bool]int{false: 0, true: 3}[partial] || !partial && m.Contradicting != 3 {
			t.Errorf("partial %t: %d functions, %d contradict", partial, len(d.Functions), m.Contradicting)
		}
	}
}

// TestMerge: sums of sums, and their limit.
func TestMerge(t *testing.T) {
	d := read(t, fixture(t, "other.cgdata.txt"))
	m := Merger{Partial: true}
	m.Add(d)
	m.Add(d)
	twice := m.Data()
	var outlined []uint32
	for _, n := range twice.Sequences() {
		outlined = append(outlined, n)
	}
	if !m.Saturated || fmt.Sprint(outlined) != "[4294967295 2 6 4]" || len(twice.Functions) != 8 {
		t.Errorf("saturated %t, %d, %d functions", m.Saturated, outlined, len(twice.Functions))
	}
}

// TestText: what LLVM reads, and what it passes over.
func TestText(t *testing.T) {
	const tree = "---\n0: {Hash: 0, Terminals: 0, SuccessorIds: [5, 9]}\n9: {Hash: 0x7, Terminals: 2, SuccessorIds: []}\n5: {Hash: 7, Terminals: 3, SuccessorIds: []}\n"
	const functions = "---\n- {Hash: 1, FunctionName: f, ModuleName: m, InstCount: 2, IndexOperandHashes: []}\n"
	for _, c := range []struct {
		name, text, warning, err string
		nodes, functions         int
	}{
		{"both lines first", "# x\n\n" + mapLine + "\n" + treeLine + "\n" + tree + "...\n" + functions, "sequences that occur twice is 1", "", 2, 1},
		{"lines before their documents", treeLine + "\n" + tree + "...\n" + mapLine + "\n" + functions + "...\n", "sequences that occur twice is 1", "", 2, 1},
		{"the map alone", mapLine + "\n" + functions, "", "", 0, 1},
		{"no document", mapLine + "\n", "", "text line 1: document of :stable_function_map is missing", 0, 0},
		{"no line", functions, "", "first bytes", 0, 0},
		{"another document", mapLine + "\n" + functions + functions, "", "YAML line 5: document is one more", 0, 0},
		{"another line", mapLine + "\nx\n", "", `text line 2: line is "x"`, 0, 0},
		{"a key", mapLine + "\n---\n- {Hash: 1}\n", "", "YAML line 3 (record 0): key FunctionName is missing", 0, 0},
		{"a node outside", treeLine + "\n---\n0: {Hash: 0, Terminals: 0, SuccessorIds: []}\n1: {Hash: 0, Terminals: 0, SuccessorIds: []}\n", "", "nodes outside of the tree is 1", 0, 0},
		{"no root", treeLine + "\n---\n1: {Hash: 0, Terminals: 0, SuccessorIds: []}\n", "", "node 0 is missing", 0, 0},
		{"an unknown node", treeLine + "\n---\n0: {Hash: 0, Terminals: 0, SuccessorIds: [3]}\n", "", "id of a successor is 3", 0, 0},
		{"an operand twice", mapLine + "\n---\n- {Hash: 1, FunctionName: f, ModuleName: m, InstCount: 2, IndexOperandHashes: [{InstIndex: 1, OpndIndex: 1, OpndHash: 1}, " +
			"{InstIndex: 1, OpndIndex: 1, OpndHash: 2}]}\n", "", "operand is 1 of instruction 1 again", 0, 0},
	} {
		warning := ""
		d, err := Read("f", []byte(c.text), func(err error) { warning += err.Error() })
		if c.name == "no line" {
			if profile.ClassOf(err) != profile.ErrUnrecognized {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) || !strings.Contains(warning, c.warning) || c.warning == "" && warning != "" {
			t.Errorf("%s: %v, want %q; warning %q, want %q", c.name, err, c.err, warning, c.warning)
		}
		if err == nil && (len(d.Tree) != c.nodes || len(d.Functions) != c.functions) {
			t.Errorf("%s: %d nodes, %d functions", c.name, len(d.Tree), len(d.Functions))
		}
	}
}

// TestVersions: earlier versions, as far as their layout is known.
func TestVersions(t *testing.T) {
	of := func(v byte, name string) []byte {
		data := vector(t, name)
		data[8] = v
		return data
	}
	first := of(1, "three nodes")
	first = append(first[:24:24], first[32:]...)
	first[16] = oldHeaderSize
	for name, data := range map[string][]byte{"1": first, "2": of(2, "three nodes"), "3": of(3, "both")} {
		d := read(t, data)
		if fmt.Sprint(d.Version) != name || len(d.Tree) < 3 {
			t.Errorf("version %s: %+v", name, d)
		}
	}
	for _, data := range [][]byte{of(5, "empty"), of(0, "empty"), of(2, "both")} {
		if _, err := Read("f", data, nil); profile.ClassOf(err) != profile.ErrUnsupported {
			t.Errorf("version %d: %v", data[8], err)
		} else if newer := strings.Contains(err.Error(), "newer than this release of profuse knows"); newer != (data[8] == 5) {
			t.Errorf("version %d: %v", data[8], err)
		}
	}
}

// TestView: sequences and functions.
func TestView(t *testing.T) {
	d := read(t, fixture(t, "both.cgdata"))
	v := d.View("both")
	if id := v.Identity(); id.String() != "cgdata indexed version 4, readable by LLVM 20 to 22" || len(id.Omits) != 1 {
		t.Errorf("%+v", id)
	}
	var got []string
	for f := range v.Functions() {
		got = append(got, f.Name+" of "+f.File)
	}
	for s := range v.Stacks()[0].Stacks() {
		got = append(got, fmt.Sprintf("%016x, %d frames, %d", s.Frames[0].ID, len(s.Frames), s.Values[0]))
	}
	if diff := cmp.Diff([]string{
		"first of shapes1.c", "second of shapes1.c", "third of shapes2.c",
		"1f44691daba50621, 7 frames, 2", "ffecd513b3335646, 4 frames, 2", "0abf9f55f5dfc9ee, 4 frames, 2",
	}, got); diff != "" {
		t.Error(diff)
	}
	for range v.Functions() { // an iteration may end early
		break
	}
	for range v.Stacks()[0].ReusedStacks {
		break
	}
}
