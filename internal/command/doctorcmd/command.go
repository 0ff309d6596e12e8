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
folder that cannot be written to, another process that overwrote the profile
because LLVM_PROFILE_FILE has neither %p nor %m, or a program that is not built for
continuous mode (%c). A forked process has the counts of its parent up to the fork,
so that a merge counts them twice; doctor says where.

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
	Note  string         `json:"note,omitempty"`  // on a profile that lasts
	Error *console.Error `json:"error,omitempty"` // of a profile that cannot be read

	replaced bool     // by another program (exec)
	signal   bool     // a signal ended the process
	unmapped bool     // its program is not built for continuous mode
	moved    bool     // the process ended in another folder than it began in, where the runtime left an empty file
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

// diagnose sets the causes and notes. well: a patient is instrumented, and no instrumented patient has a cause.
func diagnose(all []*patient) (well bool) {
	instrumented, sick := 0, 0
	for _, p := range all {
		if len(p.Instrumented) == 0 {
			continue
		}
		instrumented++
		if p.Cause = p.findCause(all); p.Cause != "" {
			sick++
		} else if p.Inherited && !hasLetter(p.Pattern, 'c') {
			p.Note = "forked: the counts before the fork count again; __llvm_profile_reset_counters() in the child, or continuous mode (%c), avoids that"
		} else if p.moved {
			p.Note = "it is in " + filepath.Dir(p.Profiles[0]) + ", the folder in which the process ended: LLVM_PROFILE_FILE with an absolute name avoids that"
		}
	}
	return instrumented > 0 && sick == 0
}

// continuousBuild names the options for continuous mode.
const continuousBuild = "-fprofile-continuous of clang 22, -mllvm -runtime-counter-relocation of clang before, or -C llvm-args=-runtime-counter-relocation of rustc"

// findCause returns why the patient has no lasting profile; "" if it has one.
func (p *patient) findCause(all []*patient) string {
	continuous := hasLetter(p.Pattern, 'c')
	switch {
	case len(p.Profiles) > 0:
		for _, file := range p.Profiles {
			if cause := p.findLoss(all, file); cause != "" {
				return cause
			}
		}
		return ""
	case p.replaced && !continuous:
		return "another program replaced it before it wrote: profiles are written at exit only"
	case continuous && p.obstacle == "":
		cause := "LLVM_PROFILE_FILE has %c, for continuous mode, and the program is "
		if p.unmapped {
			cause += "not"
		} else {
			cause += "perhaps not"
		}
		return cause + " built for it (" + continuousBuild + ")"
	case p.signal:
		return "a signal ended it, and profiles are written at exit only: let it exit, or use continuous mode (%c, and build with " + continuousBuild + ")"
	case p.obstacle != "":
		return p.obstacle
	}
	return "it ended without its exit handlers (_exit, quick_exit, vfork), or the program turned writing off"
}

// findLoss returns why the profile that the patient wrote to a file is not there; "" if it is. A runtime empties its
// file at the start of a program, and appends at the end, so that the file has a profile of each image of a process and of
// the processes that it forked. With %m the runtime merges into one profile, and forked processes share the counters that
// continuous mode maps.
func (p *patient) findLoss(all []*patient, file string) string {
	found, err := checkProfile(file)
	if q := emptiedBy(all, p, file); q != nil && errors.Is(err, profile.ErrEmpty) {
		return fmt.Sprintf("process %d, which has the same file, %s, emptied it when it started, and never wrote: LLVM_PROFILE_FILE needs %%p or %%m",
			q.PID, filepath.Base(file))
	}
	processes, profiles := 0, 0
	for _, q := range all {
		if slices.Contains(q.Profiles, file) && !(q.Inherited && hasLetter(q.Pattern, 'c')) {
			processes++
			profiles += len(q.Instrumented)
		}
	}
	pool := hasLetter(p.Pattern, 'm')
	switch {
	case pool || err == nil && found >= profiles:
	case processes > 1 && hasLetter(p.Pattern, 'p'):
		return fmt.Sprintf("%d processes wrote the same file, %s: forked ones keep the %%p of their parent; LLVM_PROFILE_FILE needs %%m",
			processes, filepath.Base(file))
	case processes > 1:
		return fmt.Sprintf("%d processes wrote the same file, %s: LLVM_PROFILE_FILE needs %%p or %%m", processes, filepath.Base(file))
	case profiles > 1:
		return fmt.Sprintf("%d instrumented images in the process wrote the same file: LLVM_PROFILE_FILE needs %%m", profiles)
	}
	if err != nil {
		p.Error = console.NewError(err)
		return "the profile cannot be read: " + cli.Message(err)
	}
	return ""
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
			if p.Note != "" {
				result += "; " + p.Note
			}
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
