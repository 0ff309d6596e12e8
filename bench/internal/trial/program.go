//go:build linux

package trial

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// The families of subjects that are programs, whose With are profiles, and tracefiles.
const (
	mapped    = "coverage mapping"
	debug     = "debug information"
	classes   = "classes"
	tracefile = "tracefile"
)

// programs are read beside a profile, from which an indexed one is made if it is text.
var programs = []struct{ format, family, path, profile string }{
	{"coverage mapping 6 (clang 14)", mapped, "covmap/shapes-14.o", "covmap/shapes-14.proftext"},
	{"coverage mapping 7 (clang 22)", mapped, "covmap/shapes-22.o", "covmap/shapes-22.proftext"},
	{"coverage mapping with MC/DC (clang 19)", mapped, "covmap/conditions-19.o", "covmap/conditions-19.proftext"},
	{"coverage mapping with MC/DC (clang 22)", mapped, "covmap/conditions-22.o", "covmap/conditions-22.proftext"},
	{"coverage mapping, ELF of 32 bits", mapped, "covmap/conditions-i686-linux-gnu.o", "covmap/conditions-22.proftext"},
	{"coverage mapping, big-endian ELF", mapped, "covmap/conditions-mips-linux-gnu.o", "covmap/conditions-22.proftext"},
	{"coverage mapping, Mach-O", mapped, "covmap/conditions-arm64-apple-macos.o", "covmap/conditions-22.proftext"},
	{"coverage mapping, COFF", mapped, "covmap/conditions-x86_64-pc-windows-msvc.o", "covmap/conditions-22.proftext"},
	{"DWARF (clang 22)", debug, "memprof/raw/clang22-pie.debug", "memprof/raw/clang22-pie.memprofraw"},
	{"DWARF, compressed (clang 22)", debug, "memprof/raw/clang22-fixed-gz.debug", "memprof/raw/clang22-fixed-gz.memprofraw"},
}

// Programs returns programs of every kind, profiles whose programs have coverage mappings, and a tracefile of them.
// It makes what testdata has in another form in a folder.
func Programs(profuse, dir string) ([]Subject, error) {
	var all []Subject
	for _, p := range programs {
		s := Subject{Format: p.format, Family: p.family, Ext: filepath.Ext(p.path), Out: ".profdata"}
		var err error
		if s.Data, err = os.ReadFile(filepath.Join("testdata", p.path)); err != nil {
			return nil, err
		}
		profile := inTestdata(p.profile)[0]
		// The drop-ins for llvm-cov read indexed profiles only.
		if filepath.Ext(profile) == ".proftext" {
			text := profile
			profile = filepath.Join(dir, filepath.Base(p.profile)+".profdata")
			if err := exec.Command(profuse, "merge", "-q", "-o", profile, text).Run(); err != nil {
				return nil, fmt.Errorf("%s: %w", p.profile, err)
			}
		}
		s.With = []string{profile}
		all = append(all, s)
		// The other way round: the profile is damaged and its program is intact.
		if strings.HasSuffix(s.Format, "(clang 22)") && s.Family == mapped {
			of := Subject{Format: "profile with " + p.format, Family: irpgo, Ext: ".profdata", Out: ".profdata"}
			of.With = append([]string{"--program"}, inTestdata(p.path)...)
			if of.Data, err = os.ReadFile(profile); err != nil {
				return nil, err
			}
			all = append(all, of)
		}
	}
	archive := all[0]
	archive.Format, archive.Ext, archive.Data = "archive of coverage mappings", ".a", archiveOf(all[0].Data, all[1].Data)
	trace := Subject{Format: "tracefile of lcov", Family: tracefile, Ext: ".info", Out: ".info"}
	var err error
	if trace.Data, err = os.ReadFile("testdata/covmap/conditions-22.lcov"); err != nil {
		return nil, err
	}
	jar := Subject{Format: "jar", Family: classes, Ext: ".jar", Out: ".iprof", With: inTestdata("iprof/app.iprof")}
	var b bytes.Buffer
	// A jar is a zip archive of class files.
	w := zip.NewWriter(&b)
	if err := errors.Join(w.AddFS(os.DirFS("testdata/iprof/app/classes")), w.Close()); err != nil {
		return nil, err
	}
	jar.Data = b.Bytes()
	return append(all, archive, jar, trace), nil
}

func archiveOf(objects ...[]byte) []byte {
	b := []byte("!<arch>\n")
	for i, o := range objects {
		// The header of a member is 60 bytes of text: name, time, owner, group, mode, size, "`\n". Members
		// begin at even offsets.
		b = fmt.Appendf(b, "%-16s%-12d%-6d%-6d%-8s%-10d`\n", fmt.Sprintf("%d.o/", i), 0, 0, 0, "644", len(o))
		if b = append(b, o...); len(o)%2 == 1 {
			b = append(b, '\n')
		}
	}
	return b
}
