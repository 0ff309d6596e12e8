package command

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// TestView serves a profile, asks for its pages, and interrupts.
func TestView(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	out, to := io.Pipe()
	var diag bytes.Buffer
	env := &cli.Env{Stdin: strings.NewReader(""), Stdout: to, Stderr: &diag, Getenv: func(string) string { return "" }}
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, env, []string{"profuse", "view", filepath.Join(oracle.Root(t), "testdata", "iprof", "app.iprof")})
		to.Close()
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("no address: %v, %s", err, &diag)
	}
	address := strings.TrimSuffix(line, "\n")
	if !strings.HasPrefix(address, "http://127.0.0.1:") {
		t.Fatalf("address %q", address)
	}
	client := &http.Client{Timeout: time.Minute}
	for path, want := range map[string]string{"": "app.iprof", "page/0/overview": `"title":"Overview"`, "report.html": "</html>"} {
		response, err := client.Get(address + path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil || response.StatusCode != http.StatusOK || !strings.Contains(string(body), want) {
			t.Errorf("%s: %s, %v, without %s", path, response.Status, err, want)
		}
	}
	interrupt()
	if code := <-ended; code != cli.ExitOK {
		t.Errorf("interrupted: exit code %d, %s", code, &diag)
	}
	if diag.Len() > 0 {
		t.Errorf("standard error: %s", &diag)
	}
	if _, err := client.Get(address); err == nil {
		t.Error("it answers after its end")
	}
}

func TestViewPortTaken(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	var out, diag bytes.Buffer
	env := &cli.Env{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &diag, Getenv: func(string) string { return "" }}
	code := run(t.Context(), env, []string{"profuse", "view", "--port", port, filepath.Join(oracle.Root(t), "testdata", "iprof", "app.iprof")})
	if code != cli.ExitFailure || out.Len() > 0 || !strings.Contains(diag.String(), port) {
		t.Errorf("exit code %d, output %q, %s", code, &out, &diag)
	}
}
