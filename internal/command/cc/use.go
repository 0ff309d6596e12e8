package cc

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/formats/mip"
	"github.com/profuse-pgo/profuse/internal/mip/asm"
	"github.com/profuse-pgo/profuse/internal/mip/instrument"
	"github.com/profuse-pgo/profuse/profile/order"
)

// readEvidence reads the profiles that -fmachine-profile-use names.
func readEvidence(list string) (*instrument.Evidence, error) {
	var profiles []*mip.Profile
	for file := range strings.SplitSeq(list, ",") {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("-fmachine-profile-use: %w", err)
		}
		p, err := mip.Read(file, data, nil)
		if err != nil {
			return nil, fmt.Errorf("-fmachine-profile-use: %w", err)
		}
		if !slices.ContainsFunc(p.Functions, func(f mip.Function) bool { return f.Covered() }) {
			return nil, fmt.Errorf("-fmachine-profile-use: %s: no function in it has run: add raw profiles with \"profuse merge\"", file)
		}
		// Coverage with noise, for privacy, tells which functions ran by an estimate alone.
		p, _, _ = p.Estimate()
		profiles = append(profiles, p)
	}
	return instrument.NewEvidence(profiles...), nil
}

// orderArguments returns the arguments that tell the linker the order of the functions that ran. Linkers
// without such an option place functions by the names of their sections.
func (j *gnuJob) orderArguments(ctx context.Context) ([]string, error) {
	if j.evidence == nil || !j.linksImage() {
		return nil, nil
	}
	linker, err := j.linker(ctx)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(j.temp, "order")
	write := func(l order.Linker) error {
		var list bytes.Buffer
		if _, err := order.Write(&list, l, j.evidence.Order()); err != nil {
			return err
		}
		return os.WriteFile(file, list.Bytes(), 0o666)
	}
	// -Xlinker, since the file name may contain a comma.
	pass := func(words ...string) (args []string) {
		for _, w := range words {
			args = append(args, "-Xlinker", w)
		}
		return args
	}
	// A linker script places the sections itself.
	hasScript := slices.ContainsFunc(j.args, func(a argument) bool {
		word := strings.TrimPrefix(a.words[len(a.words)-1], "-Wl,")
		return a.words[0] == "-T" || strings.HasPrefix(word, "-T,") || strings.HasPrefix(word, "--script") || word == "-T"
	})
	switch linker {
	case ld64:
		return pass("-order_file", file), write(ld64)
	// lld warns of each symbol in the order that it does not find, such as functions that were inlined.
	case lld:
		args := []string{"-Wl,--no-warn-symbol-ordering", "-Wl,--symbol-ordering-file"}
		chosen := func(w string) bool { return w == "keep-text-section-prefix" || w == "nokeep-text-section-prefix" }
		if !hasScript && !slices.ContainsFunc(slices.Collect(j.linkerWords()), chosen) {
			args = append(args[:1], "-Wl,-z,keep-text-section-prefix", args[1])
		}
		return append(args, pass(file)...), write(lld)
	case gold:
		return pass("--section-ordering-file", file), write(gold)
	case gnuLD:
		if hasScript {
			return nil, j.report.passed(j.imageName(), "not ordered: it has a linker script")
		}
		if err := write(gnuLD); err != nil {
			return nil, err
		}
		script := filepath.Join(j.temp, "order.ld")
		// A script with INSERT takes effect before the linker's default script. The order
		// lacks functions that ran and were renamed since.
		text := "SECTIONS\n{\n  " + orderedSection + " : {\n    INCLUDE \"" + file + "\"" + // temporary folders have no quotes

			"\n    *(.text.hot .text.hot.* .text.startup .text.startup.*)\n  }\n}\nINSERT BEFORE .text;\n"
		return pass("-T", script), os.WriteFile(script, []byte(text), 0o666)
	case mold:
		return []string{"-Wl,-z,keep-text-section-prefix"}, j.report.passed(j.imageName(), "not ordered: mold cannot")
	}
	return nil, j.report.passed(j.imageName(), "not ordered: unknown linker")
}

// orderedSection is the output section of GNU ld for the ordered functions,
// named as lld names it with -z keep-text-section-prefix.
const orderedSection = ".text.hot"

// The linkers that are told apart. mold has no order file, so package order cannot write one.
const (
	lld   order.Linker = "lld"
	ld64  order.Linker = "ld64"
	gold  order.Linker = "gold"
	gnuLD order.Linker = "gnu-ld"
	mold  order.Linker = "mold"
)

// imageName is the path of the result of a link.
func (j *gnuJob) imageName() string { return cmp.Or(j.output, "a.out") }

// linker returns the linker that the command runs; "" if unknown.
func (j *gnuJob) linker(ctx context.Context) (order.Linker, error) {
	if j.target.Format == asm.MachO {
		return ld64, nil
	}
	argv := slices.Clone(j.compiler.argv)
	for _, a := range j.args {
		switch {
		case a.kind == argMachine, strings.HasPrefix(a.words[0], "-fuse-ld"), strings.HasPrefix(a.words[0], "--ld-path"):
			argv = append(argv, a.words...)
		}
	}
	out, err := j.driver.output(ctx, append(argv, "-Wl,--version"))
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		return "", nil // linking will report the failure
	}
	for _, l := range []struct {
		linker order.Linker
		line   string // which it prints for --version, within the output of the compiler
	}{{mold, `mold \d`}, {lld, `[\w ]*LLD \d`}, {gold, `GNU gold `}, {gnuLD, `GNU ld `}} {
		if regexp.MustCompile("(?m)^" + l.line).Match(out) {
			return l.linker, nil
		}
	}
	return "", nil
}
