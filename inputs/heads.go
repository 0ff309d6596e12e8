package inputs

import (
	"archive/tar"
	"bufio"
	"bytes"
	"io"
	"os"

	"github.com/profuse-pgo/profuse/internal/files/atomicfile"
)

const (
	// headSize is how many first bytes of a file Heads reads.
	headSize = 4 << 10
	// maxUnpacked is how many bytes it unpacks of one container to get there.
	maxUnpacked = 1 << 20
)

// Heads calls fn with the first 4 KiB of the file. If unpack is set and the file is compressed or an archive, it
// calls fn for each file in the first MiB of it, until fn returns false. Errors end it without a word. Heads reports
// whether the file is an archive, if unpack is set.
func (in Input) Heads(unpack bool, fn func(head []byte) (more bool)) (archive bool) {
	h := heads{fn: fn}
	h.run(in, unpack)
	return h.archive
}

func (h *heads) run(in Input, unpack bool) {
	local, release, err := in.local()
	if err != nil {
		return
	}
	defer release()
	f, err := os.Open(local.path)
	if err != nil {
		return
	}
	defer f.Close()
	defer h.reader.Close()
	head, _ := bufio.NewReaderSize(f, headSize).Peek(headSize)
	switch {
	case !unpack:
		h.fn(head)
	case sniff(head) == zipped:
		h.zip(f)
	default:
		h.stream(io.MultiReader(bytes.NewReader(head), io.LimitReader(f, maxUnpacked)), 0)
	}
}

// heads is one run of [Input.Heads].
type heads struct {
	fn      func(head []byte) (more bool)
	reader  Reader
	archive bool // the file is an archive
}

func (h *heads) zip(f *os.File) {
	h.archive = true
	info, err := f.Stat()
	if err != nil {
		return
	}
	z, err := newZip(f, info.Size())
	if err != nil {
		return
	}
	passed := uint64(0) // compressed bytes
	for _, member := range z.File {
		if passed > maxUnpacked {
			return
		}
		passed += min(member.CompressedSize64, maxUnpacked+1)
		if _, hidden := atomicfile.IsHidden(member.Name); hidden || !member.Mode().IsRegular() {
			continue
		}
		r, err := member.Open()
		if err != nil {
			return
		}
		more := h.stream(io.LimitReader(r, maxUnpacked), 1)
		r.Close()
		if !more {
			return
		}
	}
}

// stream passes the first bytes of what is in src, which lies within depth containers. It
// returns false to end the run.
func (h *heads) stream(src io.Reader, depth int) (more bool) {
	br := bufio.NewReaderSize(src, headSize)
	head, _ := br.Peek(headSize)
	kind := sniff(head)
	switch {
	case kind != plain && depth == maxDepth:
		return false
	case kind == gzipped:
		z, err := h.reader.takeGzip(br)
		return err == nil && h.stream(io.LimitReader(z, maxUnpacked), depth+1)
	case kind == zstandard:
		z, err := h.reader.takeZstd(br)
		if err != nil {
			return false
		}
		defer h.reader.giveZstd(z)
		return h.stream(io.LimitReader(z, maxUnpacked), depth+1)
	case kind == zipped: // whose directory is at its end
		return false
	case kind != tarred:
		return h.fn(head)
	}
	h.archive = true
	for t := tar.NewReader(br); ; {
		member, err := t.Next()
		if err != nil {
			return false
		}
		if _, hidden := atomicfile.IsHidden(member.Name); hidden || member.Typeflag != tar.TypeReg {
			continue
		}
		if !h.stream(t, depth+1) {
			return false
		}
	}
}
