package irpgocmd

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/profuse-pgo/profuse/formats/irpgo"
	"github.com/profuse-pgo/profuse/internal/files/atomicfile"
	"github.com/profuse-pgo/profuse/internal/files/filelock"
)

// rawPattern names the raw profile of each process, in a pool. %p keeps programs apart: with %m alone, programs with
// equal functions and sizes add to one file, which has the build id of only one of them. %1m makes a process add to a
// file that exists, of its parent or of an earlier process with its number, under a lock.
const (
	rawPattern = "%p-%1m" + rawSuffix
	rawSuffix  = ".profraw"
)

// A Pool is the folder of the raw profiles of a command. While the command runs, it adds them up by program, so that
// thousands of processes need no more disk than a part of them.
type Pool struct {
	folder string
	// Raw profiles are added up if there are maxFiles, or if their size is maxBytes.
	maxFiles int
	maxBytes int64
	every    time.Duration // between looks at the folder
	emptied  []string      // paths
}

// NewPool returns the pool of an empty folder.
func NewPool(folder string) *Pool {
	return &Pool{folder: folder, maxFiles: 512, maxBytes: 1 << 30, every: 500 * time.Millisecond}
}

// Environment returns the variable by which processes write their profiles into the pool.
func (p *Pool) Environment() string {
	return "LLVM_PROFILE_FILE=" + filepath.Join(p.folder, rawPattern)
}

// Run calls f, which runs the command, and adds up raw profiles until f returns.
func (p *Pool) Run(ctx context.Context, f func() error) error {
	ctx, cancel := context.WithCancel(ctx)
	var watching sync.WaitGroup
	watching.Go(func() { p.watch(ctx) })
	defer func() {
		cancel()
		watching.Wait()
		p.removeEmptied()
	}()
	return f()
}

// watch adds up raw profiles until ctx ends.
func (p *Pool) watch(ctx context.Context) {
	tick := time.NewTicker(p.every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if names := p.pending(); names != nil {
				p.reduce(names)
			}
		}
	}
}

// pending returns the raw profiles with contents, if there are enough to be added up.
func (p *Pool) pending() (names []string) {
	entries, _ := os.ReadDir(p.folder)
	var size int64
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), rawSuffix) {
			continue
		}
		if info, err := e.Info(); err == nil && info.Size() > 0 {
			names = append(names, e.Name())
			size += info.Size()
		}
	}
	if len(names) < p.maxFiles && size < p.maxBytes {
		return nil
	}
	return names
}

// reduce adds raw profiles to the sums of their programs and empties them. Files that cannot be read stay
// for the report.
func (p *Pool) reduce(names []string) {
	sums := make(map[string]*programSum)
	for _, name := range names {
		p.add(sums, name)
	}
	for _, s := range sums {
		if len(s.files) > 0 && s.write() == nil {
			for _, f := range s.files {
				if f.Truncate(0) == nil {
					p.emptied = append(p.emptied, f.Name())
				}
			}
		}
		for _, f := range s.files {
			f.Close() // and unlock it
		}
	}
}

// removeEmptied removes the emptied files. Processes may have written to some of them again.
func (p *Pool) removeEmptied() {
	for _, name := range p.emptied {
		if info, err := os.Stat(name); err == nil && info.Size() == 0 {
			os.Remove(name)
		}
	}
}

// A programSum is the sum of the raw profiles of one program.
type programSum struct {
	path   string
	merger *irpgo.Merger
	kinds  sourceKinds
	files  []*os.File // raw profiles in the sum, locked
}

// add adds a raw profile, unless a process writes it.
func (p *Pool) add(sums map[string]*programSum, name string) {
	f, err := os.OpenFile(filepath.Join(p.folder, name), os.O_RDWR, 0)
	if err != nil {
		return
	}
	var s *programSum
	if err = filelock.Exclude(int(f.Fd())); err == nil {
		s, err = p.addLocked(sums, f)
	}
	if err != nil {
		f.Close()
		return
	}
	s.files = append(s.files, f)
}

func (p *Pool) addLocked(sums map[string]*programSum, f *os.File) (*programSum, error) {
	data, err := io.ReadAll(f)
	if err != nil {
		return nil, err
	}
	r, err := irpgo.NewReader(f.Name(), data, irpgo.ReaderOptions{})
	if err != nil {
		return nil, err
	}
	// Programs without a build id have the signature of the runtime, which the name of the file ends with.
	_, id, _ := strings.Cut(strings.TrimSuffix(filepath.Base(f.Name()), rawSuffix), "-")
	for _, b := range r.Info.BinaryIDs {
		id += "-" + hex.EncodeToString(b)
	}
	s := sums[id]
	if s == nil {
		s = &programSum{
			path: filepath.Join(p.folder, fmt.Sprintf("sum-%s.profpart", id)), merger: irpgo.NewMerger(irpgo.MergeOptions{}), kinds: make(sourceKinds),
		}
		if err := s.addEarlier(); err != nil {
			return nil, err
		}
		sums[id] = s
	}
	return s, s.addProfile(r)
}

// addEarlier adds the sum that was written before, if there is one.
func (s *programSum) addEarlier() error {
	data, err := os.ReadFile(s.path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	r, err := irpgo.NewReader(s.path, data, irpgo.ReaderOptions{})
	if err != nil {
		return err
	}
	return s.addProfile(r)
}

func (s *programSum) addProfile(r *irpgo.Reader) error {
	if _, err := s.merger.Add(r, 1); err != nil {
		return err
	}
	s.kinds.add(len(s.kinds), r.Info)
	return nil
}

func (s *programSum) write() error {
	f, err := atomicfile.Create(s.path, atomicfile.Options{})
	if err != nil {
		return err
	}
	defer f.Close()
	if err := s.merger.WritePartial(f, s.kinds.infos()); err != nil {
		return err
	}
	return f.Commit()
}
