// Package doctorcmd is "profuse doctor", which runs a command and explains why its processes leave no profile.
package doctorcmd

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/docs/schema"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/console"
	"github.com/profuse-pgo/profuse/profile"
)

// Command is "profuse doctor".
func Command() *cli.Command {
	return &cli.Command{
		Name:  "doctor",
		Args:  "[OPTION]... -- COMMAND [ARGUMENT]...",
		Short: "run a command and explain missing profiles of its processes",
		Long: `Runs COMMAND and lists the processes that it starts: which are instrumented (clang
-fprofile-generate, -fprofile-instr-generate, rustc -Cprofile-generate), which
wrote a raw profile, and the likely cause where one did not: a signal, _exit, a
folder that cannot be written to, or another process that overwrote the profile
because LLVM_PROFILE_FILE has neither %p nor %m.

doctor works on Linux, without privileges. It traces processes with ptrace and
stops them only when they start, replace themselves or end, so that they run at
full speed. No debugger can attach to them meanwhile.

The exit code is 0 if every instrumented process left a readable profile, 1 if
not or if no process is instrumented, and 2 if the command line is wrong.`,
		Setup: func(f *cli.Flags) cli.Action {
			c := &command{}
			f.BoolVar(&c.json, "json", false, "print the processes as JSON")
			return c.run
		},
	}
}

type command struct {
	json bool
}

// A patient is a process that runs one program. A process that replaces itself by another program (exec) is
// several patients. docs/schema/doctor.schema.json describes the JSON.
type patient struct {
	PID          int      `json:"pid"`
	Program      string   `json:"program"`
	Instrumented []string `json:"instrumented"` // the program, or libraries in it
	Pattern      string   `json:"pattern,omitempty"`
	// Profiles are the files that the process wrote and that still exist.
	Profiles []string `json:"profiles,omitempty"`
	// Inherited: the process was forked and runs the program of its parent.
	Inherited bool   `json:"inherited,omitempty"`
	End       string `json:"end"` // "exit code 1", "signal 9 (killed)", "replaced by /bin/sh"
	// Cause says why there is no lasting profile; "" if there is one.
	Cause string         `json:"cause,omitempty"`
	Error *console.Error `json:"error,omitempty"` // of a profile that cannot be read

	replaced bool     // by another program (exec)
	signal   bool     // a signal ended the process
	obstacle string   // why the profile could not be written
	targets  []string // existing files to which the process may write
}

// run traces the command, whose output goes to standard error, and then prints its processes by id. It returns
// cli.ErrReported if a profile is missing, unreadable or overwritten, or no process is instrumented.
func (c *command) run(ctx context.Context, env *cli.Env, args []string) error {
	if len(args) == 0 {
		return cli.Usagef("no command to run")
	}
	all, err := traceCommand(ctx, env, args)
	if err != nil {
		return err
	}
	slices.SortStableFunc(all, func(a, b *patient) int { return cmp.Compare(a.PID, b.PID) })
	well := diagnose(all)
	var b bytes.Buffer
	if c.json {
		console.WriteJSON(&b, struct {
			schema.Head
			Processes []*patient `json:"processes"`
		}{schema.For("doctor"), all}, "")
	} else {
		printPatients(&b, env, all)
	}
	if _, err := env.Stdout.Write(b.Bytes()); err != nil {
		return err
	}
	if !well {
		return cli.ErrReported
	}
	return nil
}

// diagnose sets the causes. well: a patient is instrumented, and no instrumented patient has a cause.
func diagnose(all []*patient) (well bool) {
	instrumented, sick := 0, 0
	writers := make(map[string]int)
	for _, p := range all {
		for _, file := range p.Profiles {
			writers[file]++
		}
	}
	for _, p := range all {
		if len(p.Instrumented) == 0 {
			continue
		}
		instrumented++
		p.Cause = p.findCause(writers, all)
		if p.Cause != "" {
			sick++
		}
	}
	return instrumented > 0 && sick == 0
}

// findCause returns why the patient has no lasting profile; "" if it has one. writers counts the processes that
// wrote each file. With %m several processes may write a file, because the runtime merges into it.
func (p *patient) findCause(writers map[string]int, all []*patient) string {
	pool := hasPool(p.Pattern)
	switch {
	case len(p.Profiles) > 0:
		for _, file := range p.Profiles {
			switch n := writers[file]; {
			case pool || n <= 1:
			case strings.Contains(p.Pattern, "%p"):
				return fmt.Sprintf("%d processes wrote the same file, %s: forked ones keep the %%p of their parent; LLVM_PROFILE_FILE needs %%m",
					n, filepath.Base(file))
			default:
				return fmt.Sprintf("%d processes wrote the same file, %s: LLVM_PROFILE_FILE needs %%p or %%m", n, filepath.Base(file))
			}
			if err := checkProfile(file); err != nil {
				if q := emptiedBy(all, p, file); q != nil && errors.Is(err, profile.ErrEmpty) {
					return fmt.Sprintf("process %d, which has the same file, %s, emptied it when it started, and never wrote: LLVM_PROFILE_FILE needs %%p or %%m",
						q.PID, filepath.Base(file))
				}
				p.Error = console.NewError(err)
				return "the profile cannot be read: " + cli.Message(err)
			}
		}
		if len(p.Instrumented) > 1 && !pool {
			return fmt.Sprintf("%d instrumented images in the process wrote the same file: LLVM_PROFILE_FILE needs %%m", len(p.Instrumented))
		}
		return ""
	case p.replaced:
		return "another program replaced it before it wrote: profiles are written at exit only"
	case p.signal:
		return "a signal ended it, and profiles are written at exit only: let it exit, or use continuous mode (%c)"
	case p.obstacle != "":
		return p.obstacle
	}
	return "it ended without its exit handlers (_exit, quick_exit, vfork), or the program turned writing off"
}

// emptiedBy returns the process whose runtime emptied the file of p when it started; nil if there is none.
func emptiedBy(all []*patient, p *patient, file string) *patient {
	for _, q := range all {
		if q != p && len(q.Instrumented) > 0 && len(q.Profiles) == 0 && slices.Contains(q.targets, file) {
			return q
		}
	}
	return nil
}

// hasPool reports whether a file name pattern has %m, with or without a pool size.
func hasPool(pattern string) bool {
	for i := 0; i+1 < len(pattern); i++ {
		if pattern[i] != '%' {
			continue
		}
		j := i + 1
		for j < len(pattern) && pattern[j] >= '0' && pattern[j] <= '9' {
			j++
		}
		if j < len(pattern) && pattern[j] == 'm' {
			return true
		}
		i++ // "%%" and the like
	}
	return false
}

func printPatients(w io.Writer, env *cli.Env, all []*patient) {
	instrumented, wrote := 0, 0
	processes := make(map[int]struct{})
	var rows [][]string
	for _, p := range all {
		processes[p.PID] = struct{}{}
		if len(p.Instrumented) == 0 {
			continue
		}
		instrumented++
		result := "ok"
		if p.Cause != "" {
			result = p.Cause
		} else {
			wrote++
		}
		profiles := make([]string, len(p.Profiles))
		for i, file := range p.Profiles {
			profiles[i] = filepath.Base(file)
		}
		files := "no profile"
		if len(profiles) > 0 {
			files = strings.Join(profiles, " ")
		}
		rows = append(rows, []string{fmt.Sprint(p.PID), filepath.Base(p.Program), p.End, files, result})
	}
	fmt.Fprintf(w, "%s, %s instrumented, %s with a profile\n", cli.Quantity(len(processes), "process", "processes"),
		cli.Count(instrumented), cli.Count(wrote))
	if len(rows) > 0 {
		p := console.Printer{W: w, Term: env.Terminal(env.Stdout)}
		p.Table([]string{"PID", "Program", "End", "Profile", "Result"}, rows)
	}
	if instrumented == 0 {
		fmt.Fprintf(w, "\nNo process is instrumented: is the program built with -fprofile-generate or the like, and not stripped of its sections?\n")
	}
}
