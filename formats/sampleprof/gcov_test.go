package sampleprof

import (
	"strings"
	"testing"
)

// gcovProfile builds a profile in the gcov format: main with an inlined and a called function.
func gcovProfile() []byte {
	b := []byte(magicGCov)
	word := func(values ...uint32) {
		for _, v := range values {
			b = le.AppendUint32(b, v)
		}
	}
	long := func(v uint64) { word(uint32(v), uint32(v>>32)) }
	names := []string{"main", "inlined", "called"}
	word(0, tagNames, 0, uint32(len(names)))
	for _, name := range names {
		padded := name + "\x00\x00\x00\x00"[:4-len(name)%4]
		word(uint32(len(padded) / 4))
		b = append(b, padded...)
	}
	word(tagFunctions, 0, 2)
	long(7)       // head
	word(0, 1, 1) // main: one position, one callsite
	word(3<<16|2, 1)
	long(1 << 33)
	word(targetKind)
	long(2)
	long(5)
	word(4<<16, 1, 1, 0) // inlined at line 4
	word(1<<16, 0)
	long(11)
	long(5)
	word(2, 1, 0)
	word(1<<16, 0)
	long(9)
	return b
}

const gcovText = `main:8589934603:7
 3.2: 8589934592 called:5
 4: inlined:11
  1: 11
called:9:5
 1: 9
`

func TestGCov(t *testing.T) {
	if got := mustWrite(t, mustRead(t, gcovProfile()), WriteOptions{Format: FormatText}); string(got) != gcovText {
		t.Errorf("%s", got)
	}
	for n := range gcovProfile() {
		if n < len(magicGCov) {
			continue
		}
		if _, err := Read("", gcovProfile()[:n], ReaderOptions{}); err == nil {
			t.Errorf("read the first %d bytes", n)
		}
	}
}

// TestGCovDamaged: errors name the damaged field; a function that occurs twice counts once.
func TestGCovDamaged(t *testing.T) {
	for word, want := range map[int]string{
		1: "tag is 0x9, want", 13: "tag is 0x9, want", 18: "name is 9, want less than 3, the number of names", 25: "kind of targets is 9, want",
	} {
		data := gcovProfile()
		le.PutUint32(data[len(magicGCov)+4*word:], 9)
		if _, err := Read("", data, ReaderOptions{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("word %d: error %v, want %q", word, err, want)
		}
	}
	// Both functions have one name: of the second, only the head counts.
	data := gcovProfile()
	le.PutUint32(data[len(data)-28:], 0)
	const want = "main:8589934603:12\n 3.2: 8589934592 called:5\n 4: inlined:11\n  1: 11\n"
	if got := mustWrite(t, mustRead(t, data), WriteOptions{Format: FormatText}); string(got) != want {
		t.Errorf("%s", got)
	}
}
