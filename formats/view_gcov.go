package formats

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/formats/gcov"
	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/profile"
)

// ObjectCounts are the counts of one object file, which may be a sum.
type ObjectCounts struct {
	Path   string // of the first counts; the notes may lie beside it
	Counts *gcov.Counts
}

// A NotesFile is notes of one object file.
type NotesFile struct {
	Path string
	Data []byte // nil if the file is to be read
}

// viewGCov returns the view of notes whose functions did not run, or of counts with their notes.
func viewGCov(name string, data []byte, f Format, opt ViewOptions) (profile.View, error) {
	if f == GCovNotes {
		return ViewCounts(name, nil, []NotesFile{{name, data}}, opt)
	}
	c, err := gcov.ReadCounts(name, data)
	if err != nil {
		return nil, err
	}
	v, err := ViewCounts(name, []ObjectCounts{{name, c}}, nil, opt)
	if IsWithoutNotes(err) && !opt.Coverage {
		return c.View(name), nil
	}
	return v, err
}

// errNoNotes is the cause of an error about counts without notes.
var errNoNotes = errors.Join(errors.New("without notes"), profile.ErrMismatch)

// ViewCounts returns the view of the counts of all objects with their notes: the given notes, the notes beside the
// counts, or those in o.Programs, which may be files or folders. Given notes without counts are objects that did not
// run. If no counts have notes, it returns an error.
func ViewCounts(name string, counts []ObjectCounts, notes []NotesFile, opt ViewOptions) (profile.View, error) {
	var p gcov.Program
	s := notesSearch{opt: &opt, used: make(map[string]bool)}
	for i := range notes {
		s.add(&notes[i])
	}
	without := 0
	var first error
	for i := range counts {
		u, err := s.unit(&counts[i])
		if err != nil {
			opt.warn(err)
			if first == nil {
				first = err
			}
			without++
			continue
		}
		if u.Missing > 0 {
			opt.warn(flaw.File(counts[i].Path).Field("functions without notes").Got(u.Missing).Want("0").Mismatch())
		}
		p.Add(u)
	}
	if without > 0 && without == len(counts) {
		return nil, first
	}
	for i := range notes {
		if s.used[notes[i].Path] {
			continue
		}
		n, err := notes[i].read()
		if err == nil {
			var u *gcov.Unit
			if u, err = gcov.NewUnit(n, nil); err == nil {
				p.Add(u)
			}
		}
		if err != nil {
			return nil, err
		}
	}
	for _, f := range p.Complex {
		opt.warn(flaw.File(name).Field("cycles on one line of " + f).Got("too many to count each").Want("fewer").Unsupported())
	}
	return p.View(name), nil
}

// read reads the notes.
func (f *NotesFile) read() (*gcov.Notes, error) {
	data := f.Data
	if data == nil {
		var err error
		if data, err = os.ReadFile(f.Path); err != nil {
			return nil, err
		}
	}
	return gcov.ReadNotes(f.Path, data)
}

// stamp returns the stamp of the notes; ok is false if they have no header.
func (f *NotesFile) stamp() (stamp uint32, ok bool) {
	head := f.Data
	if head == nil {
		in, err := os.Open(f.Path)
		if err != nil {
			return 0, false
		}
		defer in.Close()
		head = make([]byte, 12)
		if _, err := io.ReadFull(in, head); err != nil {
			return 0, false
		}
	}
	return gcov.StampOf(head)
}

// A notesSearch finds the notes of counts by their stamp, which both have from one compilation.
type notesSearch struct {
	opt      *ViewOptions
	byStamp  map[uint32][]*NotesFile
	searched bool // the programs
	used     map[string]bool
}

func (s *notesSearch) add(f *NotesFile) {
	if stamp, ok := f.stamp(); ok {
		if s.byStamp == nil {
			s.byStamp = make(map[uint32][]*NotesFile)
		}
		s.byStamp[stamp] = append(s.byStamp[stamp], f)
	}
}

func stem(path string) string { return strings.TrimSuffix(path, filepath.Ext(path)) }

// unit joins counts with their notes.
func (s *notesSearch) unit(c *ObjectCounts) (*gcov.Unit, error) {
	beside := &NotesFile{Path: stem(c.Path) + ".gcno"}
	stamp, exists := beside.stamp()
	found := beside
	if !exists || stamp != c.Counts.Stamp {
		if found = s.find(c); found == nil {
			if exists {
				return nil, flaw.File(c.Path).Field("stamp").Gotf("%08x", c.Counts.Stamp).Wantf("%08x, as in %s", stamp, beside.Path).
					Hint("the notes and the counts are of different compilations").Because(errNoNotes)
			}
			return nil, flaw.File(c.Path).Field("notes file").Got("not found").Wantf("%s, which the compiler wrote", filepath.Base(beside.Path)).
				Hint("lines and names of functions are in the notes; --program FOLDER finds them elsewhere").Because(errNoNotes)
		}
	}
	n, err := found.read()
	if err != nil {
		return nil, err
	}
	s.used[found.Path] = true
	u, err := gcov.NewUnit(n, c.Counts)
	return u, flaw.InFile(err, c.Path)
}

// find returns notes with the stamp of the counts, if possible of the same name; nil if there are none.
func (s *notesSearch) find(c *ObjectCounts) *NotesFile {
	if len(s.byStamp[c.Counts.Stamp]) == 0 && !s.searched {
		s.searched = true
		for _, path := range s.opt.Programs {
			_ = filepath.WalkDir(path, func(path string, entry fs.DirEntry, err error) error {
				if err == nil && !entry.IsDir() && filepath.Ext(path) == ".gcno" {
					s.add(&NotesFile{Path: path})
				}
				return nil
			})
		}
	}
	files := s.byStamp[c.Counts.Stamp]
	i := slices.IndexFunc(files, func(f *NotesFile) bool { return filepath.Base(stem(f.Path)) == filepath.Base(stem(c.Path)) })
	switch {
	case i >= 0:
		return files[i]
	case len(files) > 0:
		return files[0]
	}
	return nil
}

// JoinNotes joins counts with the notes beside them, or in the files and folders of programs. [IsWithoutNotes] tells the
// error about missing notes from others.
func JoinNotes(name string, c *gcov.Counts, programs []string) (*gcov.Unit, error) {
	s := notesSearch{opt: &ViewOptions{Programs: programs}, used: make(map[string]bool)}
	return s.unit(&ObjectCounts{name, c})
}

// IsWithoutNotes reports whether an error is about counts whose notes were not found.
func IsWithoutNotes(err error) bool { return errors.Is(err, errNoNotes) }
