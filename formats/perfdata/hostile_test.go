package perfdata_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/formats/perfdata"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/hostile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// small returns short recordings of all forms: of one with more than a few samples, the first ones.
func small(t testing.TB) map[string][]byte {
	t.Helper()
	text := fixture(t, "hybrid.perfscript")
	text = text[:bytes.Index(text, []byte("PERF_RECORD"))+3000]
	files := map[string][]byte{"text": text}
	for _, big := range []bool{false, true} {
		r := newRecorder()
		if big {
			r.order = binary.BigEndian
		}
		r.features[3], r.features[4] = r.text("host"), r.text("6.1")
		r.features[11] = append(r.halves(nil, 1), r.text("perf")...)
		id := r.record(0, 2|1<<15, append(append(r.halves(nil, ^uint32(0)), make([]byte, 20)...), append([]byte{20, 0, 0, 0}, padded("/bin/t")...)...))
		r.features[2] = id
		r.features[12] = append(append(append(r.halves(nil, 1, 128), r.attr(r.attrs[0])...), r.halves(nil, 1)...), r.text("branches")...)
		r.features[12] = r.words(r.features[12], 100)
		r.mmap2(7, 1000, 0x401000, 0x1000, 0x1000, 5, "/bin/t")
		r.add(3, 1<<13, r.trailer(append(r.halves(nil, 7, 7), padded("t")...), 7, 900, 100))
		r.add(7, 0, r.trailer(r.words(r.halves(nil, 8, 7, 8, 7), 5), 7, 950, 100))
		r.sample(7, 2000, 0x401000, 1, 2, 3, 4, 5, 6)
		r.add(68, 0, nil)
		r.sample(7, 1500, 0x401008, 7, 8, 9)
		r.add(2, 0, r.trailer(r.words(nil, 100, 3), 7, 1600, 100))
		name := fmt.Sprint("big-endian ", big)
		files[name] = r.bytes()
		r.pipe = true
		r.add(71, 0, r.words(nil, 8))
		r.records = append(r.records, make([]byte, 8))
		files[name+", pipe"] = r.bytes()
		r.records = r.records[:len(r.records)-2]
		r.pipe = false
		r.compress(t, 2, 2, 60, 81)
		files[name+", compressed"] = r.bytes()
	}
	return files
}

// readHostile reads damaged data and checks the error and the warnings.
func readHostile(t testing.TB, data []byte) (l journal, facts *perfdata.Facts, err error) {
	t.Helper()
	facts, err = perfdata.Read("a", data, l.handler(), perfdata.Options{Warn: func(w profile.Warning) { hostile.Check(t, "a", data, w.Err) }})
	hostile.Check(t, "a", data, err)
	return l, facts, err
}

// TestCuts: a recording that is cut gives the records before the cut. It is never passed off as whole.
func TestCuts(t *testing.T) {
	for name, data := range small(t) {
		whole, _, err := readHostile(t, data)
		oracle.NoError(t, err)
		step := 1
		if strings.HasSuffix(name, "compressed") {
			step = 7
		}
		for n, cut := range hostile.Cuts(data, step) {
			l, facts, err := readHostile(t, cut)
			if err == nil && facts.Cut == nil && facts.Format != perfdata.FormatScript && !strings.HasSuffix(name, "pipe") {
				// Only the features at the end may be missing, which is a warning.
				if len(l.lines) != len(whole.lines) {
					t.Errorf("%s, %d bytes: %d records of %d", name, n, len(l.lines), len(whole.lines))
				}
			}
			if facts.Format == perfdata.FormatScript {
				continue // half a number is a number
			}
			for _, line := range l.lines {
				if !slices.Contains(whole.lines, line) {
					t.Errorf("%s, %d bytes: %s", name, n, line)
				}
			}
		}
	}
}

// TestFlips: any flipped bit gives an error with a place, or other records.
func TestFlips(t *testing.T) {
	meter := hostile.Meter{PerRead: 8 << 20}
	for name, data := range small(t) {
		step := 13
		if strings.HasSuffix(name, "compressed") {
			step = 61
		}
		for _, flipped := range hostile.Flips(data, step) {
			meter.Read(t, len(flipped))
			readHostile(t, flipped)
		}
	}
}

// TestRealFlips flips bits of real recordings.
func TestRealFlips(t *testing.T) {
	for _, name := range fixtures(t) {
		data := oracle.ReadFile(t, name)
		for _, flipped := range hostile.Flips(data, 4999) {
			readHostile(t, flipped)
		}
		for _, cut := range hostile.Cuts(data, 499) {
			readHostile(t, cut)
		}
	}
}

// TestNoEnd: a recording whose header has no size of the data, because perf was killed, is read to its end.
func TestNoEnd(t *testing.T) {
	r := newRecorder()
	r.sample(7, 1, 2)
	r.sample(7, 2, 3)
	r.noSize = true
	data := r.bytes()
	for _, cut := range []int{0, 5} {
		facts, err := perfdata.Read("a", data[:len(data)-cut], &perfdata.Handler{}, perfdata.Options{})
		oracle.NoError(t, err)
		want := "a: records at 0x170 (record 2): recording is cut short, want a size in its header: truncated profile"
		if cut > 0 {
			want = "a: records at 0x138 (record 1): last record is cut off after 51 bytes, want a whole one: truncated profile"
		}
		if facts.Samples != uint64(2-min(cut, 1)) || facts.Cut == nil || facts.Cut.Error() != want {
			t.Errorf("%d samples, %v\nwant %s", facts.Samples, facts.Cut, want)
		}
	}
}

// TestErrors: what is wrong has a place, a record and what is allowed. What comes before is passed on.
func TestErrors(t *testing.T) {
	one := func(change func(r *recorder)) []byte {
		r := newRecorder()
		r.sample(7, 5, 0x1000)
		change(r)
		return r.bytes()
	}
	sample := func(r *recorder, words ...uint64) []byte {
		return r.words(r.halves(r.words(nil, 100, 1), 7, 7), append([]uint64{9, 1}, words...)...)
	}
	for _, c := range []struct {
		name, want string
		data       []byte
	}{
		{"short record", "records at 0x138 (record 1): size of the record is 4, want at least 8: corrupt", one(func(r *recorder) {
			r.records = append(r.records, []byte{9, 0, 0, 0, 0, 0, 4, 0})
		})},
		{"long record", "records at 0x138 (record 1): last record is cut off after 8 bytes, want a whole one: corrupt", one(func(r *recorder) {
			r.records = append(r.records, []byte{9, 0, 0, 0, 0, 0, 80, 0})
		})},
		{"short sample", "(record 1): size of the sample is too large, want at most the 24 bytes of the record: corrupt", one(func(r *recorder) {
			r.add(9, 2, r.words(nil, 100, 1))
		})},
		{"branches", "(record 1): size of the branch stack is too large, want at most the 80 bytes of the record: corrupt", one(func(r *recorder) {
			r.add(9, 2, sample(r, 2, 3, 4, 5))
		})},
		{"branches that overflow", "size of the branch stack is too large", one(func(r *recorder) { r.add(9, 2, sample(r, 1<<61, 3, 4, 5)) })},
		{"chain", "size of the call chain is too large", one(func(r *recorder) {
			r.attrs[0].sampleType |= sampleChain
			r.records = nil
			r.add(9, 2, sample(r, 1<<61, 3, 4, 5))
		})},
		{"raw", "size of the raw data is too large", one(func(r *recorder) {
			r.attrs[0].sampleType |= sampleRaw
			r.records = nil
			r.add(9, 2, sample(r, 1<<31))
		})},
		{"read", "size of the read values is too large", one(func(r *recorder) {
			r.attrs[0].sampleType |= sampleRead
			r.attrs[0].readFormat = 8
			r.records = nil
			r.add(9, 2, sample(r, 1<<61, 0))
		})},
		{"mapping", "(record 1): size of the record is 48, want at least 72: corrupt", one(func(r *recorder) { r.add(10, 0, r.words(nil, 0, 0, 0, 0, 0)) })},
		{"fork", "(record 1): size of the record is 16, want at least 32: corrupt", one(func(r *recorder) { r.add(7, 0, r.words(nil, 0)) })},
		{"lost", "(record 1): size of the record is 16, want at least 24: corrupt", one(func(r *recorder) { r.add(2, 0, r.words(nil, 0)) })},
		{"nested", "compressed records at 0x138 (record 1): type of the record is 81, want no compressed record in compressed data: corrupt", one(func(r *recorder) {
			r.add(81, 0, nil)
			r.compress(t, 1, 1, 100, 81)
		})},
		{"zstd", "records at 0x138 (record 1): zstd stream is invalid input: magic number mismatch, want a stream that continues: corrupt", one(func(r *recorder) {
			r.add(81, 0, []byte("no stream at all"))
		})},
		{"size of zstd", "records at 0x138 (record 1): size of the compressed data is too large, want at most the 16 bytes of the record: corrupt", one(func(r *recorder) {
			r.add(83, 0, r.words(nil, 9, 0))
		})},
		{"version", "a: version is 1, want 2, which perf writes since Linux 2.6.32: unsupported", []byte("PERFFILE\x00\x00")},
		{"nothing", "a: this is another one, not perf.data or the text of perf script", nil},
		{"size of the header", "header at 0x8: size is 105, want 104, 72 or, from a pipe, 16: corrupt", slices.Replace(one(func(*recorder) {}), 8, 9, 105)},
		{"attributes", "header at 0x10: size of an attribute is 8, want a multiple of 8, at least 80: corrupt", slices.Replace(one(func(*recorder) {}), 16, 17, 8)},
		{"killed", "size of an attribute is 0, want at least 80; perf record did not end properly: truncated", slices.Replace(one(func(*recorder) {}), 16, 17, 0)},
		{"attribute", "attributes at 0x70 (record 0): size of the attribute is 63, want 64 to 128: corrupt", slices.Replace(one(func(*recorder) {}), 0x74, 0x75, 63)},
		{"attribute of a pipe", "records at 0x10 (record 0): size of the attribute is wrong, want 64 to the 8 bytes of the record: corrupt", slices.Concat(
			[]byte("PERFILE2\x10\x00\x00\x00\x00\x00\x00\x00"), []byte{64, 0, 0, 0, 0, 0, 16, 0}, make([]byte, 8))},
	} {
		l, _, err := readHostile(t, c.data)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v\nwant %s", c.name, err, c.want)
		}
		if strings.Contains(c.want, "(record 1)") && len(l.lines) != 1 {
			t.Errorf("%s: %q", c.name, l.lines)
		}
	}
}

// TestBomb: compressed data may not grow without limit, and what is kept of a recording without ends of rounds is limited.
func TestBomb(t *testing.T) {
	r := newRecorder()
	for i := range 1500 { // the greatest time comes first, so nothing could be passed on before the end
		r.sample(7, uint64(1_000_000-i), 1, make([]uint64, 3*2700)...)
	}
	r.compress(t, 0, 10, 60000, 81)
	data := r.bytes()
	before := hostile.Allocated()
	facts, err := perfdata.Read("a", data, &perfdata.Handler{}, perfdata.Options{})
	oracle.NoError(t, err)
	if facts.Late == 0 {
		t.Error("nothing was passed on before the end")
	}
	if used := hostile.Allocated() - before; used > 100<<20 || facts.Samples != 1500 {
		t.Errorf("%d samples, %d bytes allocated", facts.Samples, used)
	}
}

// TestWindow: a stream may have the window of zstd's highest level, which perf record offers, and none that is larger.
func TestWindow(t *testing.T) {
	for window := range byte(32) {
		r := newRecorder()
		r.add(81, 0, append([]byte{0x28, 0xb5, 0x2f, 0xfd, 0, window << 3}, 1, 0, 0))
		before := hostile.Allocated()
		_, err := perfdata.Read("a", r.bytes(), &perfdata.Handler{}, perfdata.Options{})
		if used, large := hostile.Allocated()-before, window > 27-10; used > 144<<20 || large != errors.Is(err, profile.ErrUnsupported) {
			t.Errorf("window %d: %d bytes for an empty recording (%v)", window, used, err)
		}
	}
}

// TestScriptLines: what lines of a text are, and what becomes of those in another form.
func TestScriptLines(t *testing.T) {
	const form = ": corrupt"
	for _, c := range []struct {
		text  string
		want  []string
		facts string // samples, with branches, with chains, unreadable
	}{
		{" 401000 0x1/0x2/P/-/-/1/  0x3/0x4/M/X/A/70000/CALL\n", []string{"401000 [{1 2 18} {3 4 5242877}] []"}, "1 1 0 0"},
		{" 401000 0x1/0x2/P/-/-/1/COND/NON_SPEC_CORRECT_PATH \r\n", []string{"401000 [{1 2 1048594}] []"}, "1 1 0 0"},
		{" 401000 0x1/0x2\n", []string{"401000 [{1 2 0}] []"}, "1 1 0 0"},
		{"5\n 401000 0x1/0x2/P/-/-/1/\n 401000 0x1/0x2/P/-/-/1/\n", []string{"5x 401000 [{1 2 18}] []", "401000 [{1 2 18}] []"}, "6 6 0 0"},
		{"\n\t401000\n\t402000\n 0x1/0x2/P/-/-/1/\n", []string{"401000 [{1 2 18}] [401000 402000]"}, "1 1 1 0"},
		{"12\n\n\t401000\n\t402000\n\n\t403000\n 0x1/0x2/-/-/-/0/\n", []string{"12x 401000 [] [401000 402000]", "403000 [{1 2 0}] [403000]"}, "13 1 13 0"},
		{" 0x1/0x2/-/-/-/0/\n 401000\n 402000\n", []string{"0 [{1 2 0}] []", "401000 [] []", "402000 [] []"}, "3 1 0 0"},
		{" 401000 0x1/0x2/-/-/-/0/  0x3/y/-/-/-/0/  0x5/0x6/-/-/-/0/\n", []string{"401000 [{1 2 0}] []"}, "1 1 0 1"},
		{" 401000 0x1/0x2/-/-/-/0/\nmain 401000 0x1/0x2/-/-/-/0/\n 401000 main 0x1/0x2\n", []string{"401000 [{1 2 0}] []"}, "1 1 0 2"},
		{" 401000 0x11112222333344445/0x2\n 401000 0x1111222233334444/0x0002\n", []string{"401000 [] []", "401000 [{1111222233334444 2 0}] []"}, "2 1 0 1"},
		{"PERF_RECORD_MMAP2 7/8: [0x1000(0x20) @ 0 fe:0a 12 3]: r-xp /a b (deleted)\n", []string{"7/8 1000+20 @ 0 true  fe:a 12 3 5 2 /a b (deleted)"}, "0 0 0 0"},
		{"PERF_RECORD_MMAP2 7/8: [0x1000(0x20) @ 0x10 <0a0b>]: rw-s /a\n", []string{"7/8 1000+20 @ 10 false 0a0b 0:0 0 0 3 1 /a"}, "0 0 0 0"},
		{
			"PERF_RECORD_MMAP -1/0: [0xffffffff81000000(0x10) @ 0xffffffff81000000]: x [kernel.kallsyms]_text\n",
			[]string{"-1/0 ffffffff81000000+10 @ ffffffff81000000 true  0:0 0 0 0 0 [kernel.kallsyms]_text"},
			"0 0 0 0",
		},
		{"PERF_RECORD_MMAP2 7/8: [0x1000(0x20) @ 0x10 <0a0b>]: rw-s\nPERF_RECORD_MMAP2 7/8: []: r /a\n", nil, "0 0 0 0"},
	} {
		var got []string
		facts, err := perfdata.Read("a", []byte(c.text), &perfdata.Handler{
			Sample: func(s *perfdata.Sample) error {
				var branches []string
				for _, b := range s.Branches {
					branches = append(branches, fmt.Sprintf("{%x %x %d}", b.From, b.To, b.Flags))
				}
				line := fmt.Sprintf("%x [%s] [%s]", s.IP, strings.Join(branches, " "), strings.Trim(fmt.Sprintf("%x", s.Chain), "[]"))
				if s.Count != 1 {
					line = fmt.Sprintf("%dx %s", s.Count, line)
				}
				got = append(got, line)
				return nil
			},
			Mapping: func(m *perfdata.Mapping) error {
				got = append(got, fmt.Sprintf("%d/%d %x+%x @ %x %t %x %x:%x %d %d %d %d %s", m.PID, m.TID, m.Addr, m.Len, m.Offset, m.Exec, m.BuildID,
					m.Major, m.Minor, m.Inode, m.Generation, m.Prot, m.Flags, m.File))
				return nil
			},
		}, perfdata.Options{Warn: func(w profile.Warning) {
			if !strings.Contains(w.Err.Error(), form) {
				t.Errorf("%q: %v", c.text, w.Err)
			}
		}})
		oracle.NoError(t, err)
		sums := fmt.Sprint(facts.Samples, facts.Branched, facts.Chained, facts.Unreadable)
		if !slices.Equal(got, c.want) || sums != c.facts {
			t.Errorf("%q:\n%q, %s, want\n%q, %s", c.text, got, sums, c.want, c.facts)
		}
	}
}

// TestDetect: other texts are no scripts.
func TestDetect(t *testing.T) {
	for _, text := range []string{
		"", "\n", "10\n20\n", "main\n1\n2\n3\n", "deadbeef\n10\n5\n", "f\n5\n1\n7\n", "401000\n402000\n", " 401000 main\n", "main:1:2\n 1: 3\n",
		"2\n11a0-11c0:57\n1\n11c0->11a0:57\n", "PERF_RECORD\n", "0x1/0x2/\n"[1:],
	} {
		if f, ok := perfdata.Detect([]byte(text)); ok {
			t.Errorf("%q has form %d", text, f)
		}
	}
	for _, name := range fixtures(t) {
		want := perfdata.FormatFile
		switch base := filepath.Base(name); {
		case strings.HasSuffix(base, "script"):
			want = perfdata.FormatScript
		case strings.HasPrefix(base, "pipe"):
			want = perfdata.FormatPipe
		}
		if f, ok := perfdata.Detect(oracle.ReadFile(t, name)); !ok || f != want {
			t.Errorf("%s has form %d (%t)", name, f, ok)
		}
	}
}

// FuzzRead: errors have places, reading twice gives the same, and what WriteScript writes says the same again.
func FuzzRead(f *testing.F) {
	for _, data := range small(f) {
		f.Add(data)
	}
	f.Add(fixture(f, "branches.perfscript")[:3000])
	f.Fuzz(func(t *testing.T, data []byte) {
		first, facts, err := readHostile(t, data)
		second, _, again := readHostile(t, data)
		if !slices.Equal(first.lines, second.lines) || fmt.Sprint(err) != fmt.Sprint(again) {
			t.Fatalf("the second reading differs: %v, %v", err, again)
		}
		if err != nil {
			return
		}
		var script, other bytes.Buffer
		_, err = perfdata.WriteScript(&script, "a", data, perfdata.Options{})
		oracle.NoError(t, err)
		if form, ok := perfdata.Detect(script.Bytes()); !ok || form != perfdata.FormatScript || strings.ContainsAny(strings.Join(first.lines, ""), "\n\r") {
			return // no mapping and no branches, or a name of two lines
		}
		text, err := perfdata.WriteScript(&other, "a", script.Bytes(), perfdata.Options{})
		if err != nil && !errors.Is(err, profile.ErrUnrecognized) {
			t.Fatal(err)
		}
		if facts.Branches != text.Branches {
			t.Fatalf("%d branches in the recording, %d in its text", facts.Branches, text.Branches)
		}
	})
}
