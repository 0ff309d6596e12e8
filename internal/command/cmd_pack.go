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
	"github.com/profuse-pgo/profuse/internal/command/families"
	"github.com/profuse-pgo/profuse/internal/command/sources"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
	"github.com/profuse-pgo/profuse/internal/files/atomicfile"
	"github.com/profuse-pgo/profuse/internal/files/packing"
	"github.com/profuse-pgo/profuse/internal/files/store"
	"github.com/profuse-pgo/profuse/internal/flaw"
)

// maxPack limits the contents of a pack in bytes. Package inputs reads no more from a compressed archive.
const maxPack = 2 << 30

// packCommand is "profuse pack". Package packing describes how a pack records the programs of its profiles.
// docs/mip.md shows packs with --program and --privacy.
func packCommand() *cli.Command {
	return &cli.Command{
		Name:  "pack",
		Args:  "-o OUTPUT INPUT...",
		Short: "put many profiles into one file, to send or to store them",
		Long: `Puts the INPUTs into a tar archive, compressed with zstd or gzip if OUTPUT ends in
.tar.zst or .tar.gz. All commands read such an archive as they read a folder of the
profiles in it: commands that take one profile, such as top, want several merged. Equal
profiles make equal archives. Each object in a bucket costs time and money: turn 10
million profiles of 2 kB into some thousands of packs.

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
			// Random bytes are buffered, since each function takes four.
			c := &packRun{names: make(map[string]int), random: bufio.NewReader(rand.Reader)}
			f.StringVar(&c.output, "o", "", "`OUTPUT` archive to write, such as profiles.tar.zst; may be a URL")
			f.BoolVar(&c.quiet, "q", false, "print no summary")
			f.Func("privacy", "`EPSILON` add noise to coverage, for differential privacy of each function, such as 1", func(s string) (err error) {
				if c.privacy, err = strconv.ParseFloat(s, 64); err != nil || !(c.privacy > 0) || math.IsInf(c.privacy, 1) {
					return errors.New("want a number above 0")
				}
				return nil
			})
			f.StringVar(&c.program, "program", "", "`PROGRAM` program of raw MIP profiles, or its .mipmap; its build id goes into the pack")
			c.checksum.Declare(f)
			return c.run
		},
	}
}

type packRun struct {
	output   string
	quiet    bool
	checksum console.Checksum
	privacy  float64 // epsilon; 0 for none
	program  string  // path of the program of raw MIP profiles; "" if unknown

	programOrigin packing.Origin // of the profiles of program
	random        io.Reader
	profiles      int            // packed so far
	size          int64          // of the profiles packed so far, in bytes, before compression
	names         map[string]int // how many profiles had this name
}

func (c *packRun) run(ctx context.Context, env *cli.Env, args []string) error {
	if c.output == "" || len(args) == 0 {
		return cli.Usagef("want -o OUTPUT and at least one INPUT")
	}
	if name := strings.TrimSuffix(store.Shown(c.output), console.Compression(c.output)); c.output != "-" && path.Ext(name) != ".tar" {
		return cli.Usagef("%s: the name of a pack ends in .tar, .tar.zst or .tar.gz", store.Shown(c.output))
	}
	if err := console.RefuseTerminal(env, c.output, "an archive", ""); err != nil {
		return err
	}
	if c.program != "" {
		if err := c.readProgram(env); err != nil {
			return err
		}
	}
	ins, err := inputs.Expand(sources.BundleFiles(args), sources.Options(env))
	if err != nil {
		return err
	}
	err = console.Write(env, c.output, ins, c.checksum, func(w io.Writer) error {
		return console.WriteCompressed(w, c.output, func(w io.Writer) error { return c.writeArchive(ctx, w, ins) })
	})
	if err == nil && !c.quiet {
		fmt.Fprintf(env.Stderr, "packed %s, %s → %s\n", cli.Quantity(c.profiles, "profile", "profiles"),
			cli.Size(c.size), console.OutputName(c.output))
	}
	return err
}

// writeArchive writes the archive. Times, owners and modes are constant, so that equal profiles make equal archives.
func (c *packRun) writeArchive(ctx context.Context, w io.Writer, ins []inputs.Input) error {
	archive := tar.NewWriter(w)
	if err := archive.WriteHeader(packing.GlobalHeader()); err != nil {
		return err
	}
	var r inputs.Reader
	defer r.Close()
	for _, in := range ins {
		err := in.Each(&r, func(d *inputs.Data) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			c.size += int64(len(d.Bytes()))
			if c.size > maxPack {
				return fmt.Errorf("a pack holds %s at most: divide the inputs", cli.Size(int64(maxPack)))
			}
			c.profiles++
			data, err := c.addNoise(d)
			if err != nil {
				return err
			}
			origin, err := c.origin(d)
			if err != nil {
				return err
			}
			h := &tar.Header{
				Typeflag: tar.TypeReg, Name: c.memberName(d.Name()), Size: int64(len(data)), Mode: 0o644, ModTime: time.Unix(0, 0), Format: tar.FormatPAX,
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

func (c *packRun) readProgram(env *cli.Env) error {
	in, err := sources.BinaryPath(c.program, sources.Options(env))
	if err != nil {
		return err
	}
	return in.One(func(d *inputs.Data) (err error) {
		// Only one family has a function for programs.
		for i := range families.All {
			if families.All[i].Program != nil {
				c.programOrigin, err = families.All[i].Program(d.Name(), d.Bytes())
			}
		}
		return err
	})
}

// origin returns the program and build id to record for a profile: from an earlier pack, from the profile, or from the
// program. A profile of another program than --program is an error, because the build id would be wrong.
func (c *packRun) origin(d *inputs.Data) (o packing.Origin, err error) {
	o.Program, o.BuildID = d.Program, d.BuildID
	i, _, err := families.Of(d.Name(), d.Bytes())
	if err != nil || families.All[i].Origin == nil {
		return o, nil // packed as it is
	}
	// The writer of an earlier pack may have known the program.
	from := families.All[i].Origin(d.Name(), d.Bytes())
	o = packing.Origin{Program: cmp.Or(o.Program, from.Program), BuildID: cmp.Or(o.BuildID, from.BuildID)}
	switch {
	case families.All[i].Program == nil || c.program == "" || o.Program == "":
	case o.Program != c.programOrigin.Program:
		return o, flaw.File(d.Name()).Field("program").Got(o.Program).Wantf("%s, as in %s", c.programOrigin.Program, c.program).
			Hint("pack the profiles of each program with its own --program").Mismatch()
	default:
		o.BuildID = cmp.Or(o.BuildID, c.programOrigin.BuildID)
	}
	return o, nil
}

// addNoise returns the bytes of a profile, with --privacy in a copy with noise: the input may be a mapped file.
func (c *packRun) addNoise(d *inputs.Data) ([]byte, error) {
	if c.privacy == 0 {
		return d.Bytes(), nil
	}
	i, _, err := families.Of(d.Name(), d.Bytes())
	if err != nil {
		return nil, err
	}
	if families.All[i].Randomize == nil {
		return nil, fmt.Errorf("%s: --privacy is for raw MIP profiles of function coverage", d.Name())
	}
	data := bytes.Clone(d.Bytes())
	return data, families.All[i].Randomize(d.Name(), data, c.privacy, func() uint32 {
		var b [4]byte
		_, _ = io.ReadFull(c.random, b[:]) // never fails
		return binary.NativeEndian.Uint32(b[:])
	})
}

// memberName returns a unique name for a profile in the archive: a relative path that is not hidden. Names
// that occur several times get .2, .3 and so on.
func (c *packRun) memberName(name string) string {
	// Inputs name a member of an archive ARCHIVE!MEMBER.
	name = filepath.ToSlash(strings.TrimPrefix(name, filepath.VolumeName(name)))
	_, rest, isURL := strings.Cut(name, "://")
	if isURL {
		name = rest
	}
	name = strings.TrimPrefix(path.Clean("/"+strings.ReplaceAll(name, "!", "/")), "/")
	if _, hidden := atomicfile.IsHidden(name); hidden || name == "" {
		name = fmt.Sprintf("profile-%06d", c.profiles)
	}
	c.names[name]++
	if n := c.names[name]; n > 1 {
		return c.memberName(fmt.Sprintf("%s.%d", name, n))
	}
	return name
}
