package inputs

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

func gzipOf(b []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	w.Write(b)
	w.Close()
	return out.Bytes()
}

func zstdOf(b []byte) []byte {
	w, err := zstd.NewWriter(nil)
	if err != nil {
		panic(err)
	}
	return w.EncodeAll(b, nil)
}

// tarOf makes an archive of names and contents in turn.
func tarOf(files ...string) []byte {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for i := 0; i < len(files); i += 2 {
		h := &tar.Header{Name: files[i], Size: int64(len(files[i+1])), Mode: 0o644}
		if err := w.WriteHeader(h); err != nil {
			panic(err)
		}
		io.WriteString(w, files[i+1])
	}
	w.Close()
	return out.Bytes()
}

// zipOf makes a zip archive of names and contents in turn, the contents compressed.
func zipOf(files ...string) []byte {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for i := 0; i < len(files); i += 2 {
		f, err := w.Create(files[i])
		if err != nil {
			panic(err)
		}
		io.WriteString(f, files[i+1])
	}
	w.Close()
	return out.Bytes()
}

// list returns what an input of these bytes yields, as "name=contents", the name without its path.
func list(t testing.TB, contents []byte, opts Options) ([]string, error) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "in")
	write(t, name, string(contents))
	return contentsOf(Input{Name: name, opts: &opts}, nil)
}

func contentsOf(in Input, r *Reader) (got []string, err error) {
	err = in.Each(r, func(d *Data) error {
		got = append(got, strings.TrimPrefix(d.Name(), in.Name)+"="+string(d.Bytes()))
		return nil
	})
	return got, err
}

func TestContainers(t *testing.T) {
	files := tarOf("a", "1", "sub/b", "", "./c", "3", "../../d", "4")
	members := []string{"!a=1", "!sub/b=", "!./c=3", "!../../d=4"}
	big := string(random(300_000))
	for name, c := range map[string]struct {
		in   []byte
		want []string
	}{
		"gzip":                   {gzipOf([]byte("x")), []string{"=x"}},
		"gzip of nothing":        {gzipOf(nil), []string{"="}},
		"gzip members":           {append(gzipOf([]byte("x")), gzipOf([]byte("y"))...), []string{"=xy"}},
		"zstd":                   {zstdOf([]byte("x")), []string{"=x"}},
		"zstd of nothing":        {zstdOf(nil), []string{"="}},
		"zstd frames":            {append(zstdOf([]byte("x")), zstdOf([]byte("y"))...), []string{"=xy"}},
		"zstd skippable frame":   {append([]byte("\x53\x2a\x4d\x18\x03\x00\x00\x00abc"), zstdOf([]byte("y"))...), []string{"=y"}},
		"tar":                    {files, members},
		"tar.gz":                 {gzipOf(files), members},
		"tar.zst":                {zstdOf(files), members},
		"tar of nothing, gz":     {gzipOf(tarOf()), []string{"=" + string(tarOf())}},
		"tar of gz and zst":      {tarOf("a.gz", string(gzipOf([]byte("1"))), "b.zst", string(zstdOf([]byte("2")))), []string{"!a.gz=1", "!b.zst=2"}},
		"tar of tar":             {tarOf("in.tar", string(files), "z", "9"), []string{"!in.tar!a=1", "!in.tar!sub/b=", "!in.tar!./c=3", "!in.tar!../../d=4", "!z=9"}},
		"gz of zst":              {gzipOf(zstdOf([]byte("x"))), []string{"=x"}},
		"four deep":              {gzipOf(tarOf("a", string(zstdOf(gzipOf([]byte("x")))))), []string{"!a=x"}},
		"big members":            {zstdOf(tarOf("a", big, "b", "", "c", big)), []string{"!a=" + big, "!b=", "!c=" + big}},
		"zip":                    {zipOf("a", "1", "sub/", "", "sub/b", "", "../c", "3", ".hid", "4"), []string{"!a=1", "!sub/b=", "!../c=3"}},
		"zip of tar.gz and zst":  {zipOf("a.tgz", string(gzipOf(tarOf("1", "x", "2", "y"))), "b.zst", string(zstdOf([]byte("z")))), []string{"!a.tgz!1=x", "!a.tgz!2=y", "!b.zst=z"}},
		"tar.zst of zip":         {zstdOf(tarOf("a.zip", string(zipOf("1", "x")), "b", "y")), []string{"!a.zip!1=x", "!b=y"}},
		"large zip":              {zipOf("a", big, "b", big[1:], "c", big[2:], "d", big[3:]), []string{"!a=" + big, "!b=" + big[1:], "!c=" + big[2:], "!d=" + big[3:]}},
		"not a tar":              {bytes.Replace(files, []byte("ustar"), []byte("Ustar"), 1), nil},
		"not a tar, by checksum": {append([]byte{1}, files[1:]...), nil},
		"too short for a magic":  {[]byte{0x1f, 0x8b}, []string{"=\x1f\x8b"}},
	} {
		t.Run(name, func(t *testing.T) {
			if c.want == nil {
				c.want = []string{"=" + string(c.in)}
			}
			got, err := list(t, c.in, Options{})
			if err != nil || !slices.Equal(got, c.want) {
				t.Errorf("got %.200q, %v\nwant %.200q", got, err, c.want)
			}
			got, err = contentsOf(Input{Name: "-", opts: &Options{Stdin: iotest{bytes.NewReader(c.in)}}}, nil)
			if err != nil || !slices.Equal(got, c.want) {
				t.Errorf("from a stream: %.200q, %v", got, err)
			}
		})
	}
}

// TestOneOfContainers: One is for inputs that are one file.
func TestOneOfContainers(t *testing.T) {
	name := filepath.Join(t.TempDir(), "in")
	big := random(2 << 20)
	for _, c := range []struct {
		in, want []byte
	}{
		{in: gzipOf([]byte("x")), want: []byte("x")},
		{in: zstdOf(gzipOf([]byte("x"))), want: []byte("x")},
		{in: gzipOf(big), want: big},
		{in: zstdOf(big), want: big},
		{in: tarOf("a", "1")},
		{in: gzipOf(tarOf("a", "1", "b", "2"))},
		{in: zipOf("a", "1")},
	} {
		write(t, name, string(c.in))
		d, err := one(File(name, Options{}))
		if c.want == nil {
			if !errors.Is(err, profile.ErrUnsupported) {
				t.Errorf("archive: %v", err)
			}
			continue
		}
		if err != nil || !bytes.Equal(d.Bytes(), c.want) || d.Name() != name {
			t.Errorf("got %v, %v", d, err)
		}
	}
}

// TestPacked: what packs say about their members; other archives say nothing.
func TestPacked(t *testing.T) {
	for _, c := range []struct {
		global, member map[string]string
		want           string
		class          error
	}{
		{map[string]string{"PROFUSE.pack": "2"}, map[string]string{"PROFUSE.program": "p", "PROFUSE.build-id": "ab+cd"}, "p ab+cd", nil},
		{nil, nil, " ", nil},
		{map[string]string{"PROFUSE.pack": "3"}, nil, "", profile.ErrUnsupported},
		{map[string]string{"PROFUSE.pack": "x"}, nil, "", profile.ErrUnsupported},
		{nil, map[string]string{"PROFUSE.build-id": "xyz"}, "", profile.ErrCorrupt},
		{nil, map[string]string{"PROFUSE.program": "a\x1b[0m"}, "", profile.ErrCorrupt},
	} {
		var b bytes.Buffer
		w := tar.NewWriter(&b)
		if c.global != nil {
			w.WriteHeader(&tar.Header{Typeflag: tar.TypeXGlobalHeader, Name: "pack", PAXRecords: c.global})
		}
		w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "a", Size: 1, Mode: 0o644, PAXRecords: c.member})
		w.Write([]byte{1})
		w.Close()
		name := filepath.Join(t.TempDir(), "pack.tar")
		oracle.WriteFile(t, name, b.Bytes())
		got := ""
		err := File(name, Options{}).Each(new(Reader), func(d *Data) error {
			got = d.Program + " " + d.BuildID
			return nil
		})
		if got != c.want || !errors.Is(err, c.class) {
			t.Errorf("%v %v: %q, %v", c.global, c.member, got, err)
		}
	}
}

// TestArchiveMembers has everything in it that a tar archive may hold.
func TestArchiveMembers(t *testing.T) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range []tar.Header{
		{Typeflag: tar.TypeXGlobalHeader, Name: "pax", PAXRecords: map[string]string{"comment": "x"}},
		{Typeflag: tar.TypeDir, Name: "dir/"},
		{Typeflag: tar.TypeReg, Name: "dir/file"},
		{Typeflag: tar.TypeReg, Name: "dir/" + strings.Repeat("long", 60), Format: tar.FormatGNU},
		{Typeflag: tar.TypeReg, Name: "dir/" + strings.Repeat("pax", 90), Format: tar.FormatPAX},
		{Typeflag: tar.TypeReg, Name: "dir/.profuse-x.tmp"},
		{Typeflag: tar.TypeReg, Name: "dir/.dot"},
		{Typeflag: tar.TypeReg, Name: "./.hid/file"},
		{Typeflag: tar.TypeLink, Name: "hard", Linkname: "dir/file"},
		{Typeflag: tar.TypeSymlink, Name: "soft", Linkname: "dir/file"},
		{Typeflag: tar.TypeFifo, Name: "fifo"},
		{Typeflag: tar.TypeChar, Name: "device"},
	} {
		oracle.NoError(t, w.WriteHeader(&h))
	}
	w.Close()
	var skipped []string
	opts := Options{Skipped: func(name string, why string) {
		skipped = append(skipped, name[strings.Index(name, "!"):]+": "+string(why))
	}}
	got, err := list(t, b.Bytes(), opts)
	want := []string{"!dir/file=", "!dir/" + strings.Repeat("long", 60) + "=", "!dir/" + strings.Repeat("pax", 90) + "="}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v", got, err)
	}
	wantSkipped := []string{
		"!dir/.profuse-x.tmp: temporary file of an unfinished run",
		"!hard: " + archiveLink, "!soft: " + archiveLink,
		"!fifo: " + notRegular, "!device: " + notRegular,
	}
	if !slices.Equal(skipped, wantSkipped) {
		t.Errorf("skipped %q", skipped)
	}
}

func TestDamagedContainers(t *testing.T) {
	data := random(5000)
	flip := func(b []byte, at int) []byte {
		b = slices.Clone(b)
		b[at] ^= 0x40
		return b
	}
	gz, zs, files := gzipOf(data), zstdOf(data), tarOf("a", string(data), "b", string(random(10_000)[5000:]))
	deep := data
	for range maxDepth + 1 {
		deep = gzipOf(deep)
	}
	zipped := zipOf("a", "1", "b", string(data))
	encrypted, method := slices.Clone(zipped), slices.Clone(zipped)
	directory := bytes.LastIndex(zipped, []byte("PK\x01\x02"))
	encrypted[directory+8] |= 1
	method[directory+10] = 99
	window := []byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x90, 0x01, 0x00, 0x00} // 256 MiB
	for name, c := range map[string]struct {
		in      []byte
		want    error
		members int
	}{
		"gzip, no trailer":       {in: gz[:len(gz)-1], want: profile.ErrTruncated},
		"gzip, cut":              {in: gz[:len(gz)/2], want: profile.ErrTruncated},
		"gzip, header only":      {in: gz[:5], want: profile.ErrTruncated},
		"gzip, checksum":         {in: flip(gz, len(gz)-6), want: profile.ErrCorrupt},
		"gzip, then rubbish":     {in: append(slices.Clone(gz), "rubbish and more"...), want: profile.ErrCorrupt},
		"zstd, cut":              {in: zs[:len(zs)/2], want: profile.ErrTruncated},
		"zstd, magic only":       {in: zs[:4], want: profile.ErrTruncated},
		"zstd, checksum":         {in: flip(zs, len(zs)-2), want: profile.ErrCorrupt},
		"zstd, window":           {in: window, want: profile.ErrUnsupported},
		"tar, cut in a member":   {in: files[:6*1024], want: profile.ErrTruncated, members: 1},
		"tar, bad second header": {in: flip(files, 512+5120+3), want: profile.ErrCorrupt, members: 1},
		"tar.gz, cut":            {in: gzipOf(files)[:9000], want: profile.ErrTruncated, members: 1},
		"tar.gz, checksum":       {in: flip(gzipOf(files), len(gzipOf(files))-6), want: profile.ErrCorrupt, members: 2},
		"gz in tar, cut":         {in: tarOf("a", "1", "b.gz", string(gz[:2000])), want: profile.ErrTruncated, members: 1},
		"zip, cut":               {in: zipped[:len(zipped)-30], want: profile.ErrCorrupt},
		"zip, checksum":          {in: flip(zipped, directory+16), want: profile.ErrCorrupt, members: 1},
		"zip, data":              {in: flip(zipped, directory-500), want: profile.ErrCorrupt, members: 1},
		"zip, encrypted":         {in: encrypted, want: profile.ErrUnsupported, members: 1},
		"zip, unknown method":    {in: method, want: profile.ErrUnsupported, members: 1},
		"too deep":               {in: deep, want: profile.ErrUnsupported},
	} {
		got, err := list(t, c.in, Options{})
		var fe *profile.FormatError
		if !errors.Is(err, c.want) || !errors.As(err, &fe) || !strings.Contains(fe.File, "in") || len(got) != c.members {
			t.Errorf("%s: %d members, %v", name, len(got), err)
		}
	}
}

// TestTruncatedEverywhere cuts an archive at every byte: never a panic, never a member that is not whole.
func TestTruncatedEverywhere(t *testing.T) {
	whole := []string{"!a=" + strings.Repeat("1", 700), "!b.gz=22", "!c="}
	files := tarOf("a", strings.Repeat("1", 700), "b.gz", string(gzipOf([]byte("22"))), "c", "")
	var r Reader
	defer r.Close()
	for name, b := range map[string][]byte{"tar": files, "gz": gzipOf(files), "zst": zstdOf(files)} {
		for n := sniffLen; n < len(b); n++ {
			got, err := contentsOf(Input{Name: "-", opts: &Options{Stdin: bytes.NewReader(b[:n])}}, &r)
			if len(got) > len(whole) || !slices.Equal(got, whole[:len(got)]) {
				t.Fatalf("%s cut at %d: %.100q", name, n, got)
			}
			if err == nil && name != "tar" { // a tar may end after a member
				t.Fatalf("%s cut at %d: no error", name, n)
			}
		}
	}
}

// zstdZeros makes a zstd frame of n bytes, all zero, 128 KiB for every four.
func zstdZeros(n int) []byte {
	b := []byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58} // frame header, 2 MiB window
	for n > 0 {
		block := min(n, 128<<10)
		n -= block
		header := uint32(block)<<3 | 1<<1 // a run of one byte
		if n == 0 {
			header |= 1
		}
		b = append(binary.LittleEndian.AppendUint32(b, header)[:len(b)+3], 0)
	}
	return b
}

// zeroMembers makes a tar archive of n members of size zeros each.
func zeroMembers(size, n int) []byte {
	var members []string
	for i := range n {
		members = append(members, strconv.Itoa(i), string(make([]byte, size)))
	}
	return tarOf(members...)
}

func TestExpansionLimits(t *testing.T) {
	const free = 16 << 20
	for name, c := range map[string]struct {
		in   []byte
		most int64
		want string
	}{
		"dense but small":   {in: zstdZeros(free)},
		"dense":             {in: zstdZeros(free + 1), want: "compressed, want at most 16 MiB, or 20 times the compressed bytes"},
		"dense in a tar":    {in: tarOf("a", "", "bomb", string(zstdZeros(free+1))), want: "!bomb: size is"},
		"dense twice":       {in: zstdOf(zstdZeros(free + 1)), want: "compressed, want at most 16 MiB, or 20 times"},
		"many dense in one": {in: zstdOf(tarOf("a", string(make([]byte, free)), "b", string(make([]byte, free))))},
		"allowed":           {in: zstdZeros(free + 1), most: 1 << 30},
		"sparse":            {in: zstdOf(append(random(free/16), make([]byte, free)...))},
		"sparse in a tar":   {in: tarOf("a", string(random(free/8)), "b", string(zstdZeros(free+1))), want: "!b: size is"},
		"copies":            {in: zstdOf(tarOf("a", string(random(free/8)), "b", string(make([]byte, free+1))))},
		"too many members":  {in: zstdOf(zeroMembers(free, 5)), want: "size of all that is in it is"},
		"dense in a zip":    {in: zipOf("a", "", "bomb", string(make([]byte, free+1))), want: "!bomb: size is"},
		"zip of many":       {in: zipOf("a", string(make([]byte, free)), "b", string(make([]byte, free)), "c", string(make([]byte, free)), "d", string(make([]byte, free)), "e", "12"), want: "size of all that is in it is"},
		"zeros":             {in: append(random(1000), make([]byte, 2*free+1)...), want: "of them zeros, want at most 32 MiB of zeros in a row"},
		"zeros between":     {in: append(append(make([]byte, 2*free), 1), make([]byte, 2*free)...)},
		"twice compressed":  {in: zstdOf(tarOf("a", string(gzipOf(bytes.Repeat(gzipOf(nil), free/20))))), want: "size of all that is in it is"},
		"file too large":    {in: gzipOf(make([]byte, 1001)), most: 1000, want: "size is more than 1000 bytes"},
		"file of the limit": {in: gzipOf(make([]byte, 1000)), most: 1000},
		"member too large":  {in: tarOf("a", "1", "b", strings.Repeat("x", 1001)), most: 1000, want: "!b: size is"},
		"stream too large":  {in: make([]byte, 1001), most: 1000, want: "-: size is"},
	} {
		limits := defaultLimits
		limits.free, limits.zeros = free, 2*free
		limits.total, limits.totalRatio = 4*free, 100
		in := Input{Name: "-", opts: &Options{Stdin: bytes.NewReader(c.in), MaxSize: c.most, limits: &limits}}
		err := in.Each(nil, func(*Data) error { return nil })
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.want != "" && (!errors.Is(err, profile.ErrUnsupported) || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// TestAnnouncedSizes has small files that announce large ones: memory must not
// follow the announcement, but for the window of zstd.
func TestAnnouncedSizes(t *testing.T) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	oracle.NoError(t, w.WriteHeader(&tar.Header{Name: "a", Size: 8 << 30, Mode: 0o644}))
	for name, c := range map[string]struct {
		in  []byte
		max uint64
	}{
		"tar member": {b.Bytes(), 1 << 20},
		// A window of 128 MiB, or contents of 2 GiB, and one byte of them.
		"zstd window":  {[]byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x88, 0x09, 0x00, 0x00, 'x'}, maxZstdWindow + 1<<20},
		"zstd content": {[]byte{0x28, 0xb5, 0x2f, 0xfd, 0x80, 0x50, 0xff, 0xff, 0xff, 0x7f, 0x09, 0x00, 0x00, 'x'}, 4 << 20},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		list(t, c.in, Options{})
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > c.max {
			t.Errorf("%s: %d bytes of input cost %d KiB", name, len(c.in), used>>10)
		}
	}
}

// TestArchivesOfTheRealTools reads what tar, gzip and zstd write.
func TestArchivesOfTheRealTools(t *testing.T) {
	tarExe := oracle.Tool(t, "tar")
	t.Chdir(t.TempDir())
	var want []string
	for i, size := range []int{0, 10, 70_000, 3 << 20} {
		name := fmt.Sprintf("p/%d.profraw", i)
		b := random(size)
		write(t, name, string(b))
		want = append(want, "!"+name+"="+string(b))
	}
	write(t, "p/.hidden", "")
	for _, flags := range [][]string{
		{"--format=gnu"}, {"--format=ustar"}, {"--format=posix"}, {"-z"}, {"-z", "--format=posix"}, {"--zstd"},
	} {
		if flags[0] == "--zstd" {
			oracle.Tool(t, "zstd")
		}
		args := append(flags, "--sort=name", "-cf", "out", "p")
		if _, stderr, code := oracle.Run(t, tarExe, args...); code != 0 {
			t.Errorf("tar %v: %s", flags, stderr)
			continue
		}
		in := oracle.ReadFile(t, "out")
		got, err := list(t, in, Options{})
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("tar %v: %d members, %v", flags, len(got), err)
		}
	}
}

func FuzzArchive(f *testing.F) {
	files := tarOf("a", "1", "b.gz", string(gzipOf([]byte("2"))), ".hid", "")
	for _, b := range [][]byte{
		files, gzipOf(files), zstdOf(files), zipOf("a", "1", "b.tar", string(files)), zstdZeros(1 << 18), gzipOf(zstdOf([]byte("x"))), nil, []byte("plain"),
	} {
		f.Add(b)
	}
	opts := &Options{MaxSize: 1 << 20}
	f.Fuzz(func(t *testing.T, b []byte) {
		o := *opts
		o.Stdin = bytes.NewReader(b)
		var r Reader
		defer r.Close()
		run := func(in Input) (names []string, sum int, err error) {
			err = in.Each(&r, func(d *Data) error {
				names = append(names, d.Name())
				for _, c := range d.Bytes() {
					sum += int(c)
				}
				if len(d.Bytes()) > 1<<20 && sniff(b) != plain {
					t.Errorf("%s has %d bytes", d.Name(), len(d.Bytes()))
				}
				return nil
			})
			var fe *profile.FormatError
			if err != nil && !errors.As(err, &fe) {
				t.Errorf("untyped error %v", err)
			}
			return names, sum, err
		}
		names, sum, err := run(Input{Name: "-", opts: &o})
		// The same bytes, and the same Reader, give the same again.
		o.Stdin = iotest{bytes.NewReader(b)}
		names2, sum2, err2 := run(Input{Name: "-", opts: &o})
		if !slices.Equal(names, names2) || sum != sum2 || fmt.Sprint(err) != fmt.Sprint(err2) {
			t.Errorf("first %q, %v\nthen  %q, %v", names, err, names2, err2)
		}
	})
}
