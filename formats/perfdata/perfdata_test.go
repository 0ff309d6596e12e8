package perfdata_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/profuse-pgo/profuse/formats/perfdata"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

var update = flag.Bool("update", false, "make the recordings with branches in testdata/perf")

// fixtures returns the names of the recordings in testdata/perf, and of the texts.
func fixtures(t testing.TB) (names []string) {
	t.Helper()
	for _, pattern := range []string{"*.perf.data", "*.perfscript"} {
		found, err := filepath.Glob(filepath.Join(oracle.Root(t), "testdata", "perf", pattern))
		oracle.NoError(t, err)
		names = append(names, found...)
	}
	if len(names) < 10 {
		t.Fatalf("only %d recordings", len(names))
	}
	return names
}

func fixture(t testing.TB, name string) []byte {
	t.Helper()
	return oracle.ReadFile(t, oracle.Testdata(t, "perf/"+name)[0])
}

// A journal has the records that a handler received, as text.
type journal struct {
	lines []string
	stop  int // records after which the handler returns an error
}

var errStop = errors.New("enough")

func (l *journal) add(what string, record any) error {
	l.lines = append(l.lines, fmt.Sprintf("%s %+v", what, reflect.ValueOf(record).Elem().Interface()))
	if l.stop > 0 && len(l.lines) >= l.stop {
		return errStop
	}
	return nil
}

func (l *journal) handler() *perfdata.Handler {
	return &perfdata.Handler{
		Sample:  func(s *perfdata.Sample) error { return l.add("sample", s) },
		Mapping: func(m *perfdata.Mapping) error { return l.add("mapping", m) },
		Command: func(c *perfdata.Command) error { return l.add("command", c) },
		Fork:    func(t *perfdata.Task) error { return l.add("fork", t) },
		Exit:    func(t *perfdata.Task) error { return l.add("exit", t) },
		Lost:    func(p *perfdata.Lost) error { return l.add("lost", p) },
	}
}

// read returns what a handler receives of a recording that is sound.
func read(t testing.TB, data []byte) ([]string, *perfdata.Facts) {
	t.Helper()
	var l journal
	facts, err := perfdata.Read("a", data, l.handler(), perfdata.Options{Warn: func(w profile.Warning) { t.Error(w) }})
	oracle.NoError(t, err)
	return l.lines, facts
}

// ofText makes a recording of the mappings and samples of a text.
func ofText(t testing.TB, text []byte, chains bool) *recorder {
	t.Helper()
	r := newRecorder()
	if chains {
		r.attrs[0].sampleType |= sampleChain
	}
	time := uint64(1_000_000)
	_, err := perfdata.Read("text", text, &perfdata.Handler{
		Mapping: func(m *perfdata.Mapping) error {
			r.mmap2(uint32(m.PID), time, m.Addr, m.Len, m.Offset, m.Prot, m.File)
			return nil
		},
		Sample: func(s *perfdata.Sample) error {
			time += 10_000
			b := r.words(r.halves(r.words(nil, 100, s.IP), 100, 100), time, 1000003)
			if chains {
				const user = 0xffff_ffff_ffff_fe00 // PERF_CONTEXT_USER
				b = r.words(r.words(b, uint64(len(s.Chain)+1), user), s.Chain...)
			}
			b = r.words(b, uint64(len(s.Branches)))
			for _, branch := range s.Branches {
				b = r.words(b, branch.From, branch.To, branch.Flags)
			}
			r.add(9, 2, b)
			return nil
		},
	}, perfdata.Options{})
	oracle.NoError(t, err)
	r.features[3], r.features[4], r.features[5] = r.text("host"), r.text("6.1.0"), r.text("6.1.187")
	r.features[6] = r.text("x86_64")
	r.features[11] = append(append(r.halves(nil, 2), r.text("perf")...), r.text("record")...)
	r.features[12] = append(append(append(r.halves(nil, 1, 128), r.attr(r.attrs[0])...), r.halves(nil, 1)...), r.text("branches:u")...)
	r.features[12] = r.words(r.features[12], 100)
	r.features[15] = nil
	return r
}

// troubled returns a recording with everything that "profuse check" remarks.
func troubled() *recorder {
	r := newRecorder()
	r.attrs[0].branchSample = 1 | 1<<4 // calls
	second := r.attrs[0]
	second.ids = []uint64{200}
	r.attrs = append(r.attrs, second)
	mmap := func(time, addr uint64, id byte, file string) {
		b := r.words(r.halves(nil, 7, 7), addr, 0x1000, 0)
		b = append(append(b, 20, 0, 0, 0), bytes.Repeat([]byte{id}, 20)...)
		r.add(10, 2|1<<14, r.trailer(append(r.halves(b, 5, 2), padded(file)...), 7, time, 100))
	}
	mmap(10, 0x401000, 0xaa, "/bin/rebuilt")
	mmap(11, 0x402000, 0xbb, "/bin/other")
	mmap(12, 0x403000, 0xcc, "/bin/rebuilt")
	r.sample(7, 20, 0x401010, 1, 2, 3)
	r.sample(7, 21, 0x402010)
	r.sample(7, 22, 0x999999, 1, 2, 3)
	r.add(9, 2, r.words(r.halves(r.words(nil, 300, 1), 7, 7), 23, 1, 0))
	r.add(2, 0, r.trailer(r.words(nil, 200, 5), 7, 24, 200))
	r.add(13, 0, r.trailer(r.words(nil, 6), 7, 25, 200))
	r.add(68, 0, nil)
	r.add(68, 0, nil)
	r.sample(7, 19, 0x401020, 1, 2, 3)
	id := append(append(r.halves(nil, ^uint32(0)), bytes.Repeat([]byte{0xdd}, 20)...), 20, 0, 0, 0)
	r.features[2] = r.record(0, 2|1<<15, append(id, padded("/bin/other")...))
	return r
}

// TestFixtures: the recordings with branches equal the texts; a file, a pipe, and compressed records of both
// kinds give the same records.
func TestFixtures(t *testing.T) {
	nothing := newRecorder()
	nothing.add(68, 0, nil)
	for name, r := range map[string]*recorder{"troubled": troubled(), "nothing": nothing} {
		path := oracle.Testdata(t, "perf/"+name+".perf.data")[0]
		if *update {
			oracle.WriteFile(t, path, r.bytes())
		}
		if !bytes.Equal(r.bytes(), oracle.ReadFile(t, path)) {
			t.Errorf("%s: -update makes another file", path)
		}
	}
	for _, name := range []string{"branches", "hybrid"} {
		text := fixture(t, name+".perfscript")
		r := ofText(t, text, name == "hybrid")
		file := r.bytes()
		path := oracle.Testdata(t, "perf/"+name+".perf.data")[0]
		if *update {
			oracle.WriteFile(t, path, file)
		}
		if !bytes.Equal(file, oracle.ReadFile(t, path)) {
			t.Errorf("%s: -update makes another file", path)
		}
		lines, facts := read(t, file)
		if len(lines) != 41 || facts.Samples != 40 || facts.Branched != 40 || facts.Branches != 40*32 || facts.Mappings != 1 {
			t.Errorf("%s: %d records, %+v", name, len(lines), facts)
		}
		if got := facts.Events[0]; got.Name != "branches:u" || got.Samples != 40 || facts.Host != "host" || facts.Arch != "x86_64" ||
			!slices.Equal(facts.CommandLine, []string{"perf", "record"}) {
			t.Errorf("%s: %+v", name, facts)
		}
		for _, kind := range []uint32{81, 83} {
			for _, cut := range []int{1, 7, 300, 50000} {
				packed := ofText(t, text, name == "hybrid")
				packed.compress(t, 1, 7, cut, kind)
				packed.pipe = cut == 300
				got, _ := read(t, packed.bytes())
				if diff := cmp.Diff(lines, got); diff != "" {
					t.Fatalf("%s, records of type %d with %d bytes: %s", name, kind, cut, diff)
				}
			}
		}
	}
}

// TestScript: what WriteScript writes is read as the same text, and equals the text that a recording was made from.
func TestScript(t *testing.T) {
	for _, name := range []string{"branches", "hybrid"} {
		var first, second, third bytes.Buffer
		_, err := perfdata.WriteScript(&first, "a", fixture(t, name+".perf.data"), perfdata.Options{})
		oracle.NoError(t, err)
		_, err = perfdata.WriteScript(&second, "a", first.Bytes(), perfdata.Options{})
		oracle.NoError(t, err)
		_, err = perfdata.WriteScript(&third, "a", fixture(t, name+".perfscript"), perfdata.Options{})
		oracle.NoError(t, err)
		if !bytes.Equal(first.Bytes(), second.Bytes()) || !bytes.Equal(second.Bytes(), bytes.ReplaceAll(third.Bytes(), []byte("00:00 0 0"), []byte("fe:00 10019070 0"))) {
			t.Errorf("%s: \n%.3000s\n%.3000s\n%.3000s", name, first.Bytes(), second.Bytes(), third.Bytes())
		}
	}
}

// TestVariants: big-endian recordings, attributes of all sizes, and the fields around the branches.
func TestVariants(t *testing.T) {
	stack := []uint64{0x401100, 0x401200, 1 | 7<<4 | 4<<20, 0x401300, 0x401000, 2 | 1<<3 | 500<<4}
	const all = sampleIP | sampleTID | sampleTime | samplePeriod | sampleBranches
	body := func(r *recorder, before, between, behind []uint64) []byte {
		b := r.words(r.halves(r.words(nil, before...), 7, 8), 5000, 3)
		b = r.words(r.words(b, between...), 2)
		if r.attrs[0].branchSample&(1<<17) != 0 {
			b = r.words(b, ^uint64(0))
		}
		for i, w := range stack {
			if i%3 == 2 && r.order.String() == "BigEndian" {
				w = map[uint64]uint64{
					stack[2]: 1<<63 | 7<<44 | 4<<40, stack[5]: 1<<62 | 1<<60 | 500<<44,
				}[w]
			}
			b = r.words(b, w)
		}
		return r.words(b, behind...)
	}
	const want = "sample {PID:7 TID:8 Time:5000 IP:4198400 Event:0 Period:3 Count:1 Mode:2 Branches:[{From:4198656 To:4198912 Flags:4194417} {From:4199168 To:4198400 Flags:8010}] Chain:[%s]}"
	for _, c := range []struct {
		name                    string
		size                    int
		sampleType, read        uint64
		branch                  uint64
		before, between, behind []uint64
		chain                   string
	}{
		{name: "plain", before: []uint64{0x401000}},
		{name: "attr-80", size: 80, before: []uint64{0x401000}},
		{name: "attr-136", size: 136, before: []uint64{0x401000}},
		{name: "attr-200", size: 200, before: []uint64{0x401000}},
		{name: "hw_idx", branch: 1 << 17, before: []uint64{0x401000}},
		{name: "counters", branch: 1 << 19, before: []uint64{0x401000}, behind: []uint64{1, 2}},
		{name: "identifier", sampleType: sampleIdentifier, before: []uint64{100, 0x401000}},
		{name: "chain", sampleType: sampleChain, before: []uint64{0x401000}, between: []uint64{2, 0xffff_ffff_ffff_fe00, 0x401000}, chain: "18446744073709551104 4198400"},
		{name: "chain-deferred", sampleType: sampleChain, before: []uint64{0x401000}, between: []uint64{3, 0xffff_ffff_8100_0000, 0xffff_ffff_ffff_fd80, 77}, chain: "18446744071578845184"},
		{name: "read", sampleType: sampleRead, read: 1 | 2 | 4 | 16, before: []uint64{0x401000}, between: []uint64{1, 2, 3, 4, 5}},
		{name: "read-group", sampleType: sampleRead, read: 1 | 4 | 8, before: []uint64{0x401000}, between: []uint64{2, 9, 1, 2, 3, 4}},
		{name: "raw", sampleType: sampleRaw, before: []uint64{0x401000}, between: []uint64{12 | 5<<32, 6}},
		{name: "behind", sampleType: 1<<12 | 1<<14, before: []uint64{0x401000}, behind: []uint64{0, 5}},
	} {
		for _, big := range []bool{false, true} {
			if big && c.name == "raw" {
				c.between = []uint64{12<<32 | 5, 6}
			}
			t.Run(fmt.Sprint(c.name, "-", big), func(t *testing.T) {
				r := newRecorder()
				if big {
					r.order = binary.BigEndian
				}
				a := &r.attrs[0]
				a.sampleType, a.readFormat, a.branchSample = all|c.sampleType, c.read, c.branch
				a.size = max(c.size, 128)
				if c.size == 80 {
					a.size = 80
				}
				r.add(9, 2, body(r, c.before, c.between, c.behind))
				lines, facts := read(t, r.bytes())
				if w := fmt.Sprintf(want, c.chain); len(lines) != 1 || lines[0] != w || facts.BigEndian != big {
					t.Errorf("%q\nwant %q", lines, w)
				}
			})
		}
	}
}

// TestEvents: a record belongs to the event with its id. Samples of events that the recording does not describe are counted.
func TestEvents(t *testing.T) {
	r := newRecorder()
	r.attrs = []attr{
		{128, sampleIP | sampleID, 0, 0, true, []uint64{5, 6}},
		{128, sampleIP | sampleID | samplePeriod, 0, 0, true, []uint64{7}},
	}
	r.add(9, 2, r.words(nil, 0x1000, 6))
	r.add(9, 2, r.words(nil, 0x2000, 7, 30))
	r.add(9, 2, r.words(nil, 0x3000, 8))
	r.add(9, 2, r.words(nil, 0x4000, 0)) // perf's own
	r.add(2, 0, r.words(nil, 7, 11, 7))
	r.add(13, 0, r.words(nil, 12, 6))
	for _, pipe := range []bool{false, true} {
		r.pipe = pipe
		lines, facts := read(t, r.bytes())
		want := []string{
			"sample {PID:-1 TID:-1 Time:0 IP:4096 Event:0 Period:0 Count:1 Mode:2 Branches:[] Chain:[]}",
			"sample {PID:-1 TID:-1 Time:0 IP:8192 Event:1 Period:30 Count:1 Mode:2 Branches:[] Chain:[]}",
			"sample {PID:-1 TID:-1 Time:0 IP:16384 Event:0 Period:0 Count:1 Mode:2 Branches:[] Chain:[]}",
			"lost {Event:1 Count:11 Samples:false Time:0}",
			"lost {Event:0 Count:12 Samples:true Time:0}",
		}
		if diff := cmp.Diff(want, lines); diff != "" {
			t.Error(diff)
		}
		if facts.UnknownIDs != 1 || facts.LostRecords != 11 || facts.LostSamples != 12 || facts.Events[0].Samples != 2 || facts.Events[1].Samples != 1 {
			t.Errorf("%+v", facts)
		}
	}
}

// TestOrder: records come by time as far as the ends of rounds tell, equal times in the order of the file, records
// without time at once.
func TestOrder(t *testing.T) {
	times := func(all bool, of ...uint64) string {
		r := newRecorder()
		r.attrs[0].idAll = all
		for i, time := range of {
			if time == round {
				r.add(68, 0, nil)
			} else {
				r.sample(7, time, uint64(i))
			}
		}
		var got []string
		facts, err := perfdata.Read("a", r.bytes(), &perfdata.Handler{Sample: func(s *perfdata.Sample) error {
			got = append(got, fmt.Sprintf("%d/%d", s.Time, s.IP))
			return nil
		}}, perfdata.Options{})
		oracle.NoError(t, err)
		if facts.Late > 0 {
			got = append(got, fmt.Sprint("late ", facts.Late))
		}
		return strings.Join(got, " ")
	}
	for _, c := range []struct {
		times []uint64
		want  string
	}{
		{[]uint64{1, 2, 3}, "1/0 2/1 3/2"},
		{[]uint64{5, 6, 1, 2, 6, 5}, "1/2 2/3 5/0 5/5 6/1 6/4"},
		{[]uint64{3, 3, 2, 3, 2}, "2/2 2/4 3/0 3/1 3/3"},
		{[]uint64{9, 0, 8}, "0/1 8/2 9/0"},
		{[]uint64{4, round, 9, 3, round, 5, 8, round, 2}, "3/3 4/0 5/5 8/6 9/2 2/8 late 1"},
		{[]uint64{4, round, 9, round, 3, round, 7}, "4/0 3/4 9/2 7/6 late 2"},
	} {
		if got := times(true, c.times...); got != c.want {
			t.Errorf("%v: %s, want %s", c.times, got, c.want)
		}
	}
	// If other records than samples have no time, the order of the file counts.
	if got, want := times(false, 5, 6, 1, round, 2), "5/0 6/1 1/2 2/4"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

const round = 1 << 40

// TestStop: an error of the handler ends the reading, whatever the record.
func TestStop(t *testing.T) {
	for _, name := range fixtures(t) {
		data := oracle.ReadFile(t, name)
		all, _ := read(t, data)
		for _, stop := range []int{1, 5, len(all)} {
			if stop > len(all) || stop == 0 {
				continue
			}
			l := journal{stop: stop}
			_, err := perfdata.Read("a", data, l.handler(), perfdata.Options{})
			if !errors.Is(err, errStop) || len(l.lines) != stop {
				t.Errorf("%s: %d of %d records, %v", filepath.Base(name), len(l.lines), stop, err)
			}
		}
	}
}

// TestAllocations: the record loop allocates nothing.
func TestAllocations(t *testing.T) {
	allocated := func(n int) float64 {
		r := newRecorder()
		for i := range n {
			r.sample(7, uint64(1000+i), 1, 2, 3, 4)
		}
		data := r.bytes()
		return testing.AllocsPerRun(5, func() {
			_, err := perfdata.Read("a", data, &perfdata.Handler{}, perfdata.Options{})
			oracle.NoError(t, err)
		})
	}
	if few, many := allocated(10), allocated(10000); few != many {
		t.Errorf("%v allocations for 10 samples, %v for 10000", few, many)
	}
}

func TestMain(m *testing.M) { oracle.Main(m) }
