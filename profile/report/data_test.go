package report

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/profuse-pgo/profuse/test/oracle"
)

// hostile is what names in profiles may be.
var hostile = []string{
	"", "main", "</script><img src=x onerror=alert(1)>", "<!--<script>", "]]>", "a\u2028b\u2029c", "\xff\xfe", "a\x00b", "line\nfeed\r",
	"\u202egnirts", `"'&` + "`", "{{.}}", "${x}", "javascript:alert(1)", "é", "e\u0301", "𝔘𝔫𝔦", "𝔘𝔫𝔧", "\U0001F600\U0001F601",
	strings.Repeat("ns::", 1000) + "f", "\xed\xa0\x80", "…", `\`, `\u0000`, "__proto__", "constructor", "toString",
}

// decodeNames is what frame.js does, strings of JavaScript included.
func decodeNames(t *testing.T, n names) []string {
	out := make([]string, len(n.Order))
	if len(out) == 0 {
		return out
	}
	var name []uint16
	number := 0
	for i, rest := range strings.Split(n.Rest, "\n") {
		if n.Shared[i] > len(name) {
			t.Fatalf("name %d shares %d of %d code units", i, n.Shared[i], len(name))
		}
		name = append(name[:n.Shared[i]:n.Shared[i]], utf16.Encode([]rune(rest))...)
		number += int(n.Order[i])
		out[number] = string(utf16.Decode(name))
	}
	return out
}

// decodeBlock reads a block as the browser does.
func decodeBlock(t *testing.T, b block, to any) {
	t.Helper()
	text := b.text
	if b.mime == gzipBlock {
		packed, err := base64.StdEncoding.DecodeString(string(text))
		oracle.NoError(t, err)
		z, err := gzip.NewReader(bytes.NewReader(packed))
		oracle.NoError(t, err)
		if text, err = io.ReadAll(z); err != nil {
			t.Fatal(err)
		}
	}
	oracle.NoError(t, json.Unmarshal(text, to))
}

// checkNames adds names to a table and reads them back.
func checkNames(t *testing.T, list []string) {
	t.Helper()
	table := newNameTable()
	numbers := make([]int, len(list))
	for i, name := range list {
		numbers[i] = table.add(name)
	}
	b := oracle.Must(encodeBlock("data", table.encode()))(t)
	if bytes.ContainsAny(b.text, "<>&") || !utf8.Valid(b.text) {
		t.Error("the block could end its element")
	}
	var n names
	decodeBlock(t, b, &n)
	got := decodeNames(t, n)
	if len(got) != len(table.Keys) {
		t.Fatalf("%d names, want %d", len(got), len(table.Keys))
	}
	for i, name := range list {
		if got[numbers[i]] != clean(name) {
			t.Fatalf("%q became %q", name, got[numbers[i]])
		}
		if again := table.add(name); again != numbers[i] {
			t.Fatalf("%q is number %d, and then %d", name, numbers[i], again)
		}
	}
}

func TestNames(t *testing.T) {
	checkNames(t, nil)
	checkNames(t, []string{""})
	checkNames(t, hostile)
	for _, name := range hostile {
		checkNames(t, []string{name})
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 / oracle.Step(3) {
		var list []string
		for range random.IntN(60) {
			// Pieces in common, cut anywhere: within a character as well.
			a, b := hostile[random.IntN(len(hostile))], hostile[random.IntN(len(hostile))]
			list = append(list, a[:random.IntN(len(a)+1)]+b[random.IntN(len(b)+1):])
		}
		checkNames(t, list)
	}
}

// Names in order take little more than what tells them apart.
func TestNamesAreShort(t *testing.T) {
	table, bytes := newNameTable(), 0
	prefix := strings.Repeat("ns::", 50)
	for i := range 1000 {
		name := prefix + string(rune('a'+i/100)) + string(rune('a'+i/10%10)) + string(rune('a'+i%10))
		table.add(name)
		bytes += len(name)
	}
	if n := table.encode(); len(n.Rest)*20 > bytes {
		t.Errorf("%d bytes became %d", bytes, len(n.Rest))
	}
}

func TestCleanIsVisible(t *testing.T) {
	for _, tc := range []struct{ in, want string }{
		{"a b", "a b"}, {"a\nb", `a\nb`}, {"\u202eabc", `\u202eabc`}, {"\xff", `\xff`}, {`say "x"` + "\t", `say "x"\t`}, {"é𝔘", "é𝔘"},
	} {
		if got := clean(tc.in); got != tc.want {
			t.Errorf("clean(%q) = %q, want %q", tc.in, got, tc.want)
		}
	}
	for _, name := range hostile {
		if got := clean(name); clean(got) != got {
			t.Errorf("%q is cleaned to %q, which is cleaned to %q", name, got, clean(got))
		}
	}
}

// A struct that is written field by field is the JSON of encoding/json.
func TestBlocksOfStructs(t *testing.T) {
	type data struct {
		Numbers []uint64  `json:"numbers"`
		Hashes  hexColumn `json:"hashes"`
		None    hexColumn `json:"none"`
		Empty   []int     `json:"empty,omitempty"`
		Flag    bool      `json:"flag,omitempty"`
		Inner   *names    `json:"inner,omitempty"`
		Lines   []int32   `json:"lines,omitempty"`
	}
	for _, d := range []any{
		data{},
		&data{Empty: []int{}}, &data{[]uint64{1, 1 << 63}, hexColumn{0, 255, 1 << 63}, hexColumn{}, []int{0}, true, &names{Rest: hostile[0]}, []int32{-1}},
		documentFacts{Sets: []setFacts{{Label: hostile[0]}}},
		[]int(nil), nil,
	} {
		want, err := json.Marshal(d)
		oracle.NoError(t, err)
		b, err := encodeBlock("data", d)
		if err != nil || string(b.text) != string(want) {
			t.Errorf("%s, %v, want %s", b.text, err, want)
		}
	}
	if _, err := encodeBlock("data", struct{ F func() }{}); err == nil {
		t.Error("a function has been written")
	}
}

func TestBlocks(t *testing.T) {
	for _, n := range []int{1, 100, 100_000 / oracle.Step(5)} {
		data := make([]string, n)
		for i := range data {
			data[i] = hostile[i%len(hostile)]
		}
		b := oracle.Must(encodeBlock("data", data))(t)
		want := plainBlock
		if n > 10_000 {
			want = gzipBlock
		}
		if b.mime != want {
			t.Errorf("%d names: %s, want %s", n, b.mime, want)
		}
		if bytes.ContainsAny(b.text, "<>&\u2028\u2029") {
			t.Errorf("%d names: the block could end its element", n)
		}
		var got []string
		decodeBlock(t, b, &got)
		for i := range got {
			if utf8.ValidString(data[i]) && got[i] != data[i] {
				t.Fatalf("%q became %q", data[i], got[i])
			}
		}
	}
}
