package schema

import (
	"cmp"
	"strconv"
	"strings"
)

// A FileFormat says of what format a file is, in the same words in all objects.
type FileFormat struct {
	Family        string `json:"family"`                   // "irpgo", "memprof" …; "" if unknown
	Format        string `json:"format"`                   // within the family, "raw", "indexed" …; "" if unknown
	Version       int    `json:"version"`                  // 0 if the format has none
	FormatVersion string `json:"format_version,omitempty"` // of formats whose version is not a number
}

// FileFormatOf returns the words for a family, a format and a version as people read them; any may
// be "".
func FileFormatOf(family, format, version string) FileFormat {
	family = strings.ToLower(family)
	word := strings.NewReplacer(" ", "_", ".", "").Replace(strings.ToLower(format))
	f := FileFormat{Family: family, Format: word}
	if version != "" {
		f.Format = cmp.Or(word, family) // the only one of its family
	}
	f.SetVersion(version)
	return f
}

// SetVersion sets the version, which may have parts: "1.1.0".
func (f *FileFormat) SetVersion(version string) {
	n, err := strconv.Atoi(version)
	if err != nil && version != "" {
		f.FormatVersion = version
	}
	f.Version = n
}
