package mipcmd

import (
	"bytes"
	"errors"
	"io/fs"
	"os"

	"github.com/profuse-pgo/profuse/internal/mip/buildid"

	"github.com/profuse-pgo/profuse/internal/files/atomicfile"
)

// keepBuildID updates the file beside a new profile that holds the program's build id
// ([buildid.Suffix]), because MIP profiles have no field for it. It creates the file only if
// asked. If the build id is unknown, it removes an earlier file, which may be wrong.
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
