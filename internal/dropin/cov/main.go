package cov

import (
	"errors"
	"fmt"

	"github.com/profuse-pgo/profuse/internal/dropin/clopt"
	"github.com/profuse-pgo/profuse/internal/dropin/withcolor"
	"github.com/profuse-pgo/profuse/internal/program/covmap"
)

// Env holds the streams of a run, and the name of the tool.
type Env = clopt.Env

// A tool is one run of llvm-cov.
type tool struct {
	Env
	opt    options
	colors bool // of the output and of messages

	objects   []string    // programs
	remap     [][2]string // prefixes of file names: in the mapping, and on this machine
	filters   []filter    // of functions; every filter must accept a function
	ignore    []func(file string) bool
	include   []func(file string) bool // all files if empty
	sources   []string                 // files to show or to export; none means all
	hadSource bool                     // the command line had a file or folder with a file
	demangler []string

	cov     *covmap.Coverage
	files   []string            // of cov
	local   map[string]string   // files of cov to files on this machine
	pretty  map[string]string   // function names to demangled ones
	texts   map[string][]string // lines of sources by path
	commits *commits            // files of --output-dir
	// watermark holds the least percentages of high and of medium coverage.
	watermark            [2]float64
	fileTab, functionTab table // of file and function reports
}

// errSilent ends the run when the reason was already printed.
var errSilent = errors.New("already told")

// Main runs the tool with the arguments that follow its name and returns the exit code: 0, or 1 after an error.
func Main(args []string, env Env) int {
	if len(args) == 0 {
		fmt.Fprint(env.Stderr, helpTop)
		return 1
	}
	switch args[0] {
	case "export", "report", "show":
	case "-h", "-help", "--help":
		fmt.Fprint(env.Stderr, helpTop)
		return 0
	case "-version", "--version":
		fmt.Fprint(env.Stdout, env.VersionText(toolName))
		return 0
	case "gcov", "convert-for-testing":
		fmt.Fprintf(env.Stderr, "error: the command %s of llvm-cov is not supported by profuse\n", args[0])
		return 1
	default:
		fmt.Fprintf(env.Stderr, "Unrecognized command: %s.\n\n%s", args[0], helpTop)
		return 1
	}
	// Help texts and messages of the parser name the subcommand.
	env.Prog += " " + args[0]
	t := &tool{
		Env: env, opt: defaults(), texts: make(map[string][]string), commits: &commits{slots: make(chan struct{}, mostCommits)},
		fileTab:     table{fileGroups, fileColumns, fileColumns[0], "-"},
		functionTab: table{functionGroups, functionColumns, functionColumns[0], ""},
	}
	cmd, outcome := t.parser(args[0]).Parse(args[1:])
	switch outcome {
	case clopt.Failed:
		return 1
	case clopt.Answered:
		return 0
	}
	err := t.prepare()
	if err == nil {
		err = cmd.Run()
	}
	if err == nil || err == errDone {
		return 0
	}
	if err != errSilent {
		t.fail("", err.Error())
	}
	return 1
}

// A message is an error in LLVM's words.
type message string

// Error returns the text unchanged: it is compared with LLVM's, including its capital letters and full stops.
func (m message) Error() string { return string(m) }

// errDone ends a run that has done what it was asked for.
var errDone = errors.New("done")

func (t *tool) fail(whence, message string) { t.printMessage("error: ", whence, message) }

func (t *tool) warn(whence, message string) { t.printMessage("warning: ", whence, message) }

// printMessage prints a message. Like llvm-cov it uses a colour if standard output does, and colours the line end too.
func (t *tool) printMessage(kind, whence, message string) {
	if whence != "" {
		whence += ": "
	}
	s := kind + whence + message + "\n"
	if t.colors {
		s = withcolor.Red.Paint(t.Stderr, s)
	}
	fmt.Fprint(t.Stderr, s)
}
