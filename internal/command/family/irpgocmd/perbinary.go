package irpgocmd

import (
	"context"
	"fmt"
	"slices"

	"github.com/profuse-pgo/profuse/formats/irpgo"
	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/internal/command/merging"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
)

// maxBinaries limits the profiles of one merge with --per-binary: more is likely a mistake, such as
// profiles without binary ids of many builds.
const maxBinaries = 500

// Split returns a group for each binary with --per-binary. It reads the headers of
// all inputs. An unreadable input joins the first group, whose merge reports the
// error.
func (c *adder) Split(ctx context.Context, r *merging.Options, ins []inputs.Input) ([]*merging.Group, error) {
	if !c.perBinary {
		return nil, nil
	}
	if r.Output == "-" {
		return nil, cli.Usagef("--per-binary needs a folder as the output")
	}
	ending := ".profdata"
	if c.text {
		ending = ".proftext"
	}
	// The name of a group is that of its program, which becomes the name of the file.
	newGroup := func(name string) *merging.Group {
		return &merging.Group{Name: name + ending, Members: make(map[int]map[int]struct{})}
	}
	var groups []*merging.Group
	byName := make(map[string]*merging.Group)
	// An input is a file or an archive, which has several members.
	type place struct{ input, member int }
	var unknown []place
	// A group keeps which members of an archive belong to it: the merge reads the archive again.
	put := func(g *merging.Group, at place) {
		if g.Members[at.input] == nil {
			g.Members[at.input] = make(map[int]struct{})
			g.Inputs = append(g.Inputs, at.input)
		}
		g.Members[at.input][at.member] = struct{}{}
	}
	var reader inputs.Reader
	defer reader.Close()
	for i, in := range ins {
		// Once to group, once to merge.
		if !in.Reopens() {
			return nil, cli.Usagef("--per-binary reads each input twice; %s can be read only once", in.Name)
		}
		member := 0
		err := in.Each(&reader, func(d *inputs.Data) error {
			at := place{i, member}
			member++
			// An error here comes again when the group is merged, where the budget counts it.
			r, err := irpgo.NewReader(d.Name(), d.Bytes(), irpgo.ReaderOptions{})
			name := ""
			if err == nil {
				name = programKey(r.Info().BinaryIDs, nameRefs(d.Name(), d.Bytes()))
			}
			if name == "" {
				unknown = append(unknown, at)
				return ctx.Err()
			}
			g := byName[name]
			if g == nil {
				g = newGroup(name)
				byName[name] = g
				if groups = append(groups, g); len(groups) > maxBinaries {
					return fmt.Errorf("the inputs come from more than %d binaries", maxBinaries)
				}
			}
			put(g, at)
			return ctx.Err()
		})
		if ctx.Err() != nil || len(groups) > maxBinaries {
			return nil, err
		}
		if err != nil || member == 0 {
			unknown = append(unknown, place{i, member})
		}
	}
	if len(groups) == 0 {
		groups = []*merging.Group{newGroup("unknown")}
	}
	for _, at := range unknown {
		put(groups[0], at)
	}
	for _, g := range groups {
		// Inputs of an unknown binary came last.
		slices.Sort(g.Inputs)
	}
	return groups, nil
}
