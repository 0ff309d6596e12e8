package mipcmd

import (
	"bytes"
	"errors"
	"io/fs"
	"os"

	"github.com/profuse-pgo/profuse/internal/mip/buildid"

	"github.com/profuse-pgo/profuse/internal/files/atomicfile"
)

// keepBuildID updates the file with the build id beside a new profile ([buildid.Suffix]): a MIP
// profile itself has no field for it. It creates the file only if asked, and removes one that may
// be wrong because the build id is unknown. Standard output has no such file.
func keepBuildID(profilePath string, id []byte, asked bool) error {
	if profilePath == "-" {
		return nil
	}
	path := profilePath + buildid.Suffix
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
	var file bytes.Buffer
	if err := buildid.Write(&file, id); err != nil {
		return err
	}
	return atomicfile.WriteFile(path, &file)
}
