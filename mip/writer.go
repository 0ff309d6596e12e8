package mip

import (
	"bytes"
	"fmt"
	"io"
	"math"

	"github.com/profuse-pgo/profuse/profile"
)

// writeAppended writes what appendTo makes of p.
func writeAppended[O any](w io.Writer, p *Profile, opt O, appendTo func([]byte, *Profile, O) ([]byte, error)) error {
	b, err := appendTo(nil, p, opt)
	if err != nil {
		return err
	}
	_, err = w.Write(b)
	return err
}

// appendWritten appends to dst what write makes of p; nothing if it fails.
func appendWritten[O any](dst []byte, p *Profile, opt O, write func(io.Writer, *Profile, O) error) ([]byte, error) {
	b := bytes.NewBuffer(dst)
	if err := write(b, p, opt); err != nil {
		return dst, err
	}
	return b.Bytes(), nil
}

// pointerSize returns the width of addresses that an option asks for.
func pointerSize(option int) (int, error) {
	switch option {
	case 0:
		return 8, nil
	case 4, 8:
		return option, nil
	}
	return 0, optionError("pointer size", fmt.Sprint(option), "4 or 8")
}

// checkNarrow refuses functions that lie too far from the raw section for
// addresses of 32 bits.
func (p *Profile) checkNarrow(field, want string) error {
	for i := range p.Functions {
		if a := p.Functions[i].Address; a < math.MinInt32 || a > math.MaxInt32 {
			return errorIn("functions", i, profile.ErrUnsupported, field, fmt.Sprintf("%#x", a), want)
		}
	}
	return nil
}
