package family

import (
	"fmt"

	"github.com/profuse-pgo/profuse/docs/schema"
	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
	"github.com/profuse-pgo/profuse/internal/files/packing"
	"github.com/profuse-pgo/profuse/profile"
)

// Facts are what "profuse show" prints about a file. They marshal to a JSON object, which begins with a [Head] and ends
// with [Problems]; docs/schema/show.schema.json describes both.
type Facts interface {
	Print(p *Printer)
}

// Head begins the facts of a file.
type Head struct {
	schema.Head
	File string `json:"file"`
	Size int64  `json:"size"` // bytes, decompressed
	schema.FileFormat
	What string `json:"-"` // the format for people; "" if unknown

	Packed *packing.Origin `json:"packed,omitempty"` // from the pack that contains the file; nil without a pack
}

// SetPacked sets the origin that the pack has recorded for the file.
func (h *Head) SetPacked(o packing.Origin) { h.Packed = &o }

// NewHead returns the head of a file's facts. The format may be 0, for unknown.
func NewHead(file string, size int, f formats.Format) Head {
	h := Head{Head: schema.For("show"), File: file, Size: int64(size), FileFormat: schema.FileFormatOf(string(f.Family()), f.Describe().Word, "")}
	if f != 0 {
		h.What = f.String()
	}
	return h
}

// Problems ends the facts of a file.
type Problems struct {
	Warnings []*console.Error `json:"warnings"`
	Error    *console.Error   `json:"error"` // what stopped the reader; null if nothing did
}

// NewProblems returns an empty list, which is [] in JSON.
func NewProblems() Problems { return Problems{Warnings: []*console.Error{}} }

// Warn adds a warning.
func (p *Problems) Warn(w profile.Warning) { p.Warnings = append(p.Warnings, console.NewWarning(w)) }

// WarnText adds a warning that is no error of a reader.
func (p *Problems) WarnText(class profile.Class, text string) {
	p.Warnings = append(p.Warnings, &console.Error{Class: class, Message: text})
}

// End records and returns the error that stopped the reader; nil if none did.
func (p *Problems) End(err error) error {
	if err != nil {
		p.Error = console.NewError(err)
	}
	return err
}

// Rows returns the first warnings and the error as rows of a list. rest is appended to the error;
// it says which facts are shown nevertheless.
func (p *Problems) Rows(term cli.Terminal, rest string) (rows [][2]string) {
	for i, w := range p.Warnings {
		if i == console.MaxListed {
			rows = append(rows, [2]string{"Warning", fmt.Sprintf("… and %s more", cli.Count(len(p.Warnings)-i))})
			break
		}
		rows = append(rows, [2]string{"Warning", console.Printable(w.Text())})
	}
	if p.Error != nil {
		rows = append(rows, [2]string{term.Paint(cli.Red, "Error"), console.Printable(p.Error.Message) + rest})
	}
	return rows
}
