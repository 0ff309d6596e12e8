package memlimit

import (
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"testing"
	"testing/fstest"
	"time"
)

func TestCgroup(t *testing.T) {
	for _, test := range []struct {
		name  string
		files map[string]string
		want  int64
	}{
		{"none", nil, none},
		{"version 2", map[string]string{
			"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "max\n", "sys/fs/cgroup/a/memory.max": "1000000\n",
		}, 1000000},
		{"version 2 in a container", map[string]string{
			"proc/self/cgroup": "0::/../../outside\n", "sys/fs/cgroup/memory.max": "5000\n",
		}, 5000},
		{"version 1", map[string]string{
			"proc/self/cgroup": "5:cpu:/x\n4:hugetlb,memory:/x/y\n0::/\n",
			"sys/fs/cgroup/memory/x/y/memory.limit_in_bytes":   "7000\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes":       "9223372036854771712\n",
			"sys/fs/cgroup/cpu/x/memory.limit_in_bytes":        "1\n",
			"sys/fs/cgroup/memory/x/y/z/memory.limit_in_bytes": "1\n",
		}, 7000},
		{"version 1 in a container", map[string]string{
			"proc/self/cgroup": "4:memory:/docker/0123\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "8000",
		}, 8000},
		{"broken", map[string]string{"proc/self/cgroup": "\n0\n0::\n", "sys/fs/cgroup/memory.max": "a lot"}, none},
	} {
		root := fstest.MapFS{}
		for name, text := range test.files {
			root[name] = &fstest.MapFile{Data: []byte(text)}
		}
		if got := cgroup(root); got != test.want {
			t.Errorf("%s: %d, want %d", test.name, got, test.want)
		}
	}
}

func TestMeminfo(t *testing.T) {
	root := fstest.MapFS{"proc/meminfo": {Data: []byte("MemFree: 1 kB\nMemTotal:   2048 kB\n")}}
	if got := meminfo(root); got != 2<<20 {
		t.Errorf("%d, want 2 MiB", got)
	}
	if got := meminfo(fstest.MapFS{}); got != none {
		t.Errorf("%d without the file", got)
	}
}

func TestSetLimit(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(math.MaxInt64))
	SetLimit(func(string) string { return "1GiB" })
	if got := debug.SetMemoryLimit(-1); got != math.MaxInt64 {
		t.Errorf("the limit is %d in spite of GOMEMLIMIT", got)
	}
	SetLimit(func(string) string { return "" })
	got := debug.SetMemoryLimit(-1)
	switch runtime.GOOS {
	case "linux", "darwin", "windows":
		if got == math.MaxInt64 || got < 64<<20 {
			t.Errorf("the limit is %d", got)
		}
	}
}

// TestCollect: until the first collection the heap may grow to the size that was asked for;
// afterwards by as little as anything wants.
func TestCollect(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	want := func(when string, percent uint64) {
		t.Helper()
		sample := []metrics.Sample{{Name: "/gc/gogc:percent"}}
		for range 200 {
			if metrics.Read(sample); sample[0].Value.Uint64() == percent {
				return
			}
			time.Sleep(10 * time.Millisecond) // cleanups run after a collection
		}
		t.Errorf("%s: %d %%, want %d", when, sample[0].Value.Uint64(), percent)
	}
	collectLate, heapProfiles.begun, heapProfiles.slowed, profiles.slowed = sync.Once{}, sync.Once{}, sync.Once{}, sync.Once{}
	CollectLate(48 << 20)
	want("late", 1200)
	end := CollectOften(30)
	want("often, after the first collection", 1200)
	HeapProfile(1 << 20)
	want("a heap profile", 500)
	runtime.GC()
	want("after the first collection", 30)
	end()
	want("no longer often", 100)
	HeapProfile(32 << 20)
	want("a large heap profile", 20)
	Profile(100 << 20)
	want("a profile", 20)
	Profile(300 << 20)
	want("a large profile", 10)
}

// TestCollectAbove: the limit follows what is in use from the size on, and never exceeds the usual one.
func TestCollectAbove(t *testing.T) {
	const usual = 330 << 20
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(usual))
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	for _, c := range []struct {
		size      int64
		low, high int64 // of the limit, in bytes
	}{
		{300 << 20, 300 << 20, 300 << 20},
		{900 << 20, usual, usual},
		{100 << 20, 125 << 20, 135 << 20}, // 100 MiB are in use, and little more
		{10 << 20, 147 << 20, 160 << 20},
		{64 << 20, 134 << 20, 145 << 20},
	} {
		held := make([]byte, 100<<20)
		end := CollectAbove(c.size)
		got := int64(0)
		for range 200 {
			runtime.GC()
			time.Sleep(10 * time.Millisecond) // cleanups run after a collection
			if got = debug.SetMemoryLimit(-1); c.low <= got && got <= c.high {
				break
			}
		}
		runtime.KeepAlive(held)
		if got < c.low || got > c.high {
			t.Errorf("above %d: the limit is %d, want %d to %d", c.size, got, c.low, c.high)
		}
		end()
		runtime.GC()
		time.Sleep(50 * time.Millisecond)
		if got := debug.SetMemoryLimit(-1); got != usual {
			t.Errorf("afterwards the limit is %d", got)
		}
		if got := debug.SetGCPercent(100); got != 100 {
			t.Errorf("afterwards the heap grows by %d %%", got)
		}
	}
	debug.SetGCPercent(-1)
	end := CollectAbove(1 << 20)
	if got := debug.SetMemoryLimit(-1); got != usual {
		t.Errorf("without a collector the limit is %d", got)
	}
	end()
	if got := debug.SetGCPercent(100); got != -1 {
		t.Errorf("the collector that was off collects at %d %%", got)
	}
}
