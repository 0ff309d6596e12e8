package iprof

import (
	"bytes"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/hostile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// checkError demands an error of the file "f", with line and column, that [hostile.Check] accepts.
func checkError(t *testing.T, data []byte, err error) {
	t.Helper()
	if fe := hostile.Check(t, "f", data, err); fe == nil || fe.Offset >= 0 && (fe.Line == 0 || fe.Column == 0) {
		t.Errorf("%q: error without line and column: %v", data, err)
	}
}

// TestTruncation cuts files at every byte: each cut is one, and the place is the end.
func TestTruncation(t *testing.T) {
	for _, name := range []string{"even-odd.iprof", "checks.iprof", "small-0.2.iprof", "unresolved.iprof", "future.iprof"} {
		data := fixture(t, name)
		data = bytes.TrimRight(data, "\n")
		for n, cut := range hostile.Cuts(data, 5) {
			_, err := Read("f", cut, ReaderOptions{})
			var fe *profile.FormatError
			switch {
			case n == 0:
				if !errors.Is(err, profile.ErrEmpty) {
					t.Errorf("%s without its bytes: %v", name, err)
				}
			case !errors.As(err, &fe) || profile.ClassOf(fe) != profile.ErrTruncated || fe.Offset != int64(n):
				t.Errorf("%s cut at %d: %v", name, n, err)
			default:
				checkError(t, cut, err)
			}
			rep := checkOf("f", cut)
			if rep.worst() != broken {
				t.Errorf("%s cut at %d: found %v", name, n, rep.Findings)
			}
		}
	}
}

// TestTruncationNamesTheLastEntry: the message has the last complete entry and the number of the next.
func TestTruncationNamesTheLastEntry(t *testing.T) {
	data := fixture(t, "small.iprof")
	cut := bytes.Index(data, []byte(`{"id":4,"name":"pick"`)) + 10
	_, err := Read("f", data[:cut], ReaderOptions{})
	var fe *profile.FormatError
	if !errors.As(err, &fe) || fe.Section != keyMethods || fe.Record != 3 ||
		!strings.Contains(fe.Got, `last complete entry {"id":3,"name":"<init>","signature":[11,8]}`) {
		t.Errorf("%v", err)
	}
	cut = bytes.Index(data, []byte(`"methods":[`)) + len(`"methods":[{"i`)
	if _, err = Read("f", data[:cut], ReaderOptions{}); !errors.As(err, &fe) || fe.Record != 0 || !strings.Contains(fe.Got, "no entry complete") {
		t.Errorf("%v", err)
	}
}

// TestMutations changes files at random and demands of every result what the fuzz target demands.
func TestMutations(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	pieces := []string{
		`"`, `\`, `{`, `}`, `[`, `]`, `,`, `:`, `<`, `-`, `0`, `-1`, `4294967296`, `9223372036854775808`, `1e3`, `1.5`, `null`, `""`, `{}`, `[]`,
		`"id":1`, `"ctx":"1:0"`, `"records":[1]`, `"1:-6<2:0"`, "\n", "\x00", "\xff", "é", `\u003c`, `"types":[]`, `"version":"1.1.0"`, `"instanceofProfiles":[]`,
	}
	seeds := fixtures(t)
	for _, name := range slices.Sorted(maps.Keys(seeds)) {
		for range 1500 / oracle.Step(10) {
			data := bytes.Clone(seeds[name])
			for range 1 + rng.IntN(3) {
				i := rng.IntN(len(data))
				switch rng.IntN(4) {
				case 0:
					data[i] = byte(rng.Uint32())
				case 1:
					data = slices.Delete(data, i, min(len(data), i+1+rng.IntN(12)))
				case 2:
					data = slices.Insert(data, i, []byte(pick(rng, pieces))...)
				case 3: // a part of it again, elsewhere
					from := data[i:min(len(data), i+1+rng.IntN(60))]
					data = slices.Insert(data, rng.IntN(len(data)), bytes.Clone(from)...)
				}
				if len(data) == 0 {
					break
				}
			}
			checkRead(t, data)
		}
	}
}

// TestEveryMutationOfAByte sets each byte of a small file to others.
func TestEveryMutationOfAByte(t *testing.T) {
	data := []byte(minimal(`,"conditionalProfiles":[{"ctx":"1:0<1:-6","records":[-5,0,1]}],"samplingProfiles":[{"ctx":"1:0","records":[10]}]`))
	for i := 0; i < len(data); i += oracle.Step(3) {
		for _, c := range []byte("\x00\n \"\\{}[],:<-0919aezZ\x7f\x80\xff") {
			mutant := bytes.Clone(data)
			mutant[i] = c
			checkRead(t, mutant)
		}
	}
}

// TestMemory: what hostile files make a reader allocate stays in proportion to their size.
func TestMemory(t *testing.T) {
	const limit = 60 // bytes allocated for each byte of input
	size := 1 << 20
	for name, text := range map[string]string{
		"deep":            strings.Repeat("[", size),
		"deep value":      minimal(`,"x":` + strings.Repeat(`{"a":`, size/5)),
		"braces":          `{"version":"1.0.0","types":[` + strings.Repeat("{", size) + `"}]`,
		"colons":          minimal(`,"samplingProfiles":[` + strings.Repeat(":", size) + "]}]"),
		"commas":          minimal(`,"samplingProfiles":[{"ctx":"1:0","records":[` + strings.Repeat(",", size) + "]}]"),
		"empty entries":   minimal(`,"samplingProfiles":[` + strings.Repeat("{},", size/3) + "{}]"),
		"unknown keys":    minimal(strings.Repeat(`,"x":1`, size/6)),
		"unknown members": minimal(`,"samplingProfiles":[{` + strings.Repeat(`"x":1,`, size/6) + `"ctx":"1:0","records":[1]}]`),
		"long name":       `{"version":"1.0.0","types":[{"id":1,"name":"` + strings.Repeat("é", size/2) + `"}],"methods":[]}`,
		"long context":    minimal(`,"samplingProfiles":[{"ctx":"` + strings.Repeat("1:0<", size/4) + `1:0","records":[1]}]`),
		"many sections":   minimal(strings.Repeat(`,"samplingProfiles":[]`, size/22)),
		"far ids": `{"version":"1.0.0","types":[` + strings.Repeat(`{"id":-2147483648,"name":"a"},{"id":2147483647,"name":"b"},`, size/60) +
			`{"id":0,"name":"c"}],"methods":[]}`,
		"violations": minimal(`,"samplingProfiles":[` + strings.Repeat("1,", size/2) + "1]"),
		"lines":      strings.Repeat("\n", size) + minimal(`,"samplingProfiles":[`+strings.Repeat("1,\n", size/3)+"1]"),
	} {
		t.Run(name, func(t *testing.T) {
			before := hostile.Allocated()
			rep := checkOf("f", []byte(text))
			if p := rep.Profile; p != nil {
				_, _ = Renumber(p)
			}
			if used := hostile.Allocated() - before; used > uint64(limit*len(text)) {
				t.Errorf("%d bytes allocated for %d", used, len(text))
			}
			if len(rep.Findings) > 2*maxViolations {
				t.Errorf("%d findings", len(rep.Findings))
			}
		})
	}
}
