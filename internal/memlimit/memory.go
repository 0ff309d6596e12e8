// Package memlimit keeps the process within the memory of its machine. It sets the soft memory limit of Go's
// runtime, paces the garbage collector, and limits the size of pipes, devices and compressed files.
package memlimit

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

// SetLimit sets the soft memory limit to seven eighths of the least of the machine's memory, the
// limit of the cgroup, and the limit of the process (ulimit -v). The rest is for mapped programs,
// threads and other programs. A limit in GOMEMLIMIT stays.
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
	// afterFirst is the GC percentage that applies after the delayed first collection; 0 after that
	// collection, or if it is not delayed.
	afterFirst atomic.Int64
)

// smallHeap is the size of the heap, in bytes, at the first collection under GC percentage 100.
const smallHeap = 4 << 20

// CollectLate delays the first garbage collection until the heap has about size bytes. It is for
// processes that keep most of what they allocate first, such as merges and exports of coverage.
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

// CollectOften lets the heap grow by percent between collections until end is called. It is for
// processes whose memory has few pointers, such as sums of sample profiles: collecting takes little
// time. It does not change the first collection that [CollectLate] has delayed.
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

// CollectAbove limits the memory, until end is called, to the greatest of min(size, 3 × live + 32 MiB),
// 1.25 × live and 1.5 × live - size/4, where live is the size of the live heap. It is for processes
// that leave much garbage. It sets Go's memory limit after each collection, so Go also returns memory
// to the system.
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
		debug.SetMemoryLimit(min(limit, max(min(size, 3*inUse+32<<20), inUse+inUse/4, inUse+inUse/2-size/4)))
		runtime.AddCleanup(new([64]byte), pace, 0) // runs after the next collection
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

// A growth paces the collector while profiles of one kind are added up. Each setting is applied once.
type growth struct {
	first          int // bytes of the heap at the first collection, if [CollectLate] has delayed it; 0 keeps the delay
	large, percent int // GC percentage from the first profile of at least large bytes on
	begun, slowed  sync.Once
}

var (
	// The debug information for a raw heap profile is soon garbage, so the first collection must not
	// be too late. The sum of large heap profiles is most of the memory, with few pointers.
	heapProfiles = growth{first: 20 << 20, large: 16 << 20, percent: 20}
	// The sum of large profiles of instrumented programs is most of the memory, and grows once.
	profiles = growth{large: 256 << 20, percent: 10}
)

// HeapProfile paces the collector for a raw heap profile of size bytes.
func HeapProfile(size int) { heapProfiles.prepare(size) }

// Profile paces the collector for a profile of an instrumented program of size bytes.
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

// none is the number of bytes that stands for no limit.
const none = math.MaxInt64

// meminfo returns the memory of the machine in bytes, from /proc/meminfo.
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

// cgroup returns the least memory limit, in bytes, of the process's control group and the groups
// above it, in version 1 or 2 of control groups. In a container, the path from the kernel may not
// exist, and the root of the mount is the container's group.
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

// number parses a number of bytes. It returns none for 0, words such as "max", and numbers that do not
// fit. Version 1 writes a number near 2^63 for no limit.
func number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n <= 0 {
		return none
	}
	return n
}
