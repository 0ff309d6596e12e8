package export

import (
	"slices"
	"strconv"

	"github.com/profuse-pgo/profuse/profile"
)

// folded writes a line per stack, outermost function first:
//
//	main;f;g 12
//
// Stacks that the format cannot distinguish give several equal lines, which readers sum.
// Stacks with value 0 are omitted.
func (e *exporter) folded() error {
	set, values, err := e.set()
	if err != nil {
		return err
	}
	// If options name a value, set has found that it is there.
	at := values[0]
	for _, i := range values {
		if set.Values[i].Name == e.opt.Value {
			at = i
		}
	}
	for _, i := range values {
		if i != at {
			e.lose(0, "values "+set.Values[i].Name, "a line has one value: "+set.Values[at].Name+" is written")
		}
	}
	var labels uint64
	var line []byte
	names := foldedNames{e: e, clean: make(map[string]string)}
	for s := range set.ReusedStacks {
		if s.Values[at] == 0 {
			continue
		}
		if len(s.Labels) > 0 {
			labels++
		}
		line = names.append(line[:0], s.Frames, e.opt.Lines)
		line = append(line, ' ')
		line = strconv.AppendUint(line, s.Values[at], 10)
		line = append(line, '\n')
		if _, err := e.Write(line); err != nil {
			return err
		}
	}
	e.loseFrames(labels)
	return nil
}

// foldedNames joins the names of frames and caches their escaped forms.
type foldedNames struct {
	e     *exporter
	clean map[string]string
}

// append appends the frames, outermost first, and their lines if lines is true.
func (n *foldedNames) append(dst []byte, frames []profile.Frame, lines bool) []byte {
	for i, f := range slices.Backward(frames) {
		name := n.e.symbols.name(&f.Symbol)
		cleaned, ok := n.clean[name]
		if !ok {
			// A semicolon would divide the name into two frames, a line break end the stack.
			cleaned = n.e.clean(name, ";\n\r")
			n.clean[name] = cleaned
		}
		dst = append(dst, cleaned...)
		if lines {
			dst = n.e.appendLine(dst, &frames[i])
		}
		if i > 0 {
			dst = append(dst, ';')
		}
	}
	return dst
}

// appendLine appends ":" and the line of a frame if it has one, or its negative bytecode index.
func (e *exporter) appendLine(dst []byte, f *profile.Frame) []byte {
	line := e.line(f)
	// Without a class file the bytecode index is all that is known, and 0 is one: the beginning.
	bytecodes := !e.features.Lines && !e.features.LineOffsets && e.features.Bytecodes
	if bytecodes {
		line = f.BCI
	}
	if line != 0 || bytecodes || e.features.LineOffsets {
		dst = append(dst, ':')
		dst = strconv.AppendInt(dst, int64(line), 10)
	}
	return dst
}
