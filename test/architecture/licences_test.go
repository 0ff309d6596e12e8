package architecture_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/test/oracle"
)

// licences are those that a module may have, by words of their text. They allow to pass
// programs on with their notices, which build/scripts/release.sh adds.
var licences = map[string]string{
	"Apache-2.0":   "Apache License Version 2.0",
	"BSD-3-Clause": "Redistributions of source code must retain the above copyright notice",
	"MIT":          "Permission is hereby granted, free of charge",
	"ISC":          "Permission to use, copy, modify, and/or distribute this software",
	"CC0-1.0":      "CC0 1.0 Universal",
}

// others are words of licences that ask for more.
var others = []string{"GENERAL PUBLIC LICENSE", "Mozilla Public License", "Server Side Public License", "Business Source License"}

// TestLicences: each module that the programs or their tests need has a known licence.
func TestLicences(t *testing.T) {
	for _, module := range []string{"", "fleet"} {
		t.Run(module, func(t *testing.T) { testLicences(t, filepath.Join(root, module)) })
	}
}

func testLicences(t *testing.T, module string) {
	const format = `{{with .Module}}{{if not .Main}}{{.Path}}	{{.Dir}}{{end}}{{end}}`
	cmd := exec.Command("go", "list", "-deps", "-test", "-f", format, "./...")
	cmd.Dir = module
	cmd.Stderr = os.Stderr
	out := oracle.Must(cmd.Output())(t)
	seen := make(map[string]bool)
	for line := range strings.Lines(string(out)) {
		path, dir, ok := strings.Cut(strings.TrimSpace(line), "\t")
		if !ok || seen[path] {
			continue
		}
		seen[path] = true
		files, err := filepath.Glob(filepath.Join(dir, "LICEN[SC]E*"))
		if err != nil || len(files) == 0 {
			t.Errorf("%s has no licence (%v)", path, err)
			continue
		}
		known := false
		for _, file := range files {
			data := oracle.ReadFile(t, file)
			text := strings.Join(strings.Fields(string(data)), " ")
			for _, words := range licences {
				known = known || strings.Contains(text, words)
			}
			for _, words := range others {
				if strings.Contains(text, words) {
					t.Errorf("%s: %s has words of another licence: %s", path, filepath.Base(file), words)
				}
			}
		}
		if !known {
			t.Errorf("%s: the licence is not known", path)
		}
	}
	if len(seen) < 5 {
		t.Errorf("%d modules: go list says something else", len(seen))
	}
}
