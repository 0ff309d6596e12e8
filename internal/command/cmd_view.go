package command

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/command/ui/interrupt"
	"github.com/profuse-pgo/profuse/profile/report"
)

// viewCommand is "profuse view", the page of "profuse report" over HTTP.
func viewCommand() *cli.Command {
	return &cli.Command{
		Name:  "view",
		Args:  "[OPTION]... FILE...",
		Short: "show profiles in a browser",
		Long: `Serves the page that "profuse report" writes, opens it in the browser and prints its
address. view makes each part of the page when the browser asks for it, so that
large profiles open quickly. An interrupt (SIGINT, SIGTERM) ends it.

Only this machine can reach the address, but every user of the machine can.

The exit code is 0 after an interrupt, 1 if the profiles could not be read or the
port is in use, and 2 if the command line is wrong.`,
		Profiles: true,
		Setup: func(f *cli.Flags) cli.Action {
			c := &viewRun{}
			f.IntVar(&c.port, "port", 0, "`N` port to serve on (default a free one)")
			f.BoolVar(&c.noOpen, "no-open", false, "do not open the browser, which is only opened from a terminal")
			c.declare(f)
			return c.run
		},
	}
}

// viewRun is one run of "profuse view". It shares its options with reportRun.
type viewRun struct {
	reportOptions
	port   int // 0 for any free one
	noOpen bool
}

// run serves until it is interrupted. It listens on the loopback address alone, so that other
// machines cannot read the profiles.
func (c *viewRun) run(ctx context.Context, env *cli.Env, args []string) error {
	if c.port < 0 || c.port > 65535 {
		return cli.Usagef("option --port takes a number from 0 to 65535")
	}
	sources, err := c.open(env, args)
	if err != nil {
		return err
	}
	handler, err := report.Handler(sources, c.opt)
	if err != nil {
		return err
	}
	// Port 0 lets the system choose a free one.
	listener, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(c.port)))
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("port %d is in use", c.port)
	}
	if err != nil {
		return err
	}
	// The address is the only output, so that a script can read it.
	address := "http://" + listener.Addr().String() + "/"
	if _, err := fmt.Fprintln(env.Stdout, address); err != nil {
		listener.Close()
		return err
	}
	// A script or a remote shell has no use for a browser here.
	if env.Terminal(env.Stdout).Interactive && !c.noOpen {
		openBrowser(env, address)
	}
	return serve(ctx, listener, handler)
}

// The time limits of connections. Pages of very large profiles take long to make.
const (
	readTimeout  = 10 * time.Second
	writeTimeout = 5 * time.Minute
	idleTimeout  = 2 * time.Minute
	endTimeout   = interrupt.Grace / 2 // for requests that are answered at an interrupt
)

// serve answers requests until ctx ends, which is no error.
func serve(ctx context.Context, listener net.Listener, handler http.Handler) error {
	// The limits are against clients that hold connections without reading or writing.
	server := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: readTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout, IdleTimeout: idleTimeout,
		MaxHeaderBytes: 64 << 10,
	}
	ended := make(chan struct{})
	// Pages that a browser has asked for may still be answered, within the grace that an interrupt
	// leaves.
	stop := context.AfterFunc(ctx, func() {
		defer close(ended)
		grace, cancel := context.WithTimeout(context.Background(), endTimeout)
		defer cancel()
		if server.Shutdown(grace) != nil {
			server.Close()
		}
	})
	err := server.Serve(listener)
	// Serve has returned as soon as Shutdown began, while requests may still be answered.
	if !stop() {
		<-ended
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// openBrowser asks the system to open an address. Failure does not matter, because the address is
// printed too. It does not wait for the browser.
func openBrowser(env *cli.Env, address string) {
	var argv []string
	switch runtime.GOOS {
	case "darwin":
		argv = []string{"open", address}
	case "windows":
		argv = []string{"rundll32", "url.dll,FileProtocolHandler", address}
	default:
		// Without a display it would start a browser in this terminal.
		if env.Getenv("DISPLAY") == "" && env.Getenv("WAYLAND_DISPLAY") == "" {
			return
		}
		argv = []string{"xdg-open", address}
	}
	// Arguments are passed without a shell.
	cmd := exec.Command(argv[0], argv[1:]...)
	if cmd.Start() != nil {
		return
	}
	go func() { _ = cmd.Wait() }()
}
