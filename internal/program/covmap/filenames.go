package covmap

import (
	"cmp"
	"encoding/binary"
	"path"
	"strings"

	"github.com/profuse-pgo/profuse/internal/cursor"
	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/llvm/zlibtext"
)

// readFilenames reads a list of file names:
//
//	uleb N, [since version 4: uleb size, uleb compressed size,] N × (uleb length, bytes)
//
// The names are compressed if the compressed size is not 0. Since version 6 the first is the compilation
// directory, which relative names are joined to; opt.CompilationDir, if not empty, stands in for it.
func readFilenames(blob []byte, at int64, version int, opt *Options) (*fileList, error) {
	const section = "file names"
	c := cursor.New(section, at, blob, binary.LittleEndian)
	n := c.ULEB("number of file names")
	if version >= 4 {
		size, packed := c.ULEB("size"), c.ULEB("compressed size")
		if packed > 0 {
			start := c.Offset()
			z := c.Bytes(packed, "compressed file names")
			if c.Err() != nil {
				return nil, c.Err()
			}
			limit := zlibtext.MaxSize(len(z))
			text, err := zlibtext.Inflate(z, size, limit)
			if err == zlibtext.ErrTooLarge {
				return nil, flaw.At(section, start).Field("size").Got(size).
					Wantf("at most %d, for %d bytes compressed", limit, len(z)).Unsupported()
			}
			if err != nil {
				return nil, flaw.At(section, start).Field("compressed file names").Got(err.Error()).
					Wantf("a zlib stream of %d bytes", size).Corrupt()
			}
			c = cursor.New("file names, inflated", 0, []byte(text), binary.LittleEndian)
		}
	}
	l := &fileList{version: version, names: make([]string, 0, c.Count(n, 1, "number of file names"))}
	for range cap(l.names) {
		l.names = append(l.names, string(c.Bytes(c.ULEB("length of a file name"), "file name")))
	}
	if c.Err() != nil {
		return nil, c.Err()
	}
	if version >= 6 && len(l.names) > 0 {
		l.resolve(opt)
	}
	return l, nil
}

// resolve makes relative names absolute.
func (l *fileList) resolve(opt *Options) {
	dir := cmp.Or(opt.CompilationDir, l.names[0])
	for i, name := range l.names[1:] {
		switch {
		case opt.UnixPaths && !strings.HasPrefix(name, "/"):
			l.names[i+1] = path.Join(dir, name)
		case !opt.UnixPaths && !isAbsolute(name):
			l.names[i+1] = join(dir, name)
		}
	}
}

// isAbsolute reports whether a name is absolute on the system that wrote it.
func isAbsolute(name string) bool {
	return strings.HasPrefix(name, "/") || strings.HasPrefix(name, `\\`) ||
		len(name) > 2 && name[1] == ':' && (name[2] == '\\' || name[2] == '/')
}

// join joins a folder and a relative name without "." and "..".
func join(dir, name string) string {
	if strings.ContainsRune(dir, '\\') && !strings.ContainsRune(dir, '/') { // of a Windows host
		return strings.ReplaceAll(path.Join(strings.ReplaceAll(dir, `\`, "/"), strings.ReplaceAll(name, `\`, "/")), "/", `\`)
	}
	return path.Join(dir, name)
}
