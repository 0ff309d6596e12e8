package command

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// onTerminal runs a command with a terminal as its output and returns what it showed.
func onTerminal(t *testing.T, env string, name string, args ...string) string {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no terminals: ", err)
	}
	defer master.Close()
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Skip("no terminals: ", err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Skip("no terminals: ", err)
	}
	slave, err := os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no terminals: ", err)
	}
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), env)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	slave.Close()
	var shown bytes.Buffer
	if _, err := shown.ReadFrom(master); err != nil && !errors.Is(err, syscall.EIO) { // the end of the last process
		t.Error(err)
	}
	_ = cmd.Wait() // some are to fail
	return strings.ReplaceAll(shown.String(), "\r\n", "\n")
}

// TestTerminal: nothing that a profile or a path contains controls the terminal, and files and pipes get it as it is.
func TestTerminal(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	t.Parallel()
	profuse := asProfuse(t)
	dir := t.TempDir()
	const evil = "evil\x1b]0 title\a\x1b[31m\u009b2J\x7f"
	const shown = `evil\x1b]0 title\a\x1b[31m\u009b2J\x7f`
	in := filepath.Join(dir, "in.proftext")
	missing := filepath.Join(dir, "missing\x1b[2J")
	broken := filepath.Join(dir, "broken\x1b[2J.proftext")
	if err := errors.Join(
		os.WriteFile(in, []byte("main\n1\n1\n5\n\n"+evil+"\n7\n1\n3\n"), 0o666),
		os.WriteFile(broken, []byte("main\nx\n"), 0o666),
	); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string // of what is shown
		pipe string // of what a pipe gets; "" is not compared
	}{
		{[]string{"merge", "-q", "--format", "text", "-o", "-", in}, shown, evil},
		{[]string{"merge", "-q", "--format", "text", "-o", "/dev/stdout", in}, shown, evil},
		{[]string{"export", "-q", "--to", "folded", in}, shown, evil},
		{[]string{"export", "-q", "--to", "csv", in}, shown, evil},
		{[]string{"export", "-q", "--to", "callgrind", "-o", "/dev/tty", in}, "", ""},
		{[]string{"top", in}, shown, ""},
		{[]string{"show", in, "--functions"}, "", ""},
		{[]string{"show", missing}, `missing\x1b[2J`, ""},
		{[]string{"merge", "-o", filepath.Join(dir, "out"), missing}, `missing\x1b[2J`, ""},
		{[]string{"merge", "-o", filepath.Join(dir, "out"), broken}, `broken\x1b[2J`, ""},
		{[]string{"check", broken}, `broken\x1b[2J`, ""},
		{[]string{"x\x1b[2J"}, `x\x1b[2J`, ""},
		{[]string{"merge", "--x\x1b[2J"}, `x\x1b[2J`, ""},
		{[]string{"llvm-profdata", "show", "--all-functions", in}, shown, evil},
		{[]string{"llvm-profdata", "merge", "--text", "-o", "-", in}, shown, evil},
		{[]string{"llvm-profdata", "show", missing}, `missing\x1b[2J`, "missing\x1b[2J"},
		{[]string{"llvm-profdata", "merge", "-o", filepath.Join(dir, "out"), broken}, `broken\x1b[2J`, "broken\x1b[2J"},
		{[]string{"llvm-mipdata", "show", "-p", missing}, `missing\x1b[2J`, ""},
	} {
		for _, term := range []string{"TERM=dumb", "TERM=xterm-256color"} {
			got := onTerminal(t, term, profuse, c.args...)
			if !strings.Contains(got, c.want) {
				t.Errorf("%q shows %q, want %q", c.args, got, c.want)
			}
			own := strings.NewReplacer("\x1b[0m", "", "\x1b[1m", "", "\x1b[31m", "", "\x1b[0;1;31m", "", "\x1b[0;1;35m", "", "\x1b[K", "", "\r", "")
			if strings.Contains(got, "evil\x1b") || strings.Contains(got, "[2J\x1b") {
				t.Errorf("%q shows %q", c.args, got)
			}
			if term != "TERM=dumb" {
				got = own.Replace(got)
			}
			if strings.ContainsAny(got, "\x1b\a\r\x7f\u009b") {
				t.Errorf("%q under %s shows %q", c.args, term, got)
			}
		}
		if c.pipe != "" {
			piped, _ := exec.Command(profuse, c.args...).CombinedOutput()
			if !bytes.Contains(piped, []byte(c.pipe)) {
				t.Errorf("%q writes %q, want %q", c.args, piped, c.pipe)
			}
		}
	}
	// The program's own colours are colours.
	if got := onTerminal(t, "TERM=xterm", profuse, "llvm-profdata", "show", missing); !strings.Contains(got, "\x1b[0;1;31merror: \x1b[0m") {
		t.Errorf("no colours: %q", got)
	}
	if got := onTerminal(t, "TERM=xterm", profuse, "top", in); !strings.Contains(got, "\x1b[1m") {
		t.Errorf("not bold: %q", got)
	}
}
