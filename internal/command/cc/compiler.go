package cc

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/profuse-pgo/profuse/internal/mip/asm"
)

// A compiler is a GNU-like compiler as a command line names it.
type compiler struct {
	argv    []string // the program, with launchers like ccache before it
	machine []string // arguments that choose the target
	id      string   // differs between programs and between targets
	facts
}

type facts struct {
	Clang  bool   `json:"clang"`
	Major  int    `json:"major"` // of the version
	Triple string `json:"triple"`
}

var launchers = asm.Words("ccache distcc sccache icecc env")

// splitCommand splits a command line after the compiler.
func splitCommand(argv []string) (compiler, args []string) {
	n := 1
	for n < len(argv) && launchers[programName(argv[n-1])] && !strings.HasPrefix(argv[n], "-") {
		n++
	}
	return argv[:n], argv[n:]
}

// programName returns the name of a program without its folder, and without .exe.
func programName(path string) string { return strings.TrimSuffix(filepath.Base(path), ".exe") }

// openCompiler identifies the compiler and keeps the answer in the cache.
func (d *driver) openCompiler(ctx context.Context, argv, machine []string) (*compiler, error) {
	c := &compiler{argv: argv, machine: machine}
	if err := refuseCompiler(programName(argv[len(argv)-1])); err != nil {
		return nil, err
	}
	// The answer is kept for a program by size and time of its file, and for the options that choose a
	// target: an update of the compiler is another one.
	h := sha256.New()
	for _, program := range argv {
		path, err := exec.LookPath(program)
		if err != nil {
			return nil, err
		}
		if real, err := filepath.EvalSymlinks(path); err == nil {
			// The name stays part of the identity: clang and clang++ are one file.
			info, err := os.Stat(real)
			if err != nil {
				return nil, err
			}
			fmt.Fprintf(h, "%s\x00%s\x00%d\x00%d\x00", path, real, info.Size(), info.ModTime().UnixNano())
		}
	}
	for _, arg := range machine {
		fmt.Fprintf(h, "%s\x00", arg)
	}
	c.id = hex.EncodeToString(h.Sum(nil)[:16])

	file := filepath.Join(d.cache, "compiler-"+c.id+".json")
	if data, err := os.ReadFile(file); err == nil && json.Unmarshal(data, &c.facts) == nil && c.Triple != "" {
		return c, nil
	}
	ask := append(append([]string{}, argv...), machine...)
	// rustc prints its host with -vV, gcc and clang their target with -v, on standard error.
	if isRustc(argv) {
		ask = append(ask, "-vV")
	} else {
		ask = append(ask, "-v")
	}
	out, err := d.output(ctx, ask)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	c.facts = parseVersion(out)
	if c.Triple == "" {
		return nil, fmt.Errorf("%s -v does not name its target: %w\n%s", strings.Join(argv, " "), errNotCompiler(err), bytes.TrimSpace(out))
	}
	if data, err := json.Marshal(c.facts); err == nil {
		_ = store(file, data) // without a cache the next run asks again
	}
	return c, nil
}

// otherCompilers are compilers whose assembly cannot be had with the options of gcc, or
// not be assembled, and what to do instead.
var otherCompilers = map[string]string{
	"go":       "the Go toolchain prints no assembly that an assembler takes; gccgo does, and \"go build -cover\" counts by itself",
	"swift":    "swift builds with swiftc, which has options of its own; \"swiftc -profile-generate\" counts by itself, and profuse reads that profile",
	"swiftc":   "swiftc has options of its own; \"swiftc -profile-generate\" counts by itself, and profuse reads that profile",
	"zig":      "zig prints no assembly while it builds programs; use clang for its C and C++",
	"ldc2":     "ldc2 has options of its own; use gdc",
	"dmd":      "dmd prints no assembly; use gdc",
	"flang":    "flang cannot assemble what it prints; use gfortran",
	"nvcc":     "nvcc compiles for two targets at once; give host code to the compiler of the host",
	"clang-cl": "clang-cl writes COFF; only ELF and Mach-O can be instrumented",
	"cl":       "cl writes COFF; only ELF and Mach-O can be instrumented",
}

// compilerVersion matches what follows the name of a compiler.
var compilerVersion = regexp.MustCompile(`(-new)?(-[\d.]+)?$`)

func refuseCompiler(name string) error {
	if sentence := otherCompilers[compilerVersion.ReplaceAllString(name, "")]; sentence != "" {
		return errors.New(name + ": " + sentence)
	}
	return nil
}

// errNotCompiler replaces the exit code of a failed command by ErrUnsupportedTarget,
// since the command is not a supported compiler.
func errNotCompiler(err error) error {
	if exit := (*ExitError)(nil); err == nil || errors.As(err, &exit) {
		return asm.ErrUnsupportedTarget
	}
	return err
}

func parseVersion(out []byte) (f facts) {
	clangVersion, gccVersion := regexp.MustCompile(`\bclang version (\d+)`), regexp.MustCompile(`^gcc version (\d+)`)
	s := bufio.NewScanner(bytes.NewReader(out))
	for s.Scan() {
		line := s.Text()
		if m := clangVersion.FindStringSubmatch(line); m != nil {
			f.Clang = true
			fmt.Sscan(m[1], &f.Major)
		} else if m := gccVersion.FindStringSubmatch(line); m != nil {
			fmt.Sscan(m[1], &f.Major)
		} else if triple, ok := strings.CutPrefix(line, "Target: "); ok {
			f.Triple = strings.TrimSpace(triple)
		} else if triple, ok := strings.CutPrefix(line, "host: "); ok { // rustc
			f.Triple = strings.TrimSpace(triple)
		}
	}
	return f
}

// target returns the target of the compiler with the given arguments.
func (c *compiler) target(args []argument) (asm.Target, error) {
	t, err := asm.ParseTriple(c.Triple)
	arches := 0
	for _, a := range args {
		switch word := a.words[0]; word {
		// The triple does not tell: these options change the target of a compiler for 64 bits.
		case "-m32", "-mx32", "-m16", "-mabi=ilp32":
			err = fmt.Errorf("%w: %s", asm.ErrUnsupportedTarget, word)
		case "-arch":
			if arches++; arches > 1 {
				return t, fmt.Errorf("%w: several architectures at once; compile for each, and join the results with lipo", asm.ErrUnsupportedTarget)
			}
		}
	}
	if err != nil {
		return t, fmt.Errorf("%w; x86_64, AArch64 and ARMv7 can be instrumented: build for one of these, or without -fmachine-profile flags", err)
	}
	return t, nil
}

func machineWords(args []argument) (words []string) {
	for _, a := range args {
		if a.kind == argMachine {
			words = append(words, a.words...)
		}
	}
	return words
}
