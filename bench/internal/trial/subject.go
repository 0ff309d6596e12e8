//go:build linux

// Package trial runs profuse and the tools it stands beside on damaged profiles, for bench/damage and bench/soak.
package trial

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// A Subject is an intact profile and how to merge it, or a program.
type Subject struct {
	Format string // with its version and writer, for tables
	Family string // which commands apply
	Data   []byte
	Ext    string   // of its file name
	With   []string // arguments that "profuse merge" and "show" need beside it; of a program its profile
	Out    string   // extension of what merging writes
	// Peer are the arguments of llvm-profdata beside the input: "show" and its options, or
	// "merge", its options and last "-o"; nil if it does not read the format.
	Peer []string
}

// fixture describes a subject by files of testdata. Words with a slash in command lines
// are such files. llvm-profdata merge leaves heap profiles out of indexed profiles.
type fixture struct {
	format, family, path string
	with, peer           string
	convert              string // command line whose standard output is the subject
}

const irpgo, memprof, mip, iprof, sample = "irpgo", "memprof", "mip", "iprof", "sample"

func isProfile(family string) bool {
	return slices.Contains([]string{irpgo, memprof, mip, iprof, sample}, family)
}

// fixtures has one profile of each format and producer, small ones: a soak runs thousands of commands on them.
var fixtures = []fixture{
	{format: "raw 8 (clang 14)", family: irpgo, path: "irpgo/clang14/ir-run1.profraw"},
	{format: "raw 10 (clang 22)", family: irpgo, path: "irpgo/clang22/ir-run1.profraw", peer: "merge -o"},
	{format: "raw 10 with vtables (clang 22)", family: irpgo, path: "irpgo/clang22/ir-vtable.profraw", peer: "merge -o"},
	{format: "raw 10, front end (clang 22)", family: irpgo, path: "irpgo/clang22/fe-values.profraw", peer: "merge -o"},
	{format: "raw 10 (rustc 1.95)", family: irpgo, path: "irpgo/rustc195/generate-run1.profraw", peer: "merge -o"},
	{format: "indexed 7 (LLVM 14)", family: irpgo, path: "irpgo/llvm14/merged.profdata", peer: "merge -o"},
	{format: "indexed 13 (LLVM 22)", family: irpgo, path: "irpgo/llvm22/merged.profdata", peer: "merge -o"},
	{format: "indexed 13 with traces (LLVM 22)", family: irpgo, path: "irpgo/llvm22/temporal-merged.profdata", peer: "merge -o"},
	{format: "text", family: irpgo, path: "irpgo/text/llvm22-ir.proftext", peer: "merge -o"},
	{format: "text with vtables", family: irpgo, path: "irpgo/text/llvm22-vtable.proftext", peer: "merge -o"},
	{format: "memprof raw 5 (clang 22)", family: memprof, path: "memprof/raw/clang22-pie.memprofraw", with: "--program memprof/raw/clang22-pie.debug", peer: "merge --profiled-binary memprof/raw/clang22-pie.debug -o"},
	{format: "memprof indexed 13 (LLVM 22)", family: memprof, path: "memprof/raw/clang22-pie.profdata", peer: "show --memory"},
	{format: "memprof YAML", family: memprof, path: "memprof.yaml", convert: "merge -q --format memprof-yaml -o - memprof/raw/clang22-pie.profdata", peer: "merge -o"},
	{format: "mipraw", family: mip, path: "mip/all-1.mipraw", with: "mip/all.mipmap"},
	{format: "mipmap", family: mip, path: "mip/all.mipmap", with: "mip/all-1.mipraw"},
	{format: "program with a MIP map", family: mip, path: "mip/all.elf", with: "mip/all-1.mipraw"},
	{format: "mip", family: mip, path: "mip/all.mip"},
	{format: "mip YAML", family: mip, path: "mip.yaml", convert: "mip mip2yaml mip/all.mip"},
	{format: "iprof", family: iprof, path: "iprof/app.iprof"},
	{format: "sample text", family: sample, path: "sampleprof/lines.prof", peer: "merge --sample -o"},
	{format: "sample binary", family: sample, path: "sampleprof/lines-binary.prof", peer: "merge --sample -o"},
	{format: "sample extbinary", family: sample, path: "sampleprof/lines.afdo", peer: "merge --sample -o"},
	{format: "sample extbinary, compressed GUIDs", family: sample, path: "sampleprof/lines-md5.afdo", peer: "merge --sample -o"},
	{format: "sample extbinary with probes", family: sample, path: "sampleprof/inlined.afdo", peer: "merge --sample -o"},
	{format: "sample extbinary with contexts", family: sample, path: "sampleprof/contexts.afdo", peer: "merge --sample -o"},
	{format: "sample compact (LLVM 14)", family: sample, path: "sampleprof/lines-compact.prof"},
}

// Subjects returns a profile of every format, from the fixtures of the repository, which is the working folder. profuse
// converts some of them from another format.
func Subjects(profuse string) ([]Subject, error) {
	var all []Subject
	for _, f := range fixtures {
		s := Subject{Format: f.format, Family: f.family, Ext: filepath.Ext(f.path), With: inTestdata(f.with)}
		if f.peer != "" {
			s.Peer = inTestdata(f.peer)
		}
		switch f.family {
		case irpgo, memprof:
			s.Out = ".profdata"
		case sample:
			s.Out = ".afdo"
		default:
			s.Out = "." + f.family
		}
		var err error
		if f.convert != "" {
			cmd := exec.Command(profuse, inTestdata(f.convert)...)
			cmd.Stderr = os.Stderr
			s.Data, err = cmd.Output()
		} else {
			s.Data, err = os.ReadFile(filepath.Join("testdata", f.path))
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.format, err)
		}
		all = append(all, s)
	}
	return all, nil
}

// Large returns profiles of some MiB, for what happens while a file is read, which are made in a folder, and some programs.
func Large(profuse, dir string) ([]Subject, error) {
	all, err := Subjects(profuse)
	if err != nil {
		return nil, err
	}
	programs, err := Programs(profuse, dir)
	if err != nil {
		return nil, err
	}
	var large []Subject
	for _, s := range programs {
		switch s.Format {
		case "coverage mapping 7 (clang 22)":
			s.Format, s.Ext, s.Data = "archive of coverage mappings", ".a", archiveOf(slices.Repeat([][]byte{s.Data}, 100)...)
		case "DWARF (clang 22)", "jar":
		default:
			continue
		}
		large = append(large, s)
	}
	for _, s := range all {
		switch s.Format {
		case "raw 10 (clang 22)", "memprof raw 5 (clang 22)": // files may hold several
			s.Data = bytes.Repeat(s.Data, 500)
		case "text":
			s.Data = manyFunctions(s.Data)
			indexed := Subject{Format: "indexed 13 (LLVM 22)", Family: irpgo, Ext: ".profdata", Out: ".profdata"}
			in, out := filepath.Join(dir, "large.proftext"), filepath.Join(dir, "large.profdata")
			if err := os.WriteFile(in, s.Data, 0o666); err != nil {
				return nil, err
			}
			if err := exec.Command(profuse, "merge", "-q", "-o", out, in).Run(); err != nil {
				return nil, err
			}
			if indexed.Data, err = os.ReadFile(out); err != nil {
				return nil, err
			}
			large = append(large, indexed)
		case "mip", "mipraw", "iprof", "mip YAML", "memprof YAML":
		default:
			continue
		}
		large = append(large, s)
	}
	return large, nil
}

// manyFunctions repeats the functions of a text profile under other names.
func manyFunctions(text []byte) []byte {
	// The text begins with comments and the line ":ir"; functions are apart by empty lines.
	head, rest, _ := bytes.Cut(text, []byte("\n:ir\n"))
	functions := bytes.Split(rest, []byte("\n\n"))
	var b bytes.Buffer
	b.Write(head)
	b.WriteString("\n:ir\n")
	for i := range 300 {
		for _, f := range functions {
			if name, numbers, ok := bytes.Cut(bytes.TrimLeft(f, "\n"), []byte("\n")); ok {
				fmt.Fprintf(&b, "%s.%d\n%s\n\n", name, i, numbers)
			}
		}
	}
	return b.Bytes()
}

// inTestdata splits a command line and completes the paths in it.
func inTestdata(line string) []string {
	args := []string{}
	for _, a := range strings.Fields(line) {
		if strings.Contains(a, "/") {
			a = filepath.Join("testdata", a)
			if abs, err := filepath.Abs(a); err == nil {
				a = abs
			}
		}
		args = append(args, a)
	}
	return args
}

// Build builds profuse into a folder and returns its path.
func Build(dir string) (string, error) { return BuildOf(".", dir) }

// BuildOf is Build for the checkout of another revision.
func BuildOf(tree, dir string) (string, error) {
	if _, err := os.Stat(filepath.Join(tree, "cmd", "profuse")); err != nil {
		return "", errors.New("run this in the root of the repository")
	}
	exe, err := filepath.Abs(filepath.Join(dir, "profuse"))
	if err != nil {
		return "", err
	}
	// The released binaries are built without cgo, too.
	cmd := exec.Command("go", "build", "-trimpath", "-o", exe, "./cmd/profuse")
	cmd.Dir, cmd.Env = tree, append(os.Environ(), "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	return exe, cmd.Run()
}

// LLVM returns the path of llvm-profdata 22; "" if it is not installed.
func LLVM() string {
	for _, name := range []string{"llvm-profdata-22", "/usr/lib/llvm-22/bin/llvm-profdata"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}
