package sources

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/cli"
	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/mip"
	"github.com/profuse-pgo/profuse/profile"
)

// BinaryPath returns the input for a path, which may be that of a .dSYM bundle.
func BinaryPath(path string) (inputs.Input, error) {
	file, err := mip.BinaryFile(path)
	return inputs.File(file), err
}

// IsFolder reports whether a path is that of a folder.
func IsFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// BundleFiles replaces .dSYM bundles among arguments by the file inside, where
// there is one.
func BundleFiles(args []string) []string {
	files := make([]string, len(args))
	for i, arg := range args {
		files[i] = arg
		if filepath.Ext(filepath.Clean(arg)) == ".dSYM" {
			if file, err := mip.BinaryFile(arg); err == nil {
				files[i] = file
			}
		}
	}
	return files
}

// expand returns the files that one argument names, of a .dSYM bundle the file
// inside.
func expand(env *cli.Env, arg string) ([]inputs.Input, error) {
	return inputs.Expand(BundleFiles([]string{arg}), inputs.Options{Stdin: env.Stdin})
}

// Expand returns the files that one argument names, at least one: a folder that
// has nothing in it is not what was meant.
func Expand(env *cli.Env, arg string) ([]inputs.Input, error) {
	ins, err := expand(env, arg)
	if err == nil && len(ins) == 0 {
		err = profile.File(arg).Field("number of files").Got("0").Want("at least 1").Empty()
	}
	return ins, err
}

// One returns the one file that an argument names.
func One(env *cli.Env, arg string) (inputs.Input, error) {
	ins, err := expand(env, arg)
	switch {
	case err != nil:
	case len(ins) == 0:
		err = cli.Usagef("%s holds no file, and one profile is wanted", arg)
	case len(ins) > 1:
		err = cli.Usagef("%s is %d files, and one profile is wanted: merge them first", arg, len(ins))
	default:
		return ins[0], nil
	}
	return inputs.Input{}, err
}

// WrongFormat is the error of a file whose contents are not what is wanted.
func WrongFormat(name string, data []byte, want string) error {
	at := profile.File(name)
	switch f, ok := formats.Detect(data); {
	case len(data) == 0:
		return at.Field("size").Got("0 bytes").Want(want).Empty()
	case f == formats.IRPGOText: // any text is taken for it
		return at.Field("format").Got("text").Want(want).Unrecognized()
	case ok:
		return at.Field("format").Got(f).Want(want).Mismatch()
	}
	return at.Field("format").Got("unknown").Want(want).Unrecognized()
}

// errSeen ends the reading of an input of which enough has been seen.
var errSeen = errors.New("seen")

// PeekFormat returns the format of an input, of an archive that of its first
// member that has one, by its first bytes; 0 if it has none, or if it can be
// read only once. Compressed ones are looked into on request.
func PeekFormat(in inputs.Input, compressed bool) (f formats.Format) {
	info, err := os.Stat(in.Name)
	if err != nil || !info.Mode().IsRegular() {
		return 0
	}
	if compressed {
		_ = in.Each(nil, func(d *inputs.Data) error {
			if f, _ = formats.Detect(d.Bytes()); f != 0 {
				return errSeen
			}
			return nil
		})
		return f
	}
	file, err := os.Open(in.Name)
	if err != nil {
		return 0
	}
	defer file.Close()
	var head [1 << 12]byte
	n, _ := file.Read(head[:])
	f, _ = formats.Detect(head[:n])
	return f
}
