package inputs

import (
	"archive/tar"
	"bufio"
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
// calls fn for each file in the first MiB of it, until fn returns false. Errors end it without a word.
func (in Input) Heads(unpack bool, fn func(head []byte) (more bool)) {
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
	h := heads{fn: fn}
	defer h.reader.Close()
	if unpack {
		h.stream(io.LimitReader(f, maxUnpacked), 0)
	} else {
		head, _ := bufio.NewReaderSize(f, headSize).Peek(headSize)
		fn(head)
	}
}

// heads is one run of [Input.Heads].
type heads struct {
	fn     func(head []byte) (more bool)
	reader Reader
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
	case kind != tarred:
		return h.fn(head)
	}
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
