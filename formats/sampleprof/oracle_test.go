package sampleprof

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/profuse-pgo/profuse/test/oracle"
)

func TestMain(m *testing.M) { oracle.Main(m) }

// TestAgainstLLVM compares conversions and merges of real and random profiles with llvm-profdata 22.
func TestAgainstLLVM(t *testing.T) {
	llvm := oracle.LLVM(t, 22)
	dir := t.TempDir()
	var sets [][]string
	put := func(name string, data []byte) string {
		oracle.WriteFile(t, filepath.Join(dir, name), data)
		return name
	}
	for name, data := range fixtures(t) {
		if name != "lines-compact.prof" { // LLVM 17 and later do not read it
			sets = append(sets, []string{put(name, data)})
		}
	}
	sets = append(sets, []string{put("gcov", gcovProfile())})
	rounds := 6
	if oracle.Everything() {
		rounds = 12
	}
	for i := range rounds {
		var set []string
		for j := range 3 {
			text := randomText(uint64(100*i+j), 1+i*j*7, kinds[i%len(kinds)], i%4 == 0)
			set = append(set, put(string(rune('a'+i))+string(rune('0'+j)), text))
		}
		sets = append(sets, set, set[:1])
	}
	compared := 0
	for _, mode := range []struct {
		args     []string
		opt      WriteOptions
		convert  ConvertOptions
		contexts bool // only for profiles with contexts
	}{
		{args: []string{"--text"}, opt: WriteOptions{Format: FormatText}},
		{args: []string{"--text", "--split-layout"}, opt: WriteOptions{Format: FormatText, Split: true}},
		{args: []string{"--extbinary"}},
		{args: []string{"--extbinary", "--use-md5"}, opt: WriteOptions{MD5: true}},
		{args: []string{"--extbinary", "--extbinary-write-vtable-type-prof"}, opt: WriteOptions{VTables: true}},
		{args: []string{"--extbinary", "--output-size-limit=1500"}, opt: WriteOptions{SizeLimit: 1500}},
		{args: []string{"--convert-sample-profile-layout=flat"}, convert: ConvertOptions{Flatten: true}},
		{args: []string{"--convert-sample-profile-layout=nest"}, convert: ConvertOptions{Nest: true}},
		{args: []string{"--sample-trim-cold-context"}, convert: ConvertOptions{TrimCold: true}},
		{args: []string{"--sample-merge-cold-context"}, convert: ConvertOptions{MergeCold: true, ColdFrames: 1}, contexts: true},
		{
			args:    []string{"--sample-merge-cold-context", "--sample-trim-cold-context", "--sample-frame-depth-for-cold-context=2"},
			convert: ConvertOptions{MergeCold: true, TrimCold: true, ColdFrames: 2}, contexts: true,
		},
	} {
		for _, set := range sets {
			m := NewMerger(MergeOptions{LLVMCompat: true})
			for _, name := range set {
				data := oracle.ReadFile(t, filepath.Join(dir, name))
				oracle.Must(m.AddProfile(name, mustRead(t, data), 1))(t)
			}
			p := m.Finish().Profile()
			if mode.contexts && !p.Kind.ContextSensitive {
				continue
			}
			p.Convert(mode.convert)
			var got bytes.Buffer
			err := p.Write(&got, mode.opt)
			args := append(append([]string{"merge", "--sample", "-o", "out"}, mode.args...), set...)
			_, stderr, code := oracle.RunIn(t, dir, llvm, args...)
			if (err != nil) != (code != 0) {
				t.Fatalf("%v: %v, LLVM %d: %s", args, err, code, stderr)
			}
			if err != nil {
				continue
			}
			want := oracle.ReadFile(t, filepath.Join(dir, "out"))
			compared++
			if !bytes.Equal(got.Bytes(), want) {
				t.Errorf("%v: %d bytes differ from LLVM's %d", args, got.Len(), len(want))
			}
		}
	}
	t.Logf("%d outputs compared", compared)
	if compared < 100 {
		t.Errorf("only %d outputs compared", compared)
	}
}
