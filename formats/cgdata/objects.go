package cgdata

import (
	"encoding/binary"

	"github.com/profuse-pgo/profuse/internal/cursor"
	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/program/object"
)

// An Object is an object file with codegen data.
type Object struct {
	Name     string // ARCHIVE!MEMBER for a member of an archive
	Contents []byte // of the object file
	*Data
}

// ReadObjects calls fn for each object with codegen data in a file: an ELF, Mach-O or COFF object, or a static library of
// them. arch selects the slice of universal files. A file without any codegen data is an error of class
// [profile.ErrMismatch]: the compiler writes them with -fcodegen-data-generate, and linkers drop them.
func ReadObjects(name string, data []byte, arch string, fn func(*Object) error) error {
	any := false
	read := func(name string, data []byte) error {
		d, err := readObject(name, data, arch)
		if err != nil || d == nil {
			return err
		}
		any = true
		return fn(&Object{name, data, d})
	}
	var err error
	if object.IsArchive(data) {
		err = object.Members(name, data, func(member string, contents []byte) error {
			if !object.IsImage(contents) {
				return nil // bitcode, for example
			}
			return read(name+"!"+member, contents)
		})
	} else {
		err = read(name, data)
	}
	if err == nil && !any {
		err = flaw.File(name).Field("codegen data").Got("missing").
			Wantf("the sections %s or %s of objects compiled with -fcodegen-data-generate; linkers drop them", treeSection, mapSection).Mismatch()
	}
	return err
}

// readObject reads the codegen data of an object file; nil if it has none.
func readObject(name string, data []byte, arch string) (*Data, error) {
	im, err := object.Parse(name, data, arch)
	if err != nil {
		return nil, err
	}
	var tree hashTree
	d := &Data{form: "object", parts: []int{}}
	found := false
	r := &reader{warn: func(error) {}}
	for i := range im.Sections {
		s := &im.Sections[i]
		isTree := s.Name == treeSection || s.Name == treeSectionCOFF && im.Format == object.COFF
		isMap := s.Name == mapSection || s.Name == mapSectionCOFF && im.Format == object.COFF
		if !isTree && !isMap || s.FileSize == 0 {
			continue
		}
		found = true
		contents, err := im.Data(s)
		if err != nil {
			return nil, err
		}
		// After a partial link a section has several parts.
		for base := im.FileOffset(s); len(contents) > 0; {
			c := cursor.New(s.Name, base, contents, binary.LittleEndian)
			if isTree {
				tree.add(r.tree(c))
			} else {
				r.functions(c, d)
				d.parts = append(d.parts, len(d.Functions))
			}
			if err := c.Err(); err != nil {
				return nil, flaw.InFile(err, name)
			}
			contents, base = c.Rest(), c.Offset()
		}
	}
	if !found {
		return nil, nil
	}
	d.Tree = tree.list()
	return d, nil
}
