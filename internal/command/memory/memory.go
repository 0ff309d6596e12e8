// Package memory keeps the process within the memory of its machine. It gives Go's
// garbage collector a limit below which it works harder, instead of letting the heap
// grow to twice what is in use, and limits what is read from pipes, devices and
// compressed files.
package memory

import (
	"bytes"
	"io/fs"
	"math"
	"os"
	"path"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// SetLimit sets the soft limit of the process, unless the user has set one with
// GOMEMLIMIT: seven eighths of the memory of the machine, of the cgroup, or of the
// limits on the process (ulimit -v), whichever is least. The rest is for the contents of
// files, threads and what other programs need.
func SetLimit(getenv func(string) string) {
	if getenv("GOMEMLIMIT") != "" {
		return
	}
	limit := min(machine(), cgroup(os.DirFS("/")), process())
	if limit < math.MaxInt64 {
		debug.SetMemoryLimit(limit / 8 * 7)
	}
}

var (
	collectLate sync.Once
	// afterFirst is how much the heap may grow, in percent, after a first collection that
	// is yet to come; 0 once it has, or if it is not delayed.
	afterFirst atomic.Int64
)

// smallHeap is the usual size of the heap at the first collection.
const smallHeap = 4 << 20

// CollectLate delays the first garbage collection until the heap has about size bytes.
// It suits a process that keeps most of what it allocates first, as one merge does, or
// one export of coverage. Afterwards the collector works as usual.
func CollectLate(size int) {
	collectLate.Do(func() {
		usual := debug.SetGCPercent(size / smallHeap * 100)
		if usual < 0 {
			debug.SetGCPercent(usual) // the collector is off
			return
		}
		afterFirst.Store(int64(usual))
		runtime.AddCleanup(new([64]byte), func(int) { debug.SetGCPercent(int(afterFirst.Swap(0))) }, 0)
	})
}

// CollectOften lets the heap grow by percent, not to twice its size, until the function
// that it returns is called. It suits a process whose memory holds few pointers, as the
// sums of sample profiles do: collecting takes hardly any time. It leaves a first collection
// where [CollectLate] has put it.
func CollectOften(percent int) (end func()) {
	if usual := afterFirst.Load(); usual > int64(percent) && afterFirst.CompareAndSwap(usual, int64(percent)) {
		return func() {
			if !afterFirst.CompareAndSwap(int64(percent), usual) {
				debug.SetGCPercent(int(usual))
			}
		}
	}
	usual := debug.SetGCPercent(percent)
	if usual < percent {
		debug.SetGCPercent(usual)
	}
	return func() { debug.SetGCPercent(usual) }
}

// CollectAbove lets the memory grow to size bytes where a third of that is in use, by a quarter
// where most of it is, and by nearly half where several times as much is, until the function that
// it returns is called. A process that holds little stays small. It suits one that leaves much
// garbage: it sets Go's limit after each collection, by which Go also gives memory back.
func CollectAbove(size int64) (end func()) {
	usual := debug.SetGCPercent(-1)
	if usual < 0 {
		return func() {} // the collector is off
	}
	limit := debug.SetMemoryLimit(-1)
	var mu sync.Mutex
	ended := false
	var pace func(int)
	pace = func(int) {
		mu.Lock()
		defer mu.Unlock()
		if ended {
			return
		}
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(live)
		inUse := int64(live[0].Value.Uint64())
		debug.SetMemoryLimit(min(limit, max(min(size, 32<<20+3*inUse), inUse+inUse/4, inUse+inUse/2-size/4)))
		runtime.AddCleanup(new([64]byte), pace, 0) // for after the next collection
	}
	pace(0)
	return func() {
		mu.Lock()
		defer mu.Unlock()
		ended = true
		debug.SetMemoryLimit(limit)
		debug.SetGCPercent(usual)
	}
}

// A growth says how much the heap may grow while profiles of one kind are added up. Each
// figure is applied once, by the first profile that asks for it.
type growth struct {
	first          int // the heap at a first collection that [CollectLate] has delayed; 0 leaves it
	large, percent int // after a profile of so many bytes the heap grows by percent between collections
	begun, slowed  sync.Once
}

var (
	// The debug information of the program of a raw heap profile is soon garbage, so the first
	// collection must not be too late. The sums of large ones take most of the memory and hold
	// hardly any pointers.
	heapProfiles = growth{first: 20 << 20, large: 16 << 20, percent: 20}
	// The sum of a large profile of an instrumented program takes most of the memory and grows once.
	profiles = growth{large: 256 << 20, percent: 10}
)

// HeapProfile prepares for a raw heap profile of size bytes.
func HeapProfile(size int) { heapProfiles.prepare(size) }

// Profile prepares for the profile of size bytes of an instrumented program.
func Profile(size int) { profiles.prepare(size) }

func (g *growth) prepare(size int) {
	g.begun.Do(func() {
		if g.first > 0 && afterFirst.Load() > 0 {
			debug.SetGCPercent(g.first / smallHeap * 100)
		}
	})
	if size >= g.large {
		g.slowed.Do(func() { CollectOften(g.percent) })
	}
}

// none is what the functions return that know of no limit, in bytes.
const none = math.MaxInt64

// meminfo returns the memory that /proc/meminfo in the file system says.
func meminfo(root fs.FS) int64 {
	text, _ := fs.ReadFile(root, "proc/meminfo")
	for line := range bytes.Lines(text) {
		if f := bytes.Fields(line); len(f) == 3 && string(f[0]) == "MemTotal:" {
			if kib := number(string(f[1])); kib < none>>10 {
				return kib << 10
			}
		}
	}
	return none
}

// cgroup returns the least limit on memory of the process's control group and of the
// groups around it, in version 1 or 2 of Linux's control groups. In a container the
// group may not be mounted under the path that the kernel says, but the root of the
// mount is then the container's.
func cgroup(root fs.FS) int64 {
	limit := int64(none)
	text, _ := fs.ReadFile(root, "proc/self/cgroup")
	for line := range strings.Lines(string(text)) {
		// 4:memory:/path, or 0::/path in version 2
		part := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(part) < 3 {
			continue
		}
		mount, file := "sys/fs/cgroup", "memory.max"
		if strings.Contains(","+part[1]+",", ",memory,") {
			mount, file = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
		} else if part[1] != "" {
			continue
		}
		for group := path.Clean("/" + part[2]); ; group = path.Dir(group) {
			value, err := fs.ReadFile(root, path.Join(mount, group, file))
			if err == nil {
				limit = min(limit, number(strings.TrimSpace(string(value))))
			}
			if group == "/" {
				break
			}
		}
	}
	return limit
}

// number parses a number of bytes; "max" and other words mean no limit, and so do 0 and
// the great numbers that version 1 writes for it.
func number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n <= 0 {
		return none
	}
	return n
}
