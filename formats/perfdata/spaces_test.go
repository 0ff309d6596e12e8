package perfdata_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/formats/perfdata"
	"github.com/profuse-pgo/profuse/test/hostile"
)

// TestSpaces compares address spaces with arrays that say for each address what is mapped there.
func TestSpaces(t *testing.T) {
	const size, processes = 40, 4
	type place struct {
		value  int
		offset uint64
	}
	random := rand.New(rand.NewPCG(3, 3))
	for round := range 200 {
		var spaces perfdata.Spaces[int]
		var want [processes + 1][size]*place // the kernel is the last
		var log []string
		for step := range 40 {
			pid, other := random.IntN(processes), random.IntN(processes)
			switch n := random.IntN(10); {
			case n < 6:
				who := int32(pid)
				if n == 0 {
					pid, who = processes, perfdata.Kernel
				}
				addr, length, offset := random.IntN(size), random.IntN(12), random.Uint64N(1000)
				length = min(length, size-addr)
				spaces.Map(&perfdata.Mapping{PID: who, Addr: uint64(addr), Len: uint64(length), Offset: offset}, step)
				log = append(log, fmt.Sprintf("map %d %d+%d", who, addr, length))
				for i := range length {
					want[pid][addr+i] = &place{step, offset + uint64(i)}
				}
			case n < 8 && pid != other:
				spaces.Fork(&perfdata.Task{PID: int32(pid), Parent: int32(other)})
				log = append(log, fmt.Sprintf("fork %d of %d", pid, other))
				want[pid] = want[other]
			case n == 8:
				spaces.Exec(&perfdata.Command{PID: int32(pid), Exec: true})
				log = append(log, fmt.Sprint("exec ", pid))
				want[pid] = [size]*place{}
			default:
				spaces.Exit(&perfdata.Task{PID: int32(pid), TID: int32(pid)})
				log = append(log, fmt.Sprint("exit ", pid))
				want[pid] = [size]*place{}
			}
			for pid := range processes {
				for addr := range size {
					value, offset, ok := spaces.Find(int32(pid), uint64(addr))
					w := want[pid][addr]
					if w == nil {
						w = want[processes][addr]
					}
					if ok != (w != nil) || ok && (*w != place{value, offset}) {
						t.Fatalf("round %d: process %d, address %d: %d at %d (%t), want %v\n%s", round, pid, addr, value, offset, ok, w, strings.Join(log, "\n"))
					}
				}
			}
		}
	}
}

// TestManyMappings: in a process with many mappings, a mapping takes little time, and covers any number of others.
func TestManyMappings(t *testing.T) {
	const n = 50_000
	for _, down := range []bool{false, true} {
		var spaces perfdata.Spaces[int]
		for i := range n {
			if down {
				i = n - 1 - i
			}
			spaces.Map(&perfdata.Mapping{PID: 1, Addr: uint64(i) << 12, Len: 1 << 12}, i)
		}
		for i := range n {
			if v, _, ok := spaces.Find(1, uint64(i)<<12+7); !ok || v != i {
				t.Fatal(i, v, ok)
			}
		}
		spaces.Map(&perfdata.Mapping{PID: 1, Addr: 100<<12 + 5, Len: (n - 200) << 12}, -1)
		for i, want := range map[uint64]int{100<<12 + 4: 100, 100<<12 + 5: -1, (n-100)<<12 + 4: -1, (n-100)<<12 + 5: n - 100, n<<12 - 1: n - 1} {
			if v, _, ok := spaces.Find(1, i); !ok || v != want {
				t.Error(i, v, ok, want)
			}
		}
	}
}

// TestSpacesWrap: a mapping that goes beyond the last address is none; one may end there.
func TestSpacesWrap(t *testing.T) {
	var spaces perfdata.Spaces[int]
	spaces.Map(&perfdata.Mapping{PID: 1, Addr: 1 << 63, Len: 1<<63 + 1}, 1)
	if _, _, ok := spaces.Find(1, 1<<63); ok {
		t.Error("found a mapping that wraps")
	}
	spaces.Map(&perfdata.Mapping{PID: 1, Addr: 1 << 63, Len: 1 << 63}, 2)
	if v, offset, ok := spaces.Find(1, 1<<64-1); v != 2 || offset != 1<<63-1 || !ok {
		t.Error(v, offset, ok)
	}
}

// TestSpacesForks: many forks of a process with many mappings cost memory in proportion to the records.
func TestSpacesForks(t *testing.T) {
	var spaces perfdata.Spaces[int]
	for i := range 10_000 {
		spaces.Map(&perfdata.Mapping{PID: 1, Addr: uint64(i) << 12, Len: 1 << 12}, i)
	}
	before := hostile.Allocated()
	for i := range int32(10_000) {
		spaces.Fork(&perfdata.Task{PID: 2 + i, TID: 2 + i, Parent: 1})
		spaces.Map(&perfdata.Mapping{PID: 2 + i, Addr: 0, Len: 1 << 12}, -1)
	}
	if used := hostile.Allocated() - before; used > 200<<20 {
		t.Errorf("%d bytes for 10,000 forks", used)
	}
}
