package irpgo

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/profuse-pgo/profuse/internal/cursor"
	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/llvm/llvmerr"
	"github.com/profuse-pgo/profuse/internal/llvm/zlibtext"
)

// A names blob is one chunk per translation unit:
//
//	ULEB128 size of the names | ULEB128 compressed size, 0 = stored | payload
//
// The payload, a zlib stream unless stored, is the names joined by 0x01.
// Linkers may leave any number of zero bytes between chunks.

const nameSeparator = "\x01"

// decodeNames calls yield for every name in the blob, which begins at file
// offset base. The strings do not alias the blob.
func decodeNames(section string, base int64, blob []byte, yield func(name string)) error {
	return (*nameCache)(nil).decode(section, base, blob, func(l *nameList) {
		for _, name := range l.names {
			yield(name)
		}
	})
}

// decode calls yield with the names of every chunk in the blob, which begins
// at file offset base. The strings do not alias the blob.
func (k *nameCache) decode(section string, base int64, blob []byte, yield func(*nameList)) error {
	c := cursor.New(section, base, blob, binary.LittleEndian)
	budget := newNameBudget(blob)
	for c.Len() > 0 {
		start, from := c.Offset(), c.Pos()
		size := c.ULEB("uncompressed size")
		packed := c.ULEB("compressed size")
		n, what := packed, "compressed names"
		if packed == 0 {
			n, what = size, "names"
		}
		payload := c.Bytes(n, what)
		if c.Err() != nil {
			return c.Err()
		}
		chunk := blob[from:c.Pos()]
		list := k.lookup(chunk)
		if list == nil {
			text := ""
			if packed == 0 {
				text = string(payload)
			} else {
				var err error
				text, err = zlibtext.Inflate(payload, size, budget.text)
				if err == zlibtext.ErrTooLarge {
					return flaw.At(section, start).Field("size of the names, inflated,").Gotf("%d bytes more", size).
						Wantf("in all at most %d bytes, for %d compressed", zlibtext.MaxSize(len(blob)), len(blob)).Unsupported()
				}
				if err != nil {
					return flaw.At(section, start).Field("compressed names").Got(err.Error()).
						Wantf("a zlib stream of %d bytes", size).
						Because(&llvmerr.Error{Code: llvmerr.UncompressFailed})
				}
			}
			if !budget.take(text) {
				return flaw.At(section, start).Field("number of names").Gotf("more than %d", maxNames(blob)).
					Wantf("at most that many, for %d bytes", len(blob)).Unsupported()
			}
			list = &nameList{names: strings.Split(text, nameSeparator)}
			if slices.Contains(list.names, "") {
				return flaw.At(section, start).Field("symbol name").Got("empty").Want("at least one byte").
					Because(malformed("symbol name is empty"))
			}
			k.keep(chunk, len(text), list)
		}
		yield(list)
		for c.Len() > 0 && blob[c.Pos()] == 0 {
			c.Skip(1, "padding")
		}
	}
	return c.Err()
}

// A nameBudget limits the memory for the names of a blob: linkers keep each name once
// for each translation unit that has the function, so the records of the file do not
// bound them. A name that is compressed with others takes at least two bytes.
type nameBudget struct{ text, names uint64 }

func newNameBudget(blob []byte) *nameBudget {
	return &nameBudget{text: zlibtext.MaxSize(len(blob)), names: maxNames(blob)}
}

// maxNames returns how many names a blob may have.
func maxNames(blob []byte) uint64 { return max(1<<20, uint64(len(blob))/2) }

// take reports whether the names in text are within the budget.
func (b *nameBudget) take(text string) bool {
	size, n := uint64(len(text)), 1+uint64(strings.Count(text, nameSeparator))
	if size > b.text || n > b.names {
		return false
	}
	b.text, b.names = b.text-size, b.names-n
	return true
}

// nameList is the names of one chunk.
type nameList struct {
	names []string
	refs  []uint64 // their references; nil until [nameList.hash]
}

// hash computes the references.
func (l *nameList) hash() {
	if l.refs != nil {
		return
	}
	refs := make([]uint64, len(l.names))
	inParts(len(refs), func(from, to int) {
		for i := from; i < to; i++ {
			refs[i] = NameRef(l.names[i])
		}
	})
	l.refs = refs
}

// all yields the names by their references.
func (l *nameList) all(yield func(ref uint64, name string) bool) {
	l.hash()
	for i, ref := range l.refs {
		if !yield(ref, l.names[i]) {
			return
		}
	}
}

// inParts calls do for parts of the range from 0 to n-1, at once on all CPUs.
func inParts(n int, do func(from, to int)) {
	parts := min(runtime.GOMAXPROCS(0), 1+n/4096)
	var wg sync.WaitGroup
	for i := 1; i < parts; i++ {
		wg.Go(func() { do(i*n/parts, (i+1)*n/parts) })
	}
	do(0, n/parts)
	wg.Wait()
}

// nameCache keeps the names of chunks: programs of one source tree are linked from the same libraries, whose names
// are packed where they are compiled. It is safe for concurrent use; nil keeps nothing.
type nameCache struct {
	mu    sync.Mutex
	seed  maphash.Seed
	lists map[uint64][]keptNames // by hash of the chunk
	size  int
}

type keptNames struct {
	chunk []byte
	list  *nameList // hashed
}

// maxKeptNames bounds the memory of a nameCache, in bytes.
const maxKeptNames = 64 << 20

func newNameCache() *nameCache {
	return &nameCache{seed: maphash.MakeSeed(), lists: make(map[uint64][]keptNames)}
}

// lookup returns the names of the chunk if they are there.
func (k *nameCache) lookup(chunk []byte) *nameList {
	if k == nil {
		return nil
	}
	h := maphash.Bytes(k.seed, chunk)
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, kept := range k.lists[h] {
		if bytes.Equal(kept.chunk, chunk) {
			return kept.list
		}
	}
	return nil
}

// keep keeps the names of the chunk, whose text has the given size.
func (k *nameCache) keep(chunk []byte, size int, l *nameList) {
	if k == nil {
		return
	}
	l.hash()
	h := maphash.Bytes(k.seed, chunk)
	size += len(chunk) + 24*len(l.names)
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.size+size <= maxKeptNames {
		k.size += size
		k.lists[h] = append(k.lists[h], keptNames{bytes.Clone(chunk), l})
	}
}

// appendNames appends one names chunk. Compression is zlib at the best level,
// as LLVM has it; the bytes differ from C zlib's, the content does not.
func appendNames(dst []byte, names []string, compress bool) []byte {
	if len(names) == 0 {
		return dst
	}
	joined := strings.Join(names, nameSeparator)
	dst = cursor.AppendULEB(dst, uint64(len(joined)))
	if !compress {
		dst = append(dst, 0)
		return append(dst, joined...)
	}
	z := zlibtext.Deflate(joined)
	dst = cursor.AppendULEB(dst, uint64(len(z)))
	return append(dst, z...)
}

// Symtab maps name references to names (InstrProfSymtab).
type Symtab struct {
	names lazyMap[uint64, string]
}

// index returns all names by their references.
func (s *Symtab) index() map[uint64]string { return s.names.all() }

// learn makes name known and returns its reference.
func (s *Symtab) learn(name string) uint64 {
	ref := NameRef(name)
	s.add(ref, name)
	return ref
}

func (s *Symtab) add(ref uint64, name string) { s.names.add(ref, name) }

// addList makes the names of a list known, later than those added before.
func (s *Symtab) addList(l *nameList) { s.names.addLater(l.all) }

// Read makes the names of a section __llvm_prf_names of a program known. The
// section, whose name is for errors, begins at a file offset.
func (s *Symtab) Read(section string, offset int64, blob []byte) error {
	return decodeNames(section, offset, blob, func(name string) { s.learn(name) })
}

// Name returns the name with the given reference, or "" when it is unknown.
func (s *Symtab) Name(ref uint64) string {
	if s == nil {
		return ""
	}
	return s.index()[ref]
}

// SplitName separates the source file prefix that names of local linkage carry: "dir/file.c;static_fn" since LLVM
// 18, "dir/file.c:static_fn" before and for front-end profiles. file is empty for external names.
func SplitName(name string) (file, symbol string) {
	if i := strings.IndexByte(name, ';'); i >= 0 {
		return name[:i], name[i+1:]
	}
	// Objective-C names ("-[Class method:]") contain colons themselves.
	if i := strings.IndexByte(name, ':'); i > 0 && !strings.HasPrefix(name, "-[") && !strings.HasPrefix(name, "+[") {
		if !strings.HasPrefix(name[i:], "::") {
			return name[:i], name[i+1:]
		}
	}
	return "", name
}
