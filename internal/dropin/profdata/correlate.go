package profdata

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/profuse-pgo/profuse/formats/irpgo"
	"github.com/profuse-pgo/profuse/internal/llvm/llvmerr"
	"github.com/profuse-pgo/profuse/internal/llvm/llvmyaml"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/symbolize"
)

// The kinds of correlation, spelled as --correlate spells them.
const (
	byDebugInfo = "debug-info"
	byBinary    = "binary"
)

// A correlator finds the names and counters that raw profiles leave out, in the program that the
// user named or in the program with the profile's build id.
type correlator struct {
	t    *tool
	kind string
	one  *irpgo.Correlation // of the program that was named

	mu    sync.Mutex
	found map[string]*irpgo.Correlation // by build id
}

// correlator returns the correlator that the options ask for, or nil. It checks the options that
// exclude or need each other, in LLVM's order. It reads a named program at once, so that its
// errors come before the errors of inputs.
func (t *tool) correlator() (*correlator, error) {
	o := &t.opt
	fetch := o.debuginfod || len(o.debugFileDirs) > 0
	switch {
	case o.debugInfo != "" && (o.binaryFile != "" || fetch):
		return nil, &failure{message: "Expected only one of -debug-info, -binary-file, -debuginfod or -debug-file-directory"}
	case o.debugInfo == "" && o.binaryFile != "" && fetch:
		return nil, &failure{message: "Expected only one of -binary-file, -debuginfod or -debug-file-directory"}
	case o.debugInfo != "":
		return t.correlateWith(o.debugInfo, byDebugInfo)
	case o.binaryFile != "":
		return t.correlateWith(o.binaryFile, byBinary)
	case o.debuginfod && o.correlate == "":
		return nil, &failure{message: "Expected --correlate when --debuginfod is provided"}
	case fetch && o.correlate == "":
		return nil, &failure{message: "Expected --correlate when --debug-file-directory is provided"}
	case !fetch && o.correlate != "":
		return nil, &failure{message: "Expected --debuginfod or --debug-file-directory when --correlate is provided"}
	case !fetch:
		return nil, nil
	}
	if o.debuginfod {
		t.msg.warn("", "profuse asks no debuginfod server; --debug-file-directory has the folders that are searched")
	}
	return &correlator{t: t, kind: o.correlate, found: make(map[string]*irpgo.Correlation)}, nil
}

// correlateWith reads the program at path and uses it for all profiles.
func (t *tool) correlateWith(path, kind string) (*correlator, error) {
	one, err := t.correlation(path, kind)
	if err != nil {
		return nil, &failure{whence: path, message: correlationWords(err)}
	}
	return &correlator{t: t, one: one}, nil
}

func correlationWords(err error) string {
	if code(err) == 0 && errors.Is(err, profile.ErrUnrecognized) {
		return notObject
	}
	return words(err)
}

// correlation reads a program. It prints at most --max-debug-info-correlation-warnings warnings (0: all), and then
// the number of suppressed warnings. Like LLVM it does not search for separate debug files.
func (t *tool) correlation(path, kind string) (*irpgo.Correlation, error) {
	f, err := symbolize.Open(path, symbolize.Options{Inputs: t.Inputs(), NoDebugFiles: true})
	if err != nil {
		return nil, err
	}
	defer f.Close()
	left := t.opt.maxDbgWarn
	suppressed := 0
	warn := func(w profile.Warning) {
		switch e := (*llvmerr.Error)(nil); {
		case left == 0 && t.opt.maxDbgWarn > 0:
			suppressed++
		case errors.As(w.Err, &e) && e.Code == llvmerr.UnableToCorrelate:
			t.msg.warn("", e.Detail)
			left--
		default:
			t.msg.warn("", details(w.Err))
			left--
		}
	}
	c, err := irpgo.Correlate(f, irpgo.CorrelateOptions{From: kind, Warn: warn})
	if suppressed > 0 {
		t.msg.warn("", fmt.Sprintf("Suppressed %d additional warnings", suppressed))
	}
	return c, err
}

// forProfile returns the correlation for a profile of the binary with this build id. It reads each program once.
// The first folder with a readable program counts; a readable program without data is an error.
func (c *correlator) forProfile(ids [][]byte) (*irpgo.Correlation, error) {
	if c.one != nil {
		return c.one, nil
	}
	if len(ids) != 1 {
		what := "there is no build ID"
		if len(ids) > 1 {
			what = "there are multiple build IDs"
		}
		return nil, unableToCorrelate("unsupported profile binary correlation when " + what + " in a profile")
	}
	id := hex.EncodeToString(ids[0])
	c.mu.Lock()
	defer c.mu.Unlock()
	if found := c.found[id]; found != nil {
		return found, nil
	}
	for _, dir := range c.t.opt.debugFileDirs {
		found, err := c.t.correlation(filepath.Join(dir, ".build-id", id[:min(2, len(id))], id[min(2, len(id)):]+".debug"), c.kind)
		if code(err) == llvmerr.UnableToCorrelate {
			return nil, err
		}
		if err == nil {
			c.found[id] = found
			return found, nil
		}
	}
	return nil, unableToCorrelate("Missing build ID: " + id)
}

func unableToCorrelate(detail string) error {
	return &llvmerr.Error{Code: llvmerr.UnableToCorrelate, Detail: detail}
}

// showCorrelation (showDebugInfoCorrelation) runs show --debug-info: it prints what the program
// says about its counters. With YAML, LLVM has another message for missing data.
func (t *tool) showCorrelation(w io.Writer) error {
	o := &t.opt
	if o.showFormat == showJSON {
		return &failure{message: "JSON output is not supported for debug info correlation"}
	}
	c, err := t.correlation(o.debugInfo, byDebugInfo)
	if err != nil {
		text := correlationWords(err)
		if o.showFormat == showYAML {
			text = strings.ReplaceAll(text, "in correlated file", "in debug info")
		}
		return &failure{whence: o.debugInfo, message: text}
	}
	if o.showFormat == showYAML {
		writeProbes(w, c)
		return nil
	}
	if o.symbolList {
		names := make([]string, len(c.Functions))
		for i := range c.Functions {
			names[i] = c.Functions[i].Name
		}
		slices.Sort(names)
		for _, name := range names {
			fmt.Fprintln(w, name)
		}
	}
	if o.detailedSummary {
		fmt.Fprintf(w, "Counters section size: 0x%x bytes\n", c.CountersSize)
	}
	fmt.Fprintf(w, "Found %d functions\n", len(c.Functions))
	return nil
}

// writeProbes writes the counters of each function as YAML, with the keys of
// InstrProfCorrelator::Probe (dumpYaml). It leaves out unknown values.
func writeProbes(w io.Writer, c *irpgo.Correlation) {
	fmt.Fprintf(w, "---\nProbes:\n")
	for i := range c.Functions {
		f := &c.Functions[i]
		fmt.Fprintf(w, "  - Function Name:   %s\n", llvmyaml.Quote(f.Name))
		if f.LinkageName != "" {
			fmt.Fprintf(w, "    Linkage Name:    %s\n", llvmyaml.Quote(f.LinkageName))
		}
		fmt.Fprintf(w, "    CFG Hash:        0x%X\n    Counter Offset:  0x%X\n    Num Counters:    %d\n", f.Hash, f.Counter, f.Counters)
		if f.File != "" {
			fmt.Fprintf(w, "    File:            %s\n", llvmyaml.Quote(f.File))
		}
		if f.Line != 0 {
			fmt.Fprintf(w, "    Line:            %d\n", f.Line)
		}
	}
	fmt.Fprintf(w, "...\n")
}
