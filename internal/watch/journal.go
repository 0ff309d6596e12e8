package watch

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/profuse-pgo/profuse/internal/files/atomicfile"
	"github.com/profuse-pgo/profuse/internal/flaw"
)

// The files beside an output.
const (
	journalSuffix = ".watch"
	lockSuffix    = ".watch.lock"
)

// journalOf returns the path of the journal of an output, "app.profdata.watch".
func journalOf(output string) string { return output + journalSuffix }

// A journal lists the files in an output. It is replaced before the output is, and
// describes both the old and the new output:
//
//	profuse watch journal 1
//	before HASH FILES PROFILES             of the output; HASH is "none" if there is none
//	after HASH FILES PROFILES
//	has whole|part SIZE MTIME INODE CONTENT "PATH"    in both
//	adds whole|part SIZE MTIME INODE CONTENT "PATH"   in the new one only
//	end                                    missing if the run was killed
//	sum HASH                               of all bytes before this line
//
// Hashes are SHA-256 in hexadecimal, MTIME is in nanoseconds since 1970, paths are absolute and quoted as in Go.
type journal struct {
	before, after outputState
	has, adds     []*entry
	ended         bool
}

// An outputState is one content of the output.
type outputState struct {
	hash contentID // zero if there is no output
	Total
}

func (s outputState) exists() bool { return s.hash != contentID{} }

// An entry is a file that is in the output.
type entry struct {
	path    string
	id      fileID
	content contentID
	part    bool // some of its profiles could not be merged

	ours bool // id and content were seen by this process
	seen int  // the last scan that found it
}

const (
	journalHead = "profuse watch journal 1"
	noOutput    = "none"
)

// write replaces the journal at path and syncs it.
func (j *journal) write(path string) error {
	return writeFile(path, func(w io.Writer) error {
		_, err := w.Write(j.append(nil))
		return err
	})
}

func writeFile(path string, write func(io.Writer) error) error {
	f, err := atomicfile.Create(path, atomicfile.Options{})
	if err != nil {
		return err
	}
	defer f.Close()
	if err := write(f); err != nil {
		return err
	}
	return f.Commit()
}

// append sorts the entries and appends the bytes of the journal.
func (j *journal) append(b []byte) []byte {
	b = append(b, journalHead...)
	b = append(b, '\n')
	for _, o := range []struct {
		word string
		outputState
	}{{"before", j.before}, {"after", j.after}} {
		hash := noOutput
		if o.exists() {
			hash = o.hash.String()
		}
		b = fmt.Appendf(b, "%s %s %d %d\n", o.word, hash, o.Files, o.Profiles)
	}
	for _, l := range []struct {
		word    string
		entries []*entry
	}{{"has", j.has}, {"adds", j.adds}} {
		slices.SortFunc(l.entries, func(a, b *entry) int { return cmp.Compare(a.path, b.path) })
		for _, e := range l.entries {
			kind := "whole"
			if e.part {
				kind = "part"
			}
			b = fmt.Appendf(b, "%s %s %d %d %d %v %q\n", l.word, kind, e.id.size, e.id.mtime, e.id.inode, e.content, e.path)
		}
	}
	if j.ended {
		b = append(b, "end\n"...)
	}
	return appendSum(b)
}

func appendSum(b []byte) []byte { return fmt.Appendf(b, "sum %x\n", sha256.Sum256(b)) }

// readJournal reads the journal at path, nil if there is none.
func readJournal(path string) (*journal, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	j, err := parseJournal(data)
	return j, flaw.InFile(err, path)
}

// parseJournal parses a journal and verifies its sum line.
func parseJournal(data []byte) (*journal, error) {
	at := bytes.LastIndex(data, []byte("sum "))
	if at < 0 || at > 0 && data[at-1] != '\n' {
		return nil, flaw.In("journal").Field("last line").Got("another").Want("a sum").Corrupt()
	}
	if !bytes.Equal(appendSum(data[:at:at]), data) {
		return nil, flaw.In("journal").Field("sum").Got("another").Want("the sum of the lines before").Corrupt()
	}
	j := &journal{}
	n := 0
	for line := range strings.Lines(string(data[:at])) {
		line = strings.TrimSuffix(line, "\n")
		if n++; n == 1 {
			if line != journalHead {
				return nil, flaw.In("journal").OnLine(n).Field("head").Got(strconv.Quote(line)).
					Want(strconv.Quote(journalHead)).Corrupt()
			}
			continue
		}
		word, rest, _ := strings.Cut(line, " ")
		var err error
		switch word {
		case "before":
			j.before, err = parseOutputState(rest)
		case "after":
			j.after, err = parseOutputState(rest)
		case "has", "adds":
			var e *entry
			if e, err = parseEntry(rest); err != nil {
				break
			}
			if word == "has" {
				j.has = append(j.has, e)
			} else {
				j.adds = append(j.adds, e)
			}
		case "end":
			j.ended = true
		default:
			err = errors.New("unknown word")
		}
		if err != nil {
			return nil, flaw.In("journal").OnLine(n).Field("line: " + err.Error()).Corrupt()
		}
	}
	return j, nil
}

func parseOutputState(s string) (o outputState, err error) {
	var hash string
	if _, err := fmt.Sscanf(s, "%s %d %d", &hash, &o.Files, &o.Profiles); err != nil {
		return o, err
	}
	if hash != noOutput {
		o.hash, err = parseContentID(hash)
	}
	return o, err
}

func parseEntry(s string) (*entry, error) {
	e := &entry{}
	var kind, content string
	_, err := fmt.Sscanf(s, "%s %d %d %d %s %q", &kind, &e.id.size, &e.id.mtime, &e.id.inode, &content, &e.path)
	if err != nil {
		return nil, err
	}
	e.part = kind == "part"
	e.content, err = parseContentID(content)
	return e, err
}

// stateOf returns the state and the entries of the output with the given hash; the hash is zero if
// there is no output. known is false if the journal describes no output with this hash.
func (j *journal) stateOf(hash contentID) (state outputState, has []*entry, known bool) {
	switch hash {
	case j.after.hash: // first, because both outputs may have the same bytes
		return j.after, append(slices.Clone(j.has), j.adds...), true
	case j.before.hash:
		return j.before, j.has, true
	}
	return outputState{}, nil, false
}
