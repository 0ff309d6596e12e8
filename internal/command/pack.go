package command

import (
	"archive/tar"
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/internal/command/cli"
	"github.com/profuse-pgo/profuse/internal/command/console"
	"github.com/profuse-pgo/profuse/internal/command/sources"
	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/packing"
	"github.com/profuse-pgo/profuse/internal/store"
)

// maxPack limits the contents of a pack in bytes: all that is read of a compressed
// archive however small it is, see package inputs.
const maxPack = 2 << 30

// packCommand is "profuse pack". Package packing says how a pack records where profiles come from.
// docs/mip.md shows packs with --program and --privacy.
func packCommand() *cli.Command {
	return &cli.Command{
		Name:  "pack",
		Args:  "-o OUTPUT INPUT...",
		Short: "put many profiles into one file, to send or to store them",
		Long: `Puts the INPUTs into a tar archive, compressed with zstd or gzip if OUTPUT ends in
.tar.zst or .tar.gz. All commands read such an archive as they read the profiles in it,
and equal profiles make equal archives. Each object in a bucket costs
time and money: turn 10 million profiles of 2 kB into some thousands of packs.

A pack says of each profile which program it is of, and the build id. LLVM's profiles
have build ids; for raw MIP profiles, which have none, --program names the program.
"profuse merge" then leaves out raw MIP profiles of other builds of a program, which
nothing else may tell apart. "profuse show" and "profuse check" print both.

--privacy adds noise to raw MIP profiles of function coverage before they leave the
machine: the coverage of each function is false with the probability 1/(1+e^EPSILON),
independently of all others. That is EPSILON-differential privacy for each function, and n times
EPSILON for n functions together. "profuse merge" adds such profiles up as they are;
"profuse show" and all other commands estimate without bias how many profiles ran a
function, with the standard error sqrt(N f (1-f)) / (1-2f) for N profiles and the
probability f.`,
		Profiles: true,
		Setup: func(f *cli.Flags) cli.Action {
			output, quiet, checksum := "", false, console.Checksum(false)
			// Random bytes are buffered, since each function takes four.
			p := &packer{seen: make(map[string]int), random: bufio.NewReader(rand.Reader)}
			f.StringVar(&output, "o", "", "`OUTPUT` archive to write, such as profiles.tar.zst; may be a URL")
			f.BoolVar(&quiet, "q", false, "print no summary")
			f.Func("privacy", "`EPSILON` add noise to coverage, for differential privacy of each function, such as 1", func(s string) (err error) {
				if p.privacy, err = strconv.ParseFloat(s, 64); err != nil || !(p.privacy > 0) || math.IsInf(p.privacy, 1) {
					return errors.New("want a number above 0")
				}
				return nil
			})
			f.StringVar(&p.path, "program", "", "`PROGRAM` program of raw MIP profiles, or its .mipmap; its build id goes into the pack")
			checksum.Declare(f)
			return func(ctx context.Context, env *cli.Env, args []string) error {
				if output == "" || len(args) == 0 {
					return cli.Usagef("want -o OUTPUT and at least one INPUT")
				}
				if name := strings.TrimSuffix(store.Shown(output), console.Compression(output)); output != "-" && path.Ext(name) != ".tar" {
					return cli.Usagef("%s: the name of a pack ends in .tar, .tar.zst or .tar.gz", store.Shown(output))
				}
				if err := console.RefuseTerminal(env, output, "an archive", ""); err != nil {
					return err
				}
				if p.path != "" {
					if err := p.readProgram(env); err != nil {
						return err
					}
				}
				ins, err := inputs.Expand(sources.BundleFiles(args), sources.Options(env))
				if err != nil {
					return err
				}
				err = console.Write(env, output, ins, checksum, func(w io.Writer) error {
					return console.WriteCompressed(w, output, func(w io.Writer) error { return p.pack(ctx, w, ins) })
				})
				if err == nil && !quiet {
					fmt.Fprintf(env.Stderr, "packed %s, %s → %s\n", cli.Quantity(uint64(p.profiles), "profile", "profiles"),
						cli.Size(uint64(p.size)), console.OutputName(output))
				}
				return err
			}
		},
	}
}

// A packer writes profiles to an archive.
type packer struct {
	privacy float64 // epsilon; 0 for none
	path    string  // of the program of raw MIP profiles; "" if unknown
	// program is what readProgram finds in path.
	program packing.Origin
	random  io.Reader // of bytes for the noise
	// profiles and size, in bytes before noise and compression, are what was packed so far.
	profiles int
	size     int64
	seen     map[string]int // how often a name was given
}

// pack writes the archive. Times, owners and modes are constant, so that the same profiles give the
// same bytes.
func (p *packer) pack(ctx context.Context, w io.Writer, ins []inputs.Input) error {
	archive := tar.NewWriter(w)
	// The global header marks the archive as a pack.
	if err := archive.WriteHeader(packing.GlobalHeader()); err != nil {
		return err
	}
	// One reader for all inputs: its decompressors are used again.
	var r inputs.Reader
	defer r.Close()
	for _, in := range ins {
		err := in.Each(&r, func(d *inputs.Data) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			// The readers of archives stop at this size, so a larger pack could not be read whole.
			if p.size += int64(len(d.Bytes())); p.size > maxPack {
				return fmt.Errorf("a pack holds %s at most: divide the inputs", cli.Size(maxPack))
			}
			p.profiles++
			data, err := p.private(d)
			if err != nil {
				return err
			}
			origin, err := p.origin(d)
			if err != nil {
				return err
			}
			// The size is that of the data with noise, which is as long as the data without.
			h := &tar.Header{
				Typeflag: tar.TypeReg, Name: p.name(d.Name()), Size: int64(len(data)), Mode: 0o644, ModTime: time.Unix(0, 0), Format: tar.FormatPAX,
				PAXRecords: origin.Records(),
			}
			if err := archive.WriteHeader(h); err != nil {
				return err
			}
			_, err = archive.Write(data)
			return err
		})
		if err != nil {
			return err
		}
	}
	return archive.Close()
}

// readProgram reads the program that --program names.
func (p *packer) readProgram(env *cli.Env) error {
	in, err := sources.BinaryPath(p.path, sources.Options(env))
	if err != nil {
		return err
	}
	return in.One(func(d *inputs.Data) (err error) {
		// Only one family has programs that --program may name.
		for i := range families {
			if families[i].Program != nil {
				p.program, err = families[i].Program(d.Name(), d.Bytes())
			}
		}
		return err
	})
}

// origin returns what the pack says about a profile: what an earlier pack says, or what its bytes
// and the program say. A profile that is of another program than --program names is an error,
// because the build id would be wrong.
func (p *packer) origin(d *inputs.Data) (o packing.Origin, err error) {
	o.Program, o.BuildID = d.Packed()
	i, _, err := familyOf(d.Name(), d.Bytes())
	if err != nil || families[i].Origin == nil {
		return o, nil // packed as it is
	}
	// What an earlier pack says comes first: its writer may have known the program.
	from := families[i].Origin(d.Name(), d.Bytes())
	o = packing.Origin{Program: cmp.Or(o.Program, from.Program), BuildID: cmp.Or(o.BuildID, from.BuildID)}
	switch {
	case families[i].Program == nil || p.path == "" || o.Program == "":
	case o.Program != p.program.Program:
		return o, flaw.File(d.Name()).Field("program").Got(o.Program).Wantf("%s, that of %s", p.program.Program, p.path).
			Hint("pack the profiles of each program with its own --program").Mismatch()
	default:
		o.BuildID = cmp.Or(o.BuildID, p.program.BuildID)
	}
	return o, nil
}

// private returns the bytes of a profile, with noise if that was asked for. The input
// must not be written to, so the noise goes into a copy.
func (p *packer) private(d *inputs.Data) ([]byte, error) {
	if p.privacy == 0 {
		return d.Bytes(), nil
	}
	i, _, err := familyOf(d.Name(), d.Bytes())
	if err != nil {
		return nil, err
	}
	if families[i].Randomize == nil {
		return nil, fmt.Errorf("%s: --privacy is for raw MIP profiles of function coverage", d.Name())
	}
	data := bytes.Clone(d.Bytes())
	return data, families[i].Randomize(d.Name(), data, p.privacy, func() uint32 {
		var b [4]byte
		_, _ = io.ReadFull(p.random, b[:]) // never fails
		return binary.NativeEndian.Uint32(b[:])
	})
}

// name returns a name for a profile in the archive. It leads nowhere, is not one that readers pass
// over, and is that of no other profile. Names that occur twice get .2, .3 and so on.
func (p *packer) name(name string) string {
	// Names become relative, without volume, URL scheme or "..", and members of archives, which
	// inputs name ARCHIVE!MEMBER, become paths.
	name = filepath.ToSlash(strings.TrimPrefix(name, filepath.VolumeName(name)))
	_, rest, isURL := strings.Cut(name, "://")
	if isURL {
		name = rest
	}
	name = strings.TrimPrefix(path.Clean("/"+strings.ReplaceAll(name, "!", "/")), "/")
	if _, hidden := inputs.IsHidden(name); hidden || name == "" {
		name = fmt.Sprintf("profile-%06d", p.profiles)
	}
	p.seen[name]++
	if n := p.seen[name]; n > 1 {
		return p.name(fmt.Sprintf("%s.%d", name, n))
	}
	return name
}
