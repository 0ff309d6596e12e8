//go:build amd64 || arm64

package command

import (
	"archive/tar"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"

	"github.com/profuse-pgo/profuse/test/oracle"
)

// The bombs are files of up to 8 MB that ask for as much memory or time as they can, or of twice as many that inflate
// to more: by compression, by sizes that they announce, by parts that they name many times, by the smallest records
// that a format has.
const (
	maxBomb       = 8_000_000
	maxBombMemory = 512 << 20       // of a command that reads one, bytes
	bombCeiling   = 8 << 30         // of address space; the machine must survive a failing test
	bombLevel     = 5               // of compression: the fastest that makes one byte of a thousand zeros
	bombTimeout   = 5 * time.Minute // for a failing test; nobody measures time here, and machines are busy
)

type bomb struct {
	name     string
	contents func() []byte
	// dense is set for healthy profiles of the smallest records there are, of which
	// commands make up to 200 times as many bytes.
	dense bool
	// inflates is set for compressed contents, of which the readers' own limits decide: twice the size and memory.
	inflates bool
	// commands read the bomb; nil for some of bombCommands and viewCommands, in turn.
	commands []string
}

// Two of bombCommands read each bomb, and one of viewCommands reads every second bomb: bombs
// of one kind stand in a row, so that all commands read the kind.
var (
	bombCommands = []string{"show BOMB", "check BOMB", "merge -o OUT BOMB", "salvage -o OUT BOMB"}
	viewCommands = []string{
		"top BOMB", "compare BOMB irpgo/clang22/ir-run1.profraw", "export --to json -o OUT BOMB", "report -o OUT BOMB",
	}
)

// rawStart is how a raw IRPGO profile begins.
var rawStart = []byte("\x81rforpl\xff")

// bombEnv in the environment has the test binary write the bomb of that name to standard output. The system counts the
// memory of the process that starts a command as the command's own, so the test itself must stay small.
const bombEnv = "PROFUSE_TEST_BOMB"

func printBomb(name string) {
	for _, b := range slices.Concat(bombs(), programBombs(), tableBombs(), sampleBombs()) {
		if b.name == name {
			if _, err := os.Stdout.Write(b.contents()); err != nil {
				panic(err)
			}
		}
	}
}

func (b *bomb) write(t *testing.T, dir string) string {
	name := filepath.Join(dir, "bomb")
	f := oracle.Must(os.Create(name))(t)
	defer f.Close()
	self := oracle.Must(os.Executable())(t)
	cmd := exec.Command(self)
	cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), bombEnv+"="+b.name), f, os.Stderr
	oracle.NoError(t, cmd.Run())
	if info, err := f.Stat(); err != nil || info.Size() == 0 || info.Size() > b.scale()*maxBomb {
		t.Fatalf("%v: %d bytes", err, info.Size())
	}
	return name
}

func (b *bomb) scale() int64 {
	if b.inflates {
		return 2
	}
	return 1
}

func init() {
	if name := os.Getenv(bombEnv); name != "" {
		printBomb(name)
		os.Exit(0)
	}
}

// TestBombs: no command takes more than half a gigabyte for a small file.
func TestBombs(t *testing.T) {
	oracle.Slow(t)
	t.Parallel()
	profuse := asProfuse(t)
	busy := make(chan struct{}, runtime.GOMAXPROCS(0)) // two bombs on each CPU would take too much memory
	for i, b := range slices.Concat(bombs(), programBombs(), tableBombs(), sampleBombs()) {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			busy <- struct{}{}
			defer func() { <-busy }()
			dir := t.TempDir()
			name := b.write(t, dir)
			limit := b.scale() * maxBombMemory
			if b.dense {
				limit = 200 * maxBomb
			}
			commands := b.commands
			if commands == nil {
				commands = []string{bombCommands[i%len(bombCommands)], bombCommands[(i+1+i/4%2)%len(bombCommands)]}
				if i%2 == 0 {
					commands = append(commands, viewCommands[i/2%len(viewCommands)])
				}
			}
			if !oracle.Everything() {
				commands = commands[:1]
			}
			for _, c := range commands {
				args := strings.Fields(c)
				for i, a := range args {
					switch {
					case a == "BOMB":
						args[i] = name
					case strings.HasPrefix(a, "OUT"):
						args[i] = filepath.Join(dir, a)
					case strings.Contains(a, "/"):
						args[i] = filepath.Join(oracle.Root(t), "testdata", a)
					}
				}
				used, spent, code, text := limited(t, profuse, args)
				t.Logf("%s: %d MiB, %v of processor time, exit code %d, %.200s", c, used>>20, spent.Round(time.Millisecond), code, text)
				if used > limit {
					t.Errorf("%s: %d MiB", c, used>>20)
				}
				if strings.Contains(text, "out of memory") || strings.Contains(text, "goroutine ") || code < 0 {
					t.Errorf("%s: exit code %d: %.1000s", c, code, text)
				}
			}
		})
	}
}

// limited runs a command in limited address space. It returns the most memory, in bytes,
// that it had at any time, and its processor time.
func limited(t *testing.T, profuse string, args []string) (used int64, spent time.Duration, code int, text string) {
	t.Helper()
	cmd := exec.Command("sh", append([]string{"-c", fmt.Sprintf(`ulimit -v %d; exec "$@"`, bombCeiling>>10), "sh", profuse}, args...)...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = io.Discard, &out
	oracle.NoError(t, cmd.Start())
	stop := time.AfterFunc(bombTimeout, func() { _ = cmd.Process.Kill() })
	_ = cmd.Wait()
	stop.Stop()
	usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	return int64(usage.Maxrss) << 10, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), cmd.ProcessState.ExitCode(), out.String()
}

func zeros(n int) []byte { return make([]byte, n) }

func text(n int, line string) []byte { return bytes.Repeat([]byte(line), n/len(line)) }

// numbered returns n bytes of a text with the numbers from 0 on in it.
func numbered(n int, format string) []byte {
	var b bytes.Buffer
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, format, i)
	}
	return b.Bytes()
}

func bombs() []bomb {
	random := func(n int) []byte {
		b := make([]byte, n)
		r := rand.NewChaCha8([32]byte{1})
		_, _ = r.Read(b)
		return b
	}
	names := func(text []byte) []byte { return rawBomb{records: 1, counters: 1, names: chunkOf(text)}.build() }
	return []bomb{
		{name: "names of one byte", inflates: true, contents: func() []byte { return names(text(127<<20, "a\x01")) }},
		{name: "one long name", inflates: true, contents: func() []byte { return names(text(1<<30, "a")) }},
		{name: "one name within the limit", inflates: true, contents: func() []byte { return names(text(127<<20, "a")) }},
		{name: "as many names as allowed", inflates: true, contents: func() []byte {
			return rawBomb{records: 1, counters: 1, names: chunkOf(bytes.Trim(numbered(30<<20, "%x\x01"), "\x01"))}.build()
		}},
		{name: "stored names", contents: func() []byte {
			all := bytes.Trim(numbered(7<<20, "%x\x01"), "\x01")
			b := binary.AppendUvarint(nil, uint64(len(all)))
			return rawBomb{records: 1, counters: 1, names: append(append(b, 0), all...)}.build()
		}},
		{name: "names of chunks", inflates: true, contents: func() []byte {
			return rawBomb{records: 1, counters: 1, names: bytes.Repeat(chunkOf(text(200<<20, "ab\x01")), 10)}.build()
		}},
		{name: "shared counters", contents: func() []byte {
			return rawBomb{records: 50_000, counters: 500_000, each: 500_000, names: chunkOf([]byte("a"))}.build()
		}},
		{name: "small records", contents: func() []byte {
			return rawBomb{records: 120_000, counters: 120_000, each: 1, names: chunkOf(numbered(1<<20, "f%d\x01"))}.build()
		}},
		{name: "value sites", contents: func() []byte {
			return rawBomb{records: 100, counters: 100, each: 1, sites: 65535, names: chunkOf([]byte("a")), values: zeros(7 << 20)}.build()
		}},
		{name: "shared value sites", contents: func() []byte {
			return rawBomb{records: 140_000, counters: 1, each: 1, sites: 65535, names: chunkOf([]byte("a")), values: zeros(1 << 20)}.build()
		}},
		// Of 15 MB, report takes 2.4 GB, and more where the collector has to wait.
		{name: "text functions", dense: true, contents: func() []byte { return numbered(7<<20, "f%d\n0\n1\n0\n") }},
		{name: "text without counters", contents: func() []byte { return numbered(7<<20, "f%d\n0\n0\n") }},
		{name: "text counters announced", contents: func() []byte { return []byte("f\n0\n4000000000\n0\n") }},
		{name: "text sites", contents: func() []byte { return append([]byte("f\n0\n1\n0\n1\n0\n2500000\n"), text(5<<20, "0\n")...) }},
		{name: "text counters gzip", inflates: true, contents: func() []byte {
			return gzipOf(again{[]byte("f\n0\n7500000\n"), 1}, again{[]byte("0\n"), 7_500_000})
		}},
		{name: "yes gzip", inflates: true, contents: func() []byte { return gzipOf(again{text(1<<20, "y\n"), 1 << 10}) }},
		{name: "gzip zeros", inflates: true, contents: func() []byte { return gzipOf(again{zeros(1 << 20), 3 << 10}) }},
		{name: "gzip raw zeros", inflates: true, contents: func() []byte {
			return gzipOf(again{rawBomb{records: 1, counters: 1, each: 1, names: chunkOf([]byte("a"))}.build(), 1}, again{zeros(1 << 20), 1 << 10})
		}},
		{name: "zstd zeros", inflates: true, contents: func() []byte { return zstdOf(append([]byte("\x7fELF"), zeros(1<<30)...)) }},
		{name: "gzip gzip", inflates: true, contents: func() []byte { return gzipOf(again{gzipOf(again{rawStart, 1}, again{zeros(1 << 20), 1 << 10}), 1}) }},
		{name: "gzip empty gzips", inflates: true, contents: func() []byte { return gzipOf(again{bytes.Repeat(gzipOf(), 10_000), 1000}) }},
		{name: "empty gzips", contents: func() []byte { return bytes.Repeat(gzipOf(), 300_000) }},
		{name: "tar of members", contents: func() []byte { return tarOf(7500, []byte("x")) }},
		{name: "tar gzip of members", inflates: true, contents: func() []byte { return gzipOf(again{tarOf(100_000, nil), 1}) }},
		{name: "tar gzip of large members", inflates: true, contents: func() []byte { return gzipOf(largeMembers(20)...) }},
		{name: "tar gzip of bombs", inflates: true, contents: func() []byte {
			return gzipOf(again{tarOf(100, gzipOf(again{rawStart, 1}, again{zeros(1 << 20), 200})), 1})
		}},
		{name: "memprof yaml nested", contents: func() []byte {
			return append([]byte("---\nHeapProfileRecords:\n  - GUID: 1\n    AllocSites:\n      - Callstack: "), text(7<<20, "[")...)
		}},
		{name: "memprof yaml records", contents: func() []byte {
			return append([]byte("---\nHeapProfileRecords:\n"), numbered(7<<20, "  - GUID: %d\n")...)
		}},
		{name: "memprof yaml frames", contents: func() []byte {
			return append([]byte("---\nHeapProfileRecords:\n  - GUID: 1\n    AllocSites:\n      - Callstack:\n"), numbered(7<<20, "          - { Function: %d }\n")...)
		}},
		{name: "memprof yaml gzip", inflates: true, contents: func() []byte {
			return gzipOf(again{[]byte("---\nHeapProfileRecords:\n"), 1}, again{numbered(7<<20, "  - GUID: %d\n"), 1})
		}},
		{name: "mip yaml", contents: func() []byte {
			return append([]byte("- Function Name:   a\n"), numbered(7<<20, "- Function Name:   a%d\n")...)
		}},
		{name: "mip yaml gzip", inflates: true, contents: func() []byte { return gzipOf(again{numbered(7<<20, "- Function Name:   a%d\n"), 1}) }},
		{name: "yaml spaces", contents: func() []byte { return append([]byte("---\nHeapProfileRecords:\n"), text(7<<20, " ")...) }},
		{name: "iprof nested", contents: func() []byte { return append([]byte(`{"version":"1.0.0","types":`), text(7<<20, "[")...) }},
		{name: "iprof types", contents: func() []byte {
			return append([]byte(`{"version":"1.0.0","types":[{"id":0,"name":"a"}`), append(numbered(7<<20, `,{"id":%d,"name":"a"}`), `]}`...)...)
		}},
		{name: "iprof empties", contents: func() []byte {
			return append([]byte(`{"version":"1.0.0","types":[],"methods":[],"samplingProfiles":[{}`), append(text(7<<20, `,{}`), `]}`...)...)
		}},
		{name: "iprof contexts", contents: func() []byte {
			return append([]byte(`{"version":"1.0.0","types":[{"id":0,"name":"a"}],"methods":[{"id":0,"name":"a","signature":[0]}],"samplingProfiles":[{"ctx":"0:0","records":[1]}`),
				append(numbered(7<<20, `,{"ctx":"0:%d","records":[1]}`), `]}`...)...)
		}},
		{name: "iprof deep context", dense: true, contents: func() []byte {
			return append([]byte(`{"version":"1.0.0","types":[{"id":0,"name":"a"}],"methods":[{"id":0,"name":"a","signature":[0]}],"samplingProfiles":[{"ctx":"0:0`),
				append(text(7<<20, `<0:0`), `","records":[1]}]}`...)...)
		}},
		{name: "iprof gzip", inflates: true, contents: func() []byte {
			return gzipOf(again{[]byte(`{"version":"1.0.0","types":[{"id":0,"name":"a"}`), 1}, again{numbered(7<<20, `,{"id":%d,"name":"a"}`), 1}, again{[]byte(`]}`), 1})
		}},
		{name: "random", contents: func() []byte { return random(7 << 20) }},
	}
}

// A rawBomb is a raw IRPGO profile of version 8.
type rawBomb struct {
	records, counters, each, sites int
	names, values                  []byte
}

func (r rawBomb) build() []byte {
	const header, record = 11 * 8, 48
	le := binary.LittleEndian
	var b []byte
	for _, v := range []uint64{
		0xff6c70726f667281, 8 | 1<<56, 0, uint64(r.records), 0, uint64(r.counters), 0, uint64(len(r.names)),
		uint64(int64(r.records) * record), 0, 1,
	} {
		b = le.AppendUint64(b, v)
	}
	for i := range r.records {
		b = le.AppendUint64(b, uint64(i))
		b = le.AppendUint64(b, uint64(i)<<8)
		b = le.AppendUint64(b, uint64((r.records-i)*record))
		if r.counters == r.records { // its own counter
			le.PutUint64(b[len(b)-8:], uint64((r.records-i)*record+8*i))
		}
		b = le.AppendUint64(b, 0)
		b = le.AppendUint64(b, 0)
		b = le.AppendUint32(b, uint32(max(r.each, 1)))
		b = le.AppendUint16(b, uint16(r.sites))
		b = le.AppendUint16(b, 0)
	}
	for range r.counters {
		b = le.AppendUint64(b, 1)
	}
	b = append(b, r.names...)
	for len(b)%8 != 0 {
		b = append(b, 0)
	}
	return append(b, r.values...)
}

// chunkOf compresses names as LLVM stores them.
func chunkOf(text []byte) []byte {
	var z bytes.Buffer
	w, _ := zlib.NewWriterLevel(&z, bombLevel)
	_, _ = w.Write(text)
	w.Close()
	b := binary.AppendUvarint(nil, uint64(len(text)))
	b = binary.AppendUvarint(b, uint64(z.Len()))
	return append(b, z.Bytes()...)
}

// again are bytes that follow each other so many times, without being in memory so often.
type again struct {
	bytes []byte
	times int
}

func gzipOf(parts ...again) []byte {
	var z bytes.Buffer
	w, _ := gzip.NewWriterLevel(&z, bombLevel)
	for _, p := range parts {
		for range p.times {
			_, _ = w.Write(p.bytes)
		}
	}
	w.Close()
	return z.Bytes()
}

func zstdOf(data []byte) []byte {
	w, _ := zstd.NewWriter(nil)
	defer w.Close()
	return w.EncodeAll(data, nil)
}

func largeMembers(n int) (parts []again) {
	for i := range n {
		var header bytes.Buffer
		_ = tar.NewWriter(&header).WriteHeader(&tar.Header{Name: fmt.Sprint(i), Mode: 0o644, Size: 200 << 20})
		start := append(bytes.Clone(rawStart), zeros(1<<20-len(rawStart))...)
		parts = append(parts, again{header.Bytes(), 1}, again{start, 1}, again{zeros(1 << 20), 199})
	}
	return append(parts, again{zeros(1024), 1})
}

func tarOf(n int, member []byte) []byte {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for i := range n {
		_ = w.WriteHeader(&tar.Header{Name: fmt.Sprint(i), Mode: 0o644, Size: int64(len(member))})
		_, _ = w.Write(member)
	}
	w.Close()
	return b.Bytes()
}
