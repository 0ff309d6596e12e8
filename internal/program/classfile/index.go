package classfile

import (
	"cmp"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/profile"
)

// Options adjust an [Index]. The zero value is right for most uses.
type Options struct {
	// Release is the newest Java release, at least 9, whose classes to take from
	// multi-release jars; 0 means the newest in the jar.
	Release int
	// MaxExpansion bounds what an archive may decompress to: 64 MiB plus MaxExpansion times its size; 0 means 20.
	// Real archives expand two to ten times. A method counts 64 bytes.
	MaxExpansion int
	// Warn, if not nil, is called for every class file or archive, in a folder or
	// archive, that cannot be read and is skipped.
	Warn func(profile.Warning)
}

// An Index finds classes and methods by name. It is not safe for concurrent use while something is added to it.
type Index struct {
	opt        Options
	parser     parser
	classes    map[string]*Class
	order      []*Class
	duplicates int
}

// NewIndex returns an empty Index.
func NewIndex(opt Options) *Index {
	if opt.MaxExpansion <= 0 {
		opt.MaxExpansion = 20
	}
	return &Index{opt: opt, classes: make(map[string]*Class)}
}

// Add adds the classes of a folder, an archive or a class file. It tells archives
// and class files apart by their first bytes.
func (x *Index) Add(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return x.addFolder(path)
	}
	return x.addFile(path)
}

// addFolder adds class files and archives in lexical order.
func (x *Index) addFolder(folder string) error {
	return filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		switch strings.ToLower(filepath.Ext(path)) {
		case ".class", ".jar", ".jmod", ".war":
			if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
				return nil
			}
			if err := x.addFile(path); err != nil {
				x.warn(err)
			}
		}
		return nil
	})
}

func (x *Index) addFile(path string) (err error) {
	defer flaw.OfProgram(&err)
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	var head [4]byte
	n, err := f.ReadAt(head[:], 0)
	if err != nil && err != io.EOF {
		return err
	}
	if isArchive(head[:n]) {
		return x.addArchive(path, f, info.Size())
	}
	data, err := io.ReadAll(io.LimitReader(f, maxClassFile+1))
	if err != nil {
		return err
	}
	_, err = x.addClass(path, data)
	return err
}

// addClass adds the class file in data, which it does not retain. name is for
// errors. methods is how many methods the class has.
func (x *Index) addClass(name string, data []byte) (methods int, err error) {
	defer flaw.OfProgram(&err)
	if len(data) > maxClassFile {
		return 0, flaw.File(name).Field("size of the class file").Got("more").
			Wantf("at most %d bytes", maxClassFile).Unsupported()
	}
	class, err := x.parser.parse(data)
	if err != nil {
		return 0, flaw.InFile(err, name)
	}
	switch {
	case class.Flags&accModule != 0:
		return 0, nil
	case x.classes[class.Name] != nil:
		x.duplicates++
		return 0, nil
	}
	class.byName = make([]uint16, len(class.Methods))
	for i := range class.byName {
		class.byName[i] = uint16(i)
	}
	slices.SortStableFunc(class.byName, func(a, b uint16) int {
		return class.Methods[a].compare(class.Methods[b].Name, class.Methods[b].Descriptor)
	})
	x.classes[class.Name] = class
	x.order = append(x.order, class)
	return len(class.Methods), nil
}

// maxClassFile bounds the size of a class file in bytes. The format allows more,
// but the largest known class files have a few MiB.
const maxClassFile = 64 << 20

func (m *Method) compare(name, descriptor string) int {
	return cmp.Or(strings.Compare(m.Name, name), strings.Compare(m.Descriptor, descriptor))
}

func (x *Index) warn(err error) {
	if x.opt.Warn != nil {
		x.opt.Warn(profile.Warning{Err: err})
	}
}

// Len returns the number of classes.
func (x *Index) Len() int { return len(x.order) }

// Classes iterates over the classes in the order in which they were added.
func (x *Index) Classes() iter.Seq[*Class] { return slices.Values(x.order) }

// Class returns the class of a name, as Class.getName returns it.
func (x *Index) Class(name string) (*Class, bool) {
	c, ok := x.classes[name]
	return c, ok
}

// Method returns the method that a class declares with the given simple name, parameter types and return type, all
// as Class.getName returns them. It does not search inherited methods: profiles name the declaring class.
func (x *Index) Method(class, name string, params []string, result string) (*Method, bool) {
	c, ok := x.classes[class]
	if !ok {
		return nil, false
	}
	return c.method(name, Descriptor(params, result))
}

func (c *Class) method(name, descriptor string) (*Method, bool) {
	if len(c.byName) != len(c.Methods) { // not in an index
		for i := range c.Methods {
			if m := &c.Methods[i]; m.Name == name && m.Descriptor == descriptor {
				return m, true
			}
		}
		return nil, false
	}
	at, ok := slices.BinarySearchFunc(c.byName, 0, func(i uint16, _ int) int { return c.Methods[i].compare(name, descriptor) })
	if !ok {
		return nil, false
	}
	return &c.Methods[c.byName[at]], true
}
