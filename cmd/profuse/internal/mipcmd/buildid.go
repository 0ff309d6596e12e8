package mipcmd

import (
	"errors"
	"io/fs"
	"os"

	"github.com/profuse-pgo/profuse/internal/atomicfile"
	"github.com/profuse-pgo/profuse/mip"
)

// keepBuildID writes the file with the build id beside a profile that was
// written anew. Where it is not asked for, a file that is there already is
// updated, or removed if the build id is not known: it would be wrong.
func keepBuildID(profilePath string, id []byte, asked bool) error {
	if profilePath == "-" {
		return nil
	}
	path := profilePath + mip.BuildIDSuffix
	if _, err := os.Stat(path); !asked && errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if len(id) == 0 {
		err := os.Remove(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	f, err := atomicfile.Create(path, atomicfile.Options{})
	if err != nil {
		return err
	}
	defer f.Close()
	if err := mip.WriteBuildID(f, id); err != nil {
		return err
	}
	return f.Commit()
}
