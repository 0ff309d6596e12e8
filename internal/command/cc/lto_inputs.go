package cc

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/internal/program/object"
)

type ltoInput struct {
	path string
	// redirected is what the first link gets in place of a file with bitcode; "" for the file itself.
	redirected string
	bitcode    bool            // an object of bitcode
	members    map[string]bool // of an archive: those of bitcode
	pinned     map[string]bool // of an archive: those that the second link loads explicitly
}

// readWords finds the files among the words of the linker's command line.
func (l *ltoLink) readWords() error {
	libraries := librarySearch(l.words)
	l.inputs, l.loads = make([]*ltoInput, len(l.words)), make([]loading, len(l.words))
	known := map[string]*ltoInput{}
	state := byNeed
	var states []loading // --push-state
	for i := 0; i < len(l.words); i++ {
		path := l.words[i]
		switch option := longOption(path); {
		case path == "-o", path == "--output":
			i++
			continue
		case option == "--start-lib":
			state = fromLib
		case option == "--whole-archive":
			state = wholly
		case option == "--end-lib", option == "--no-whole-archive":
			state = byNeed
		// --push-state saves the state of --whole-archive among others.
		case option == "--push-state":
			states = append(states, state)
		case option == "--pop-state" && len(states) > 0:
			state, states = states[len(states)-1], states[:len(states)-1]
		case strings.HasPrefix(option, "--library="):
			path = libraries.find(i, strings.TrimPrefix(option, "--library="))
		case strings.HasPrefix(path, "-l"):
			path = libraries.find(i, path[2:])
		}
		if strings.HasPrefix(path, "-") || path == "" {
			continue
		}
		if known[path] == nil {
			in, err := l.openInput(path)
			if err != nil {
				return err
			}
			known[path] = in
		}
		l.inputs[i], l.loads[i] = known[path], state
	}
	return l.refuse(known)
}

// longOption returns an option of the linker with two dashes: linkers take one for two, but for
// options of one letter.
func longOption(word string) string {
	if strings.HasPrefix(word, "-") && !strings.HasPrefix(word, "--") {
		return "-" + word
	}
	return word
}

// refuse returns an error for what the second link cannot do like the first.
func (l *ltoLink) refuse(inputs map[string]*ltoInput) error {
	if l.linker == gold && slices.Contains(l.loads, fromLib) {
		return errors.New("-flto: gold does not say what it loads between --start-lib and --end-lib; lld does")
	}
	for i, w := range l.words {
		// Symbols of such an archive are hidden; the second link has its code as an object of its own.
		names, given := strings.CutPrefix(w, "--exclude-libs=")
		if i > 0 && l.words[i-1] == "--exclude-libs" {
			names, given = w, true
		}
		for name := range strings.FieldsFuncSeq(names, func(r rune) bool { return r == ',' || r == ':' }) {
			for _, in := range inputs {
				if given && len(in.members) > 0 && (name == "ALL" || name == filepath.Base(in.path)) {
					return fmt.Errorf("-flto: --exclude-libs=%s: the code of %s leaves the library before it is linked; "+
						"use a version script, or compile with -fvisibility=hidden", name, in.path)
				}
			}
		}
	}
	return nil
}

// loading says what a linker loads of an archive, or of an object in its place.
type loading byte

const (
	byNeed  loading = iota
	fromLib         // between --start-lib and --end-lib: of objects, too, only those needed
	wholly          // after --whole-archive
)

// hasBitcode reports whether the linker generates code for an object.
func (l *ltoLink) hasBitcode(data []byte) bool {
	if isBitcode(data) {
		return true
	}
	// lld uses the bitcode of fat objects only if it is told to.
	if !slices.Contains(l.words, "--fat-lto-objects") || !bytes.HasPrefix(data, []byte(elf.ELFMAG)) {
		return false
	}
	f, err := elf.NewFile(bytes.NewReader(data))
	return err == nil && f.Section(".llvm.lto") != nil
}

// openInput finds the bitcode in a file.
func (l *ltoLink) openInput(path string) (*ltoInput, error) {
	in := &ltoInput{path: path, members: map[string]bool{}, pinned: map[string]bool{}}
	head := headOf(path)
	if !object.IsArchive(head) && !isBitcode(head) && !bytes.HasPrefix(head, []byte(elf.ELFMAG)) {
		return in, nil // no file, or a linker script
	}
	data, members, err := readArchive(path)
	if err != nil {
		return nil, err
	}
	in.bitcode = members == nil && l.hasBitcode(data)
	thin := object.IsThinArchive(data)
	for _, m := range members {
		if l.hasBitcode(m.data) {
			in.members[m.name] = true
		}
		if thin {
			l.thin[filepath.Join(filepath.Dir(path), m.name)] = path + "(" + m.name + ")"
		}
	}
	if l.linker != lld || !in.bitcode && len(in.members) == 0 {
		return in, nil
	}
	// lld 19 and newer write the assembly beside the bitcode, too: of links to it.
	if in.redirected, err = l.tempFile(filepath.Base(path)); err != nil {
		return nil, err
	}
	if thin { // its members stand beside it
		return in, writeArchive(in.redirected, members)
	}
	target, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	return in, os.Symlink(target, in.redirected)
}

// archiveLike writes an archive with the base name of path, which --exclude-libs takes.
func (l *ltoLink) archiveLike(path string, members []member) (string, error) {
	file, err := l.tempFile(filepath.Base(path))
	if err != nil {
		return "", err
	}
	return file, writeArchive(file, members)
}

// A pinGroup is native members of one archive that the second link loads at one place.
type pinGroup struct {
	from  *ltoInput
	after int // the word after which they stand
	names []string
	file  string // an archive of them
}

// pinGroups returns the native members of archives in the order of the first link.
func (l *ltoLink) pinGroups(loaded []string) (groups []*pinGroup) {
	var group *pinGroup
	at := -1
	for _, file := range loaded {
		path, name, isMember := strings.Cut(strings.TrimSuffix(file, ")"), "(")
		if !isMember {
			path = file
		}
		word := l.wordOf(path, at)
		if word < 0 {
			continue
		}
		in := l.inputs[word]
		native := isMember && !in.members[name] && l.loads[word] != wholly ||
			!isMember && !in.bitcode && l.loads[word] == fromLib
		if group == nil || word > at || in != group.from {
			at = max(at, word)
			group = &pinGroup{from: in, after: at}
		}
		if !native {
			continue
		}
		if len(group.names) == 0 {
			groups = append(groups, group)
		}
		group.names = append(group.names, name)
	}
	return groups
}

// wordOf returns the first word from at on that names the file, or else the last
// one before; -1 if there is none.
func (l *ltoLink) wordOf(path string, at int) int {
	word := -1
	for i, in := range l.inputs {
		if in != nil && in.path == path {
			if word = i; i >= at {
				break
			}
		}
	}
	return word
}

// divide writes an archive of each group that is of the input, and one of the members that are neither
// bitcode nor pinned; rest is "" if there are none. An object has one member, of the name "".
func (l *ltoLink) divide(in *ltoInput, groups []*pinGroup) (rest string, err error) {
	data, members, err := readArchive(in.path)
	if err != nil {
		return "", err
	}
	if members == nil {
		members = []member{{"", data}}
	}
	found := map[string][]member{}
	for _, m := range members {
		found[m.name] = append(found[m.name], m)
	}
	for _, g := range groups {
		if g.from != in {
			continue
		}
		var pinned []member
		for _, name := range g.names {
			// Of several members of one name, only the linker knows which it was.
			if len(found[name]) == 1 {
				pinned = append(pinned, found[name][0])
				in.pinned[name] = true
			}
		}
		if g.file, err = l.archiveLike(in.path, pinned); err != nil {
			return "", err
		}
	}
	members = slices.DeleteFunc(members, func(m member) bool { return in.members[m.name] || in.pinned[m.name] })
	if len(members) == 0 {
		return "", nil
	}
	return l.archiveLike(in.path, members)
}

type search struct {
	folders []string
	static  []bool // by word: whether -Bstatic is in force
}

// librarySearch reads the options for searching libraries.
func librarySearch(words []string) search {
	s := search{static: make([]bool, len(words))}
	static, sysroot := false, ""
	var statics []bool // --push-state saves -Bstatic, too
	for i, w := range words {
		folder := ""
		switch option := longOption(w); {
		case option == "--Bstatic", option == "--static", option == "--dn", option == "--non_shared":
			static = true
		case option == "--Bdynamic", option == "--dy", option == "--call_shared":
			static = false
		case option == "--push-state":
			statics = append(statics, static)
		case option == "--pop-state" && len(statics) > 0:
			static, statics = statics[len(statics)-1], statics[:len(statics)-1]
		case strings.HasPrefix(option, "--sysroot="):
			sysroot = strings.TrimPrefix(option, "--sysroot=")
		case strings.HasPrefix(option, "--library-path="):
			folder = strings.TrimPrefix(option, "--library-path=")
		case (w == "-L" || option == "--library-path") && i+1 < len(words):
			folder = words[i+1]
		case strings.HasPrefix(w, "-L"):
			folder = w[2:]
		}
		if folder != "" {
			s.folders = append(s.folders, folder)
		}
		s.static[i] = static
	}
	for i, folder := range s.folders {
		// Both stand for the folder of --sysroot, whose option may come later.
		for _, prefix := range []string{"=", "$SYSROOT"} {
			if rest, ok := strings.CutPrefix(folder, prefix); ok {
				s.folders[i] = sysroot + rest
			}
		}
	}
	return s
}

// find returns the file of the library that word i names, "" if there is none.
func (s *search) find(i int, name string) string {
	names := []string{"lib" + name + ".so", "lib" + name + ".a"}
	if exact, ok := strings.CutPrefix(name, ":"); ok {
		names = []string{exact}
	} else if s.static[i] {
		names = names[1:]
	}
	for _, folder := range s.folders {
		for _, name := range names {
			// Shared libraries come first in each folder, unless -Bstatic is in force.
			path := folder + "/" + name // as linkers print it
			if _, err := os.Stat(path); err == nil {
				return path
			}
		}
	}
	return ""
}
