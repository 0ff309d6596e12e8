// Package sources finds the files and programs that a command line names.
package sources

import (
	"bytes"
	"cmp"
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
	"github.com/profuse-pgo/profuse/internal/files/store"
	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/memlimit"
	"github.com/profuse-pgo/profuse/internal/program/object"
	"github.com/profuse-pgo/profuse/profile/coverage"
)

// Options returns how a command opens its inputs.
func Options(env *cli.Env) inputs.Options {
	return inputs.Options{
		Stdin: env.Stdin, MaxSize: int64(env.MaxInput), MaxSizeOption: "--max-input-size", Recognize: memlimit.Recognize,
		Remotes: func(arg string) ([]inputs.Remote, bool, error) { return remotes(env.Stores, arg) },
		Select:  selecting(env, isProfile),
	}
}

// TraceOptions is [Options] for commands that also take tracefiles of lcov.
func TraceOptions(env *cli.Env) inputs.Options {
	opt := Options(env)
	opt.Select = selecting(env, func(in inputs.Input) (found bool) {
		in.Heads(true, func(head []byte) bool {
			found = coverage.IsLCOV(head)
			return !found
		})
		return found || isProfile(in)
	})
	return opt
}

// selecting returns a function that selects files in folders, and records the others in env.
func selecting(env *cli.Env, take func(in inputs.Input) bool) func(inputs.Input) bool {
	return func(in inputs.Input) bool {
		taken := env.AllFiles || take(in)
		if !taken {
			env.PassOver(in.Name)
		}
		return taken
	}
}

// remotes returns the objects that a URL names; ok is false if arg is no URL.
func remotes(stores *store.Access, arg string) (list []inputs.Remote, ok bool, err error) {
	if !store.IsURL(arg) {
		return nil, false, nil
	}
	found, err := stores.Find(arg)
	for _, f := range found {
		list = append(list, inputs.Remote{Name: f.Store.URL(f.Object.Key), Path: f.Path, Fetch: stores.Fetch(f)})
	}
	return list, true, err
}

// BinaryPath returns the input for the path of a file or a .dSYM bundle.
func BinaryPath(path string, opt inputs.Options) (inputs.Input, error) {
	file, err := object.BundledFile(path)
	return inputs.File(file, opt), err
}

// IsFolder reports whether the path is a folder.
func IsFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// BundleFiles replaces .dSYM bundles among the arguments by the files in them.
func BundleFiles(args []string) []string {
	files := make([]string, len(args))
	for i, arg := range args {
		files[i] = arg
		if filepath.Ext(filepath.Clean(arg)) == ".dSYM" {
			if file, err := object.BundledFile(arg); err == nil {
				files[i] = file
			}
		}
	}
	return files
}

// expand returns the files that an argument names; for a .dSYM bundle, the file in it.
func expand(env *cli.Env, arg string) ([]inputs.Input, error) {
	return inputs.Expand(BundleFiles([]string{arg}), Options(env))
}

// Each passes all files that the arguments name to read, also members of archives. It passes errors
// about files to failed and continues. It returns the error of ctx.
func Each(ctx context.Context, env *cli.Env, args []string, read func(d *inputs.Data) error, failed func(name string, err error)) error {
	var r inputs.Reader
	defer r.Close()
	for _, arg := range args {
		ins, err := expand(env, arg)
		if err == nil && len(ins) == 0 { // an empty folder
			err = flaw.File(arg).Field("number of profiles").Got("0").Want("at least 1").Empty()
		}
		if err != nil {
			failed(arg, err)
		}
		for _, in := range ins {
			err := in.Each(&r, func(d *inputs.Data) error { return cmp.Or(read(d), ctx.Err()) })
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				failed(in.Name, err)
			}
		}
	}
	return nil
}

// One returns the one file that an argument names.
func One(env *cli.Env, arg string) (inputs.Input, error) {
	ins, err := expand(env, arg)
	switch {
	case err != nil:
	case len(ins) == 0:
		err = cli.Usagef("%s holds no profiles; want one", arg)
	case len(ins) > 1:
		err = cli.Usagef("%s holds %d profiles; want one: merge them first", arg, len(ins))
	default:
		return ins[0], nil
	}
	return inputs.Input{}, err
}

// ReadOne calls read with the one file that an argument names, which may be the only file of an archive.
func ReadOne(env *cli.Env, arg string, read func(*inputs.Data) error) error {
	in, err := One(env, arg)
	if err != nil {
		return err
	}
	seen := false
	return in.Each(nil, func(d *inputs.Data) error {
		if seen {
			return cli.Usagef("%s holds several files; want one profile: merge them first", arg)
		}
		seen = true
		return read(d)
	})
}

// PeekFormat returns the format of an input by its first bytes; 0 if unknown, or if the input can be read only once.
// With unpack it looks into compressed files and archives, for the first member of a known format.
func PeekFormat(in inputs.Input, unpack bool) (f formats.Format) {
	if in.Reopens() {
		in.Heads(unpack, func(head []byte) bool {
			f, _ = formats.Detect(head)
			return f == 0
		})
	}
	return f
}

// isProfile reports whether a file in a folder is a profile, and not a program, by its name or its first bytes.
func isProfile(in inputs.Input) (found bool) {
	if _, ok := formats.BySuffix(strings.TrimSuffix(in.Name, console.Compression(in.Name))); ok {
		return true
	}
	in.Heads(true, func(head []byte) bool {
		f, ok := formats.Detect(head)
		found = ok && !f.IsProgram() && !isComment(head)
		return !found
	})
	return found
}

// isComment reports whether a text has only comments. LLVM takes it for a profile without functions.
func isComment(text []byte) bool {
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
			return false
		}
	}
	return true
}
