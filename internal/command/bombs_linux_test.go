//go:build amd64 || arm64

package command

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/profuse-pgo/profuse/internal/oracle"
)

// The bombs are files of up to 16 MB that ask for as much memory or time as they can: by
// compression, by sizes that they announce, by parts that they name many times, by the
// smallest records that a format has.
const (
	maxBomb       = 16_000_000
	maxBombMemory = 1 << 30         // of a command that reads one, bytes
	bombCeiling   = 8 << 30         // of address space; the machine must survive a failing test
	bombTimeout   = 5 * time.Minute // for a failing test; nobody measures time here, and machines are busy
)

type bomb struct {
	name     string
	contents func() []byte
	// dense is set for healthy profiles of the smallest records there are, of which
	// commands make up to 200 times as many bytes.
	dense bool
	// commands read the bomb; nil for bombCommands and one of viewCommands.
	commands []string
}

// bombCommands read bombs, and one of viewCommands in turn, which all begin with a view.
var (
	bombCommands = []string{"show BOMB", "check BOMB", "merge -o OUT BOMB", "salvage -o OUT BOMB"}
	viewCommands = []string{
		"top BOMB", "compare BOMB irpgo/clang22/ir-run1.profraw", "export --to json -o OUT BOMB", "report -o OUT BOMB",
	}
)

// bombEnv in the environment has the test binary write the bomb of that name to standard
// output. The system counts the memory of the process that starts a command as the
// command's own, so the test itself must stay small.
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
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), bombEnv+"="+b.name), f, os.Stderr
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	if info, err := f.Stat(); err != nil || info.Size() == 0 || info.Size() > maxBomb {
		t.Fatalf("%v: %d bytes", err, info.Size())
	}
	return name
}

func init() {
	if name := os.Getenv(bombEnv); name != "" {
		printBomb(name)
		os.Exit(0)
	}
}

// TestBombs: no command takes more than a gigabyte for a small file.
func TestBombs(t *testing.T) {
	oracle.Slow(t)
	profuse := asProfuse(t)
	for i, b := range slices.Concat(bombs(), programBombs(), tableBombs(), sampleBombs()) {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			name := b.write(t, dir)
			limit := int64(maxBombMemory)
			if b.dense {
				limit = 200 * maxBomb
			}
			commands := b.commands
			if commands == nil {
				commands = append(slices.Clip(bombCommands), viewCommands[i%len(viewCommands)])
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
				used, took, code, text := limited(t, profuse, args)
				t.Logf("%s: %d MiB, %v, exit code %d, %.200s", c, used>>20, took.Round(time.Millisecond), code, text)
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
// that it had at any time.
func limited(t *testing.T, profuse string, args []string) (used int64, took time.Duration, code int, text string) {
	t.Helper()
	cmd := exec.Command("sh", append([]string{"-c", fmt.Sprintf(`ulimit -v %d; exec "$@"`, bombCeiling>>10), "sh", profuse}, args...)...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = io.Discard, &out
	start := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stop := time.AfterFunc(bombTimeout, func() { _ = cmd.Process.Kill() })
	_ = cmd.Wait()
	stop.Stop()
	usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	return int64(usage.Maxrss) << 10, time.Since(start), cmd.ProcessState.ExitCode(), out.String()
}

func zeros(n int) []byte { return make([]byte, n) }

// text returns n bytes of a text again and again.
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
		{name: "names of one byte", contents: func() []byte { return names(text(127<<20, "a\x01")) }},
		{name: "one long name", contents: func() []byte { return names(text(1<<30, "a")) }},
		{name: "one name within the limit", contents: func() []byte { return names(text(127<<20, "a")) }},
		{name: "many short names", contents: func() []byte { return names(bytes.Trim(numbered(16<<20, "%x\x01"), "\x01")) }},
		{name: "as many names as allowed", contents: func() []byte {
			return rawBomb{records: 1, counters: 1, names: chunkOf(bytes.Trim(numbered(30<<20, "%x\x01"), "\x01"))}.build()
		}},
		{name: "stored names", contents: func() []byte {
			all := bytes.Trim(numbered(15<<20, "%x\x01"), "\x01")
			b := binary.AppendUvarint(nil, uint64(len(all)))
			return rawBomb{records: 1, counters: 1, names: append(append(b, 0), all...)}.build()
		}},
		{name: "names of chunks", contents: func() []byte {
			return rawBomb{records: 1, counters: 1, names: bytes.Repeat(chunkOf(text(200<<20, "ab\x01")), 10)}.build()
		}},
		{name: "shared counters", contents: func() []byte {
			return rawBomb{records: 100_000, counters: 1_000_000, each: 1_000_000, names: chunkOf([]byte("a"))}.build()
		}},
		{name: "small records", contents: func() []byte {
			return rawBomb{records: 250_000, counters: 250_000, each: 1, names: chunkOf(numbered(2<<20, "f%d\x01"))}.build()
		}},
		{name: "value sites", contents: func() []byte {
			return rawBomb{records: 100, counters: 100, each: 1, sites: 65535, names: chunkOf([]byte("a")), values: zeros(8 << 20)}.build()
		}},
		{name: "shared value sites", contents: func() []byte {
			return rawBomb{records: 300_000, counters: 1, each: 1, sites: 65535, names: chunkOf([]byte("a")), values: zeros(1 << 20)}.build()
		}},
		// Of 15 MB, report takes 2.4 GB, and more where the collector has to wait.
		{name: "text functions", dense: true, contents: func() []byte { return numbered(10<<20, "f%d\n0\n1\n0\n") }},
		{name: "text without counters", contents: func() []byte { return numbered(15<<20, "f%d\n0\n0\n") }},
		{name: "text counters announced", contents: func() []byte { return []byte("f\n0\n4000000000\n0\n") }},
		{name: "text sites", contents: func() []byte { return append([]byte("f\n0\n1\n0\n1\n0\n5000000\n"), text(10<<20, "0\n")...) }},
		{name: "text counters gzip", contents: func() []byte {
			return gzipOf(append([]byte("f\n0\n7500000\n"), text(15_000_000, "0\n")...))
		}},
		{name: "yes gzip", contents: func() []byte { return gzipOf(text(1<<30, "y\n")) }},
		{name: "gzip zeros", contents: func() []byte { return gzipOf(zeros(3 << 30)) }},
		{name: "gzip raw zeros", contents: func() []byte {
			return gzipOf(append(rawBomb{records: 1, counters: 1, each: 1, names: chunkOf([]byte("a"))}.build(), zeros(1<<30)...))
		}},
		{name: "zstd zeros", contents: func() []byte { return zstdOf(append([]byte("\x7fELF"), zeros(1<<30)...)) }},
		{name: "gzip gzip", contents: func() []byte { return gzipOf(gzipOf(append([]byte("\x81rforpl\xff"), zeros(1<<30)...))) }},
		{name: "gzip empty gzips", contents: func() []byte { return gzipOf(bytes.Repeat(gzipOf(nil), 10_000_000)) }},
		{name: "empty gzips", contents: func() []byte { return bytes.Repeat(gzipOf(nil), 500_000) }},
		{name: "tar of members", contents: func() []byte { return tarOf(15_000, []byte("x")) }},
		{name: "tar gzip of members", contents: func() []byte { return gzipOf(tarOf(100_000, nil)) }},
		{name: "tar gzip of large members", contents: func() []byte { return gzipOf(tarOf(20, append([]byte("\x81rforpl\xff"), zeros(200<<20)...))) }},
		{name: "tar gzip of bombs", contents: func() []byte { return gzipOf(tarOf(100, gzipOf(append([]byte("\x81rforpl\xff"), zeros(200<<20)...)))) }},
		{name: "memprof yaml nested", contents: func() []byte {
			return append([]byte("---\nHeapProfileRecords:\n  - GUID: 1\n    AllocSites:\n      - Callstack: "), text(15<<20, "[")...)
		}},
		{name: "memprof yaml records", contents: func() []byte {
			return append([]byte("---\nHeapProfileRecords:\n"), numbered(15<<20, "  - GUID: %d\n")...)
		}},
		{name: "memprof yaml frames", contents: func() []byte {
			return append([]byte("---\nHeapProfileRecords:\n  - GUID: 1\n    AllocSites:\n      - Callstack:\n"), numbered(15<<20, "          - { Function: %d }\n")...)
		}},
		{name: "memprof yaml gzip", contents: func() []byte {
			return gzipOf(append([]byte("---\nHeapProfileRecords:\n"), numbered(15<<20, "  - GUID: %d\n")...))
		}},
		{name: "mip yaml", contents: func() []byte {
			return append([]byte("- Function Name:   a\n"), numbered(15<<20, "- Function Name:   a%d\n")...)
		}},
		{name: "mip yaml gzip", contents: func() []byte { return gzipOf(numbered(15<<20, "- Function Name:   a%d\n")) }},
		{name: "yaml spaces", contents: func() []byte { return append([]byte("---\nHeapProfileRecords:\n"), text(15<<20, " ")...) }},
		{name: "iprof nested", contents: func() []byte { return append([]byte(`{"version":"1.0.0","types":`), text(15<<20, "[")...) }},
		{name: "iprof types", contents: func() []byte {
			return append([]byte(`{"version":"1.0.0","types":[{"id":0,"name":"a"}`), append(numbered(15<<20, `,{"id":%d,"name":"a"}`), `]}`...)...)
		}},
		{name: "iprof empties", contents: func() []byte {
			return append([]byte(`{"version":"1.0.0","types":[],"methods":[],"samplingProfiles":[{}`), append(text(15<<20, `,{}`), `]}`...)...)
		}},
		{name: "iprof contexts", contents: func() []byte {
			return append([]byte(`{"version":"1.0.0","types":[{"id":0,"name":"a"}],"methods":[{"id":0,"name":"a","signature":[0]}],"samplingProfiles":[{"ctx":"0:0","records":[1]}`),
				append(numbered(14<<20, `,{"ctx":"0:%d","records":[1]}`), `]}`...)...)
		}},
		{name: "iprof deep context", dense: true, contents: func() []byte {
			return append([]byte(`{"version":"1.0.0","types":[{"id":0,"name":"a"}],"methods":[{"id":0,"name":"a","signature":[0]}],"samplingProfiles":[{"ctx":"0:0`),
				append(text(14<<20, `<0:0`), `","records":[1]}]}`...)...)
		}},
		{name: "iprof gzip", contents: func() []byte {
			return gzipOf(append([]byte(`{"version":"1.0.0","types":[{"id":0,"name":"a"}`), append(numbered(15<<20, `,{"id":%d,"name":"a"}`), `]}`...)...))
		}},
		{name: "random", contents: func() []byte { return random(15 << 20) }},
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
	w := zlib.NewWriter(&z)
	_, _ = w.Write(text)
	w.Close()
	b := binary.AppendUvarint(nil, uint64(len(text)))
	b = binary.AppendUvarint(b, uint64(z.Len()))
	return append(b, z.Bytes()...)
}

func gzipOf(data []byte) []byte {
	var z bytes.Buffer
	w, _ := gzip.NewWriterLevel(&z, gzip.BestCompression)
	_, _ = w.Write(data)
	w.Close()
	return z.Bytes()
}

func zstdOf(data []byte) []byte {
	w, _ := zstd.NewWriter(nil)
	defer w.Close()
	return w.EncodeAll(data, nil)
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
