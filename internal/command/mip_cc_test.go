package command

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/profuse-pgo/profuse/test/oracle"
)

// oracleCondition holds the conditions of scripts: [slow] and [cover], and [oracle:TOOL], whether a compiler or the
// like is there. As with [oracle.Tool], a tool that has to be and is not fails the test.
func oracleCondition(condition string) (bool, error) {
	switch condition {
	case "slow":
		return !oracle.Everything(), nil
	case "cover": // a program that counts coverage writes files of its own
		return testing.CoverMode() != "", nil
	}
	tool, ok := strings.CutPrefix(condition, "oracle:")
	if !ok {
		return false, errors.New("unknown condition " + condition)
	}
	_, err := exec.LookPath(tool)
	if err != nil && os.Getenv(oracle.RequireEnv) == "1" {
		return false, errors.New(oracle.Missing + tool)
	}
	return err == nil, nil
}

// compilerEnv sets what compilers need in scripts, which have no home folder.
func compilerEnv(env *testscript.Env) {
	env.Setenv("PROFUSE_CACHE", filepath.Join(env.WorkDir, ".cache"))
	if home, err := os.UserHomeDir(); err == nil && os.Getenv("RUSTUP_HOME") == "" {
		env.Setenv("RUSTUP_HOME", filepath.Join(home, ".rustup"))
	}
}
