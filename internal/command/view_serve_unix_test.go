//go:build unix

package command

import (
	"bufio"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// TestViewSignals: either signal ends the process, which is no failure, also while a browser keeps its connection open.
func TestViewSignals(t *testing.T) {
	t.Parallel()
	profuse := asProfuse(t)
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		cmd := exec.CommandContext(t.Context(), profuse, "view", "--mangled", filepath.Join(oracle.Root(t), "testdata", "iprof", "app.iprof"))
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		address, err := bufio.NewReader(out).ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		response, err := http.Get(strings.TrimSpace(address))
		if err != nil || response.StatusCode != http.StatusOK {
			t.Errorf("%v: %v", response, err)
		}
		if err := cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != cli.ExitOK {
			t.Errorf("%v: %v", signal, cmd.ProcessState)
		}
		response.Body.Close()
	}
}
