package profgen_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/profuse-pgo/profuse/formats/perfdata"
	"github.com/profuse-pgo/profuse/profgen"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// A recorder builds a perf.data whose samples have an address, a process and branches.
type recorder struct{ records []byte }

func (r *recorder) add(kind uint32, body []byte) {
	le := binary.LittleEndian
	for len(body)%8 != 0 {
		body = append(body, 0)
	}
	r.records = le.AppendUint32(r.records, kind)
	r.records = le.AppendUint16(r.records, 2) // user code
	r.records = le.AppendUint16(r.records, uint16(8+len(body)))
	r.records = append(r.records, body...)
}

// pack returns numbers of 32 and 64 bits in little-endian order.
func pack(numbers ...any) (data []byte) {
	for _, n := range numbers {
		data, _ = binary.Append(data, binary.LittleEndian, n)
	}
	return data
}

func (r *recorder) mapFile(pid uint32, addr, size, offset uint64, file string) {
	const protection, private = uint32(5), uint32(2) // r-xp
	body := pack(pid, pid, addr, size, offset, uint32(0), uint32(0), uint64(0), uint64(0), protection, private)
	r.add(10, append(append(body, file...), 0))
}

func (r *recorder) fork(pid, parent uint32) { r.add(7, pack(pid, parent, pid, parent, uint64(0))) }

func (r *recorder) sample(pid uint32, bias uint64, s *perfdata.Sample) {
	body := pack(s.IP+bias, pid, pid, uint64(len(s.Branches)))
	for _, b := range s.Branches {
		body = append(body, pack(b.From+bias, b.To+bias, uint64(2))...)
	}
	r.add(9, body)
}

func (r *recorder) file() []byte {
	const header, attr, sampleType, branchAny = 104, 128, 1<<0 | 1<<1 | 1<<11, 1 << 3
	event := make([]byte, attr)
	copy(event, pack(uint32(0), uint32(attr)))
	copy(event[24:], pack(uint64(sampleType)))
	copy(event[72:], pack(uint64(branchAny)))
	data := append([]byte("PERFILE2"), pack(uint64(header), uint64(attr+16), uint64(header), uint64(attr+16),
		uint64(header+attr+16), uint64(len(r.records)), uint64(0), uint64(0), [4]uint64{})...)
	return append(append(append(data, event...), pack(uint64(0), uint64(0))...), r.records...)
}

// TestProcesses: samples of processes that have mapped the program at different addresses, or were forked, add up as
// if there were one process. Samples of a process that mapped another file there do not count.
func TestProcesses(t *testing.T) {
	p := open(t, "clang")
	var r recorder
	const start, size = 0x201000, 0x1000
	biases := map[uint32]uint64{1: 0, 2: 0x7000_0000_0000, 3: 0x7000_0000_0000} // 3 is a child of 2
	r.mapFile(1, start, size, 0, "/opt/clang")
	r.mapFile(2, start+biases[2], size, 0, "/srv/clang")
	r.fork(3, 2)
	r.mapFile(2, start, size, 0, "/opt/other") // its child has no such mapping
	r.mapFile(4, start, size, 0, "/opt/other")
	n := uint64(0)
	text := fixture(t, "short.script")
	_, err := perfdata.Read(text, oracle.ReadFile(t, text), &perfdata.Handler{Sample: func(s *perfdata.Sample) error {
		pid := uint32(n%3) + 1
		n++
		r.sample(pid, biases[pid], s)
		if n%10 == 0 {
			r.sample(4, 0, s)
		}
		return nil
	}}, perfdata.Options{})
	oracle.NoError(t, err)
	c, account, err := p.ReadRecording("x", r.file(), nil)
	oracle.NoError(t, err)
	var b bytes.Buffer
	oracle.NoError(t, c.WriteUnsymbolized(&b, p.Base))
	if want := oracle.ReadFile(t, fixture(t, "short.unsym")); !bytes.Equal(b.Bytes(), want) {
		t.Errorf("got\n%swant\n%s", b.Bytes(), want)
	}
	want := profgen.Account{Samples: n + n/10, Program: n, Other: n / 10, Used: n, Mapped: true, Faults: profgen.Faults{Runs: 930}}
	if account.Samples != want.Samples || account.Program != want.Program || account.Other != want.Other || account.Used != want.Used ||
		!account.Mapped || account.Faults != want.Faults {
		t.Errorf("account %+v, want %+v", *account, want)
	}
}
