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

// maxBinaries limits the results of one merge with --per-binary. More are likely a mistake, such as
// profiles of many builds without binary ids.
const maxBinaries = 500

// Split returns a group for each binary if --per-binary is given. It reads the headers of all
// inputs. Unreadable inputs join the first group, whose merge reports the errors.
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
	newGroup := func(name string) *merging.Group {
		return &merging.Group{Name: name + ending, Members: make(map[int]map[int]struct{})}
	}
	var groups []*merging.Group
	byName := make(map[string]*merging.Group)
	type member struct{ input, number int } // a file has one member, an archive several
	var unknown []member
	addMember := func(g *merging.Group, m member) {
		if g.Members[m.input] == nil {
			g.Members[m.input] = make(map[int]struct{})
			g.Inputs = append(g.Inputs, m.input)
		}
		g.Members[m.input][m.number] = struct{}{}
	}
	var reader inputs.Reader
	defer reader.Close()
	for i, in := range ins {
		if !in.Reopens() {
			return nil, cli.Usagef("--per-binary reads each input twice; %s can be read only once", in.Name)
		}
		members := 0
		err := in.Each(&reader, func(d *inputs.Data) error {
			m := member{i, members}
			members++
			// The merge of the group meets an error again, and counts it as a loss.
			r, err := irpgo.NewReader(d.Name(), d.Bytes(), irpgo.ReaderOptions{})
			name := ""
			if err == nil {
				name = programKey(r.Info.BinaryIDs, nameRefs(d.Name(), d.Bytes()))
			}
			if name == "" {
				unknown = append(unknown, m)
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
			addMember(g, m)
			return ctx.Err()
		})
		if ctx.Err() != nil || len(groups) > maxBinaries {
			return nil, err
		}
		if err != nil || members == 0 {
			unknown = append(unknown, member{i, members})
		}
	}
	if len(groups) == 0 {
		groups = []*merging.Group{newGroup("unknown")}
	}
	for _, m := range unknown {
		addMember(groups[0], m)
	}
	slices.Sort(groups[0].Inputs)
	return groups, nil
}
