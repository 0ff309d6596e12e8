package main

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

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/cli"
	"github.com/profuse-pgo/profuse/report"
)

func viewCommand() *cli.Command {
	return &cli.Command{
		Name:  "view",
		Args:  "[OPTION]... FILE...",
		Short: "look at profiles in a browser",
		Long: `Shows in the browser what "profuse report" writes to a file, of profiles of
whatever format, and prints the address. Parts of the page are made when they
are looked at, so that large profiles are soon there. An interrupt (SIGINT,
SIGTERM) ends it.

The address is one of this machine alone. Whoever has an account on the machine
can see the page meanwhile.

The exit code is 0 after an interrupt, 1 if the profiles could not be read or
the port is taken, 2 if the command line is wrong.`,
		Setup: func(f *cli.Flags) cli.Action {
			c := &viewRun{}
			f.IntVar(&c.port, "port", 0, "`N` port to serve at (default any that is free)")
			f.BoolVar(&c.noOpen, "no-open", false, "do not open the browser; it is opened only if the output is a terminal")
			c.declare(f)
			return c.run
		},
	}
}

// viewRun is one run of "profuse view".
type viewRun struct {
	reportOptions
	port   int
	noOpen bool
}

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
	listener, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(c.port)))
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("port %d is taken", c.port)
	}
	if err != nil {
		return err
	}
	address := "http://" + listener.Addr().String() + "/"
	if _, err := fmt.Fprintln(env.Stdout, address); err != nil {
		listener.Close()
		return err
	}
	if env.Terminal(env.Stdout).Interactive && !c.noOpen {
		openBrowser(env, address)
	}
	return serve(ctx, listener, handler)
}

// The times that a connection may take for its parts. Pages of very large
// profiles take a while to make.
const (
	readTimeout  = 10 * time.Second
	writeTimeout = 5 * time.Minute
	idleTimeout  = 2 * time.Minute
	endTimeout   = time.Second // for requests that are answered at an interrupt
)

// serve answers requests until ctx ends, which is no error.
func serve(ctx context.Context, listener net.Listener, handler http.Handler) error {
	server := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: readTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout, IdleTimeout: idleTimeout,
		MaxHeaderBytes: 64 << 10,
	}
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(ended)
		grace, cancel := context.WithTimeout(context.Background(), endTimeout)
		defer cancel()
		if server.Shutdown(grace) != nil {
			server.Close()
		}
	})
	err := server.Serve(listener)
	if !stop() {
		<-ended
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// openBrowser asks the system to show an address. Where it cannot, the address
// that was printed does.
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
	cmd := exec.Command(argv[0], argv[1:]...)
	if cmd.Start() != nil {
		return
	}
	go func() { _ = cmd.Wait() }()
}
