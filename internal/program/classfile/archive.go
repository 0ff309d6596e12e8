package classfile

import (
	"archive/zip"
	"bufio"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"math"
	"strconv"
	"strings"

	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/profile"
)

const (
	zipMagic  = "PK\x03\x04"
	zipEmpty  = "PK\x05\x06" // end of central directory: an archive without files
	jmodMagic = "JM\x01\x00" // followed by a zip archive

	versionsFolder = "META-INF/versions/"
	manifestName   = "META-INF/MANIFEST.MF"
	maxManifest    = 1 << 20

	minBudget  = 64 << 20 // how many bytes any archive may decompress to
	methodCost = 64       // what a method costs at least, in bytes
)

// nestedFolders are the folders in which Spring Boot and web applications keep archives of the program.
var nestedFolders = []string{"BOOT-INF/lib/", "WEB-INF/lib/"}

func isArchive(head []byte) bool {
	switch string(head) {
	case zipMagic, zipEmpty, jmodMagic:
		return true
	}
	return false
}

type archive struct {
	x      *Index
	name   string
	budget *int64 // bytes that may still be decompressed; shared with nested archives
	nested bool
	buf    bytes.Buffer
}

func (x *Index) addArchive(name string, r io.ReaderAt, size int64) error {
	budget := int64(math.MaxInt64)
	if times := int64(x.opt.MaxExpansion); size <= (budget-minBudget)/times {
		budget = minBudget + times*size
	}
	a := &archive{x: x, name: name, budget: &budget}
	return a.read(r, size)
}

func (a *archive) read(r io.ReaderAt, size int64) error {
	head := make([]byte, len(jmodMagic))
	if _, err := r.ReadAt(head, 0); err == nil && string(head) == jmodMagic {
		skip := int64(len(jmodMagic))
		r, size = io.NewSectionReader(r, skip, size-skip), size-skip
	}
	z, err := zip.NewReader(r, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return a.corrupt(a.name, "zip directory", err)
	}
	releases, err := a.releases(z)
	if err != nil {
		return err
	}
	for _, f := range z.File {
		switch {
		case strings.HasSuffix(f.Name, ".class"):
			base, release := splitVersion(f.Name)
			if chosen := releases[base]; release != chosen {
				continue
			}
			err = a.addClass(f)
		case !a.nested && isNested(f.Name):
			err = a.addNested(f)
		default:
			continue
		}
		if fe := (*profile.FormatError)(nil); errors.As(err, &fe) && *a.budget >= 0 {
			a.x.warn(err)
		} else if err != nil {
			return err
		}
	}
	return nil
}

func isNested(name string) bool {
	for _, folder := range nestedFolders {
		if strings.HasPrefix(name, folder) {
			return strings.HasSuffix(name, ".jar")
		}
	}
	return false
}

// splitVersion removes META-INF/versions/N/ from the path of a class. release is N,
// 0 for a class outside, or -1 for a class in a folder that no release reads.
func splitVersion(name string) (base string, release int) {
	rest, ok := strings.CutPrefix(name, versionsFolder)
	if !ok {
		return name, 0
	}
	number, base, ok := strings.Cut(rest, "/")
	release, err := strconv.Atoi(number)
	if !ok || err != nil || release < 9 {
		return name, -1
	}
	return base, release
}

// releases returns, for a multi-release jar, the release to take each class from,
// by base path. Paths that are not in the map exist in release 0 only.
func (a *archive) releases(z *zip.Reader) (map[string]int, error) {
	multi := false
	for _, f := range z.File {
		if f.Name == manifestName {
			var err error
			if multi, err = a.multiRelease(f); err != nil {
				return nil, err
			}
			break
		}
	}
	if !multi {
		return nil, nil // all classes are taken from release 0
	}
	releases := make(map[string]int)
	for _, f := range z.File {
		if base, release := splitVersion(f.Name); release > releases[base] && (a.x.opt.Release == 0 || release <= a.x.opt.Release) {
			releases[base] = release
		}
	}
	return releases, nil
}

// multiRelease reports whether a manifest has Multi-Release: true in its main
// section, which ends at the first empty line.
func (a *archive) multiRelease(f *zip.File) (bool, error) {
	r, err := f.Open()
	if err != nil {
		return false, a.corrupt(a.member(f), "manifest", err)
	}
	defer r.Close()
	lines := bufio.NewScanner(io.LimitReader(r, maxManifest))
	for lines.Scan() && lines.Text() != "" {
		key, value, _ := strings.Cut(lines.Text(), ":")
		if strings.EqualFold(key, "Multi-Release") {
			return strings.EqualFold(strings.TrimSpace(value), "true"), nil
		}
	}
	return false, nil // a damaged manifest counts as one without the attribute
}

func (a *archive) addClass(f *zip.File) error {
	data, err := a.decompress(f, maxClassFile)
	if err != nil {
		return err
	}
	methods, err := a.x.addClass(a.member(f), data)
	// A method counts methodCost bytes beyond its bytes in the file; real methods have more.
	*a.budget -= max(0, int64(methods*methodCost-len(data)))
	if err == nil && *a.budget < 0 {
		err = a.tooLarge(f)
	}
	return err
}

func (a *archive) addNested(f *zip.File) error {
	data, err := a.decompress(f, *a.budget)
	if err != nil {
		return err
	}
	if len(data) < len(zipMagic) || !isArchive(data[:len(zipMagic)]) {
		return nil
	}
	inner := &archive{x: a.x, name: a.member(f), budget: a.budget, nested: true}
	return inner.read(bytes.NewReader(data), int64(len(data)))
}

// decompress returns the contents of f, valid until the next call. The buffer grows
// with the bytes read, not with the size in the directory.
func (a *archive) decompress(f *zip.File, limit int64) ([]byte, error) {
	r, err := f.Open()
	if err != nil {
		return nil, a.corrupt(a.member(f), "entry", err)
	}
	defer r.Close()
	a.buf.Reset()
	n, err := io.Copy(&a.buf, io.LimitReader(r, min(limit, *a.budget, math.MaxInt64-1)+1))
	*a.budget -= n
	switch {
	case *a.budget < 0:
		return nil, a.tooLarge(f)
	case err != nil:
		return nil, a.corrupt(a.member(f), "entry", err)
	}
	return a.buf.Bytes(), nil
}

func (a *archive) tooLarge(f *zip.File) error {
	return flaw.File(a.member(f)).Field("decompressed size of the archive").Got("more").
		Wantf("at most %d MiB and %d times its size", minBudget>>20, a.x.opt.MaxExpansion).Unsupported()
}

func (a *archive) member(f *zip.File) string { return a.name + "!" + f.Name }

// corrupt turns an error of the zip reader into a *[profile.FormatError]. It returns
// errors of the underlying file unchanged.
func (a *archive) corrupt(file, field string, err error) error {
	if errors.As(err, new(*fs.PathError)) {
		return err
	}
	class := profile.ErrCorrupt
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		class = profile.ErrTruncated
	case errors.Is(err, zip.ErrAlgorithm):
		class = profile.ErrUnsupported
	}
	return flaw.In("archive").InFile(file).Field(field).Got(err.Error()).Because(class)
}
