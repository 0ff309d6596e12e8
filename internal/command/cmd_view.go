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

type viewRun struct {
	reportOptions
	port   int // 0 for any free one
	noOpen bool
}

// run serves until it is interrupted. It listens on the loopback address only, because profiles are not for
// other machines.
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
		return fmt.Errorf("port %d is in use", c.port)
	}
	if err != nil {
		return err
	}
	// Scripts read the address, so there is no other output.
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

// Time limits of connections. Pages of very large profiles take minutes.
const (
	readTimeout  = 10 * time.Second
	writeTimeout = 5 * time.Minute
	idleTimeout  = 2 * time.Minute
	endTimeout   = interrupt.Grace / 2 // for requests that are still answered after an interrupt
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
	stop := context.AfterFunc(ctx, func() {
		defer close(ended)
		grace, cancel := context.WithTimeout(context.Background(), endTimeout)
		defer cancel()
		if server.Shutdown(grace) != nil {
			server.Close()
		}
	})
	err := server.Serve(listener)
	// Serve returns when Shutdown begins, which waits for open requests.
	if !stop() {
		<-ended
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// openBrowser asks the system to open an address, and ignores errors: the address is printed as well.
func openBrowser(env *cli.Env, address string) {
	var argv []string
	switch runtime.GOOS {
	case "darwin":
		argv = []string{"open", address}
	case "windows":
		argv = []string{"rundll32", "url.dll,FileProtocolHandler", address}
	default:
		// Without a display, xdg-open would start a browser in this terminal.
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
