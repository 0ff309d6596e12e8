package cc

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"

	"github.com/profuse-pgo/profuse/internal/program/object"
)

type member struct {
	name string
	data []byte
}

// readArchive returns the contents of a file and, of a static archive, its members; nil for other files.
func readArchive(file string) (data []byte, members []member, err error) {
	if data, err = os.ReadFile(file); err != nil || !object.IsArchive(data) {
		return data, nil, err
	}
	err = object.Members(file, data, func(name string, data []byte) error {
		members = append(members, member{name, data})
		return nil
	})
	return data, members, err
}

// definedSymbols returns the global symbols that an ELF object defines; none for other files.
func definedSymbols(data []byte) (names []string) {
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil || f.Type != elf.ET_REL {
		return nil
	}
	symbols, _ := f.Symbols()
	for _, s := range symbols {
		if elf.ST_BIND(s.Info) != elf.STB_LOCAL && s.Section != elf.SHN_UNDEF {
			names = append(names, s.Name)
		}
	}
	return names
}

// writeArchive writes a static archive in GNU form: the index of symbols, the names of members, and the
// members, each after a header of 60 bytes and at an even offset.
//
//	index   u32 number | u32 offset of the header of the member, for each symbol | names, each with a NUL
//	names   each with "/\n"; the header of a member has "/" and the offset of its name
//
// Numbers of the index are big-endian.
func writeArchive(file string, members []member) error {
	var symbols, names, body bytes.Buffer
	var owners []int // by symbol, the member
	offsets := make([]int, len(members))
	for i, m := range members {
		for _, s := range definedSymbols(m.data) {
			symbols.WriteString(s + "\x00")
			owners = append(owners, i)
		}
		offsets[i] = body.Len()
		writeMember(&body, fmt.Sprintf("/%d", names.Len()), m.data)
		names.WriteString(m.name + "/\n")
	}
	index := make([]byte, 4+4*len(owners), 4+4*len(owners)+symbols.Len())
	var head bytes.Buffer
	for range 2 { // the first time, to learn its size
		binary.BigEndian.PutUint32(index, uint32(len(owners)))
		for i, owner := range owners {
			binary.BigEndian.PutUint32(index[4+4*i:], uint32(head.Len()+offsets[owner]))
		}
		head.Reset()
		head.WriteString("!<arch>\n")
		writeMember(&head, "/", append(index, symbols.Bytes()...))
		writeMember(&head, "//", names.Bytes())
	}
	return os.WriteFile(file, append(head.Bytes(), body.Bytes()...), 0o666)
}

func writeMember(b *bytes.Buffer, name string, data []byte) {
	fmt.Fprintf(b, "%-16s%-12d%-6d%-6d%-8o%-10d`\n", name, 0, 0, 0, 0o644, len(data))
	b.Write(data)
	if len(data)%2 != 0 {
		b.WriteByte('\n')
	}
}
