package cc

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/internal/files/atomicfile"
	"github.com/profuse-pgo/profuse/internal/llvm/guid"
	"github.com/profuse-pgo/profuse/internal/mip/runtime"
)

// cacheDir returns the folder for compiled runtimes: in the user's cache, or,
// if there is none, in the temporary folder of this run.
func (d *driver) cacheDir() string {
	if dir := d.env.Getenv("PROFUSE_CACHE"); dir != "" {
		return dir
	}
	// os.UserCacheDir reads it on Linux alone.
	if dir := d.env.Getenv("XDG_CACHE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "profuse")
	}
	if dir, err := os.UserCacheDir(); err == nil {
		return filepath.Join(dir, "profuse")
	}
	return filepath.Join(d.temp, "cache")
}

// store writes a file of the cache, whole or not at all: other builds may be
// reading or writing the same file.
func store(file string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return err
	}
	return atomicfile.WriteFile(file, bytes.NewReader(data))
}

// runtimeObject returns the compiled runtime for the compiler's target and the program
// or library of the given name.
func (d *driver) runtimeObject(ctx context.Context, c *compiler, flags *machineFlags, image string) (string, error) {
	// The file of the small runtime is named when the program is linked.
	fixed, err := fixedName(flags.SmallRuntime, guid.LinkUnit(cmp.Or(flags.LinkUnit, filepath.Base(image))))
	if err != nil {
		return "", err
	}
	small := "-Os"
	if c.Clang {
		small = "-Oz"
	}
	// One object fits programs and libraries, and links with any options of theirs: position independent,
	// hidden, without link-time optimization, and without tables that small programs would have to carry.
	options := []string{"-w", small, "-fPIC", "-fno-asynchronous-unwind-tables", "-fvisibility=hidden", "-fno-lto", "-fno-stack-protector", "-fno-plt"}
	options = append(options, runtime.Options{
		NoDump: !flags.Dump, Coverage: flags.FunctionCoverage, Signals: flags.Signals, Buffer: flags.RuntimeBuffer, File: fixed,
	}.Args()...)
	h := sha256.New()
	// What decides about the bytes of the object names it: another compiler or profuse makes another.
	fmt.Fprintf(h, "%s\x00%s\x00%s", runtime.Source(), c.id, strings.Join(options, "\x00"))
	file := filepath.Join(d.cache, "runtime-"+hex.EncodeToString(h.Sum(nil)[:16])+".o")
	if _, err := os.Stat(file); err == nil {
		return file, nil
	}
	source, err := d.tempFile("runtime.c")
	if err == nil {
		err = os.WriteFile(source, runtime.Source(), 0o666)
	}
	if err != nil {
		return "", err
	}
	object := replaceExtension(source, ".o")
	argv := slices.Concat(c.argv, codegenOnly(c.machine), options, []string{"-x", "c", "-c", source, "-o", object})
	if out, err := d.output(ctx, argv); err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return "", fmt.Errorf("cannot compile the runtime: %v\n%s", err, strings.TrimSpace(string(out)))
	}
	data, err := os.ReadFile(object)
	if err != nil {
		return "", err
	}
	if err := store(file, data); err != nil {
		return object, nil // the build goes on without a cache
	}
	return file, nil
}

// fixedName returns the name of the file that the small runtime writes to.
func fixedName(pattern string, unit uint32) (name string, err error) {
	name = regexp.MustCompile("%.?").ReplaceAllStringFunc(pattern, func(directive string) string {
		switch directive {
		case "%%":
			return "%"
		case "%h":
			return fmt.Sprintf("%04x", unit&0xffff)
		case "%p":
			return runtime.ProcessID
		}
		err = errDirective
		return ""
	})
	if strings.Count(name, runtime.ProcessID) > 1 {
		err = errDirective
	}
	return name, err
}

var errDirective = fmt.Errorf("%w: -fmachine-profile-small-runtime: the name of the file may have %%h, one %%p, and %%%%; other parts are not known when the program is linked", errFlags)

// codegenOnly drops the target's arguments that the runtime sets itself: position independence, which
// excludes a code model, and the syntax of its assembly.
func codegenOnly(machine []string) (words []string) {
	for _, w := range machine {
		lower := strings.ToLower(w)
		if !strings.HasPrefix(lower, "-fpi") && !strings.HasPrefix(lower, "-fno-pi") && !strings.HasPrefix(w, "-masm=") && w != "-mcmodel=kernel" {
			words = append(words, w)
		}
	}
	return words
}
