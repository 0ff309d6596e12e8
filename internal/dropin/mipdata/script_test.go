package mipdata

import (
	"encoding/hex"
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/profuse-pgo/profuse/test/oracle"
)

// debugProgram is made by the script beside it.
var debugProgram = filepath.Join("testdata", "debug", "debug.elf")

var update = flag.Bool("update", false, "write what the scripts' commands print into the scripts")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"llvm-mipdata": func() {
			os.Exit(Main(os.Args[1:], Env{
				Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Prog: "/opt/bin/llvm-mipdata",
			}))
		},
	})
}

// TestScripts runs the tool as users do. Their expectations are derived from
// the description of the original, which cannot be run: it was never released.
//
// The folder of a script has the files of testdata/mip, and $DEBUG is a program
// with debug info. Its own commands are
//
//	unhex FILE...  turns FILE.hex, bytes in hexadecimal with white space
//	               anywhere, into FILE
//	size FILE N    truncates or extends a file to N bytes
func TestScripts(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a hundred processes, which is slow under the race detector")
	}
	fixtures, err := filepath.Glob(filepath.Join(oracle.Root(t), "testdata", "mip", "*.*"))
	if err != nil {
		t.Fatal(err)
	}
	debug, err := filepath.Abs(debugProgram)
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("TERM", "xterm")
			env.Setenv("DEBUG", debug)
			for _, f := range fixtures {
				data, err := os.ReadFile(f)
				if err != nil {
					return err
				}
				if err := os.WriteFile(filepath.Join(env.WorkDir, filepath.Base(f)), data, 0o666); err != nil {
					return err
				}
			}
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"unhex": unhexCommand,
			"size":  sizeCommand,
		},
	})
}

func unhexCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: unhex FILE...")
	}
	for _, name := range args {
		data, err := hex.DecodeString(strings.Join(strings.Fields(ts.ReadFile(name+".hex")), ""))
		ts.Check(err)
		ts.Check(os.WriteFile(ts.MkAbs(name), data, 0o666))
	}
}

func sizeCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: size FILE N")
	}
	n, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	ts.Check(os.Truncate(ts.MkAbs(args[0]), n))
}
