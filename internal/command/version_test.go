package command

import (
	"regexp"
	"runtime/debug"
	"testing"

	"github.com/profuse-pgo/profuse/test/oracle"
)

// TestRelease: the program has the version of the newest changes.
func TestRelease(t *testing.T) {
	changes := oracle.ReadFile(t, "../../CHANGELOG.md")
	heading := regexp.MustCompile(`(?m)^## (\S+)`).FindSubmatch(changes)
	if heading == nil || string(heading[1]) != release {
		t.Errorf("CHANGELOG.md begins with %q, profuse version with %q", heading, release)
	}
}

func TestVersionOf(t *testing.T) {
	const commit = "0123456789abcdef0123456789abcdef01234567"
	for _, test := range []struct {
		what, main, revision, modified, want string
	}{
		{"go install of a release", "v" + release, "", "", release},
		{"a tag that is checked out", "v" + release, commit, "false", release},
		{"a tag with changes", "v" + release + "+dirty", commit, "true", release + "+0123456789ab.dirty"},
		{"a commit before the first tag", "v0.0.0-20261126013000-0123456789ab", commit, "false", release + "+0123456789ab"},
		{"a commit after a tag", "v1.0.0-rc.0.0.20261126013000-0123456789ab+dirty", commit, "true", release + "+0123456789ab.dirty"},
		{"go install of a commit", "v0.0.0-20261126013000-0123456789ab", "", "", release + "+0123456789ab"},
		{"old Go", "(devel)", commit, "false", release + "+0123456789ab"},
		{"no repository", "(devel)", "", "", release + "+unknown"},
		{"no module", "", "", "", release + "+unknown"},
	} {
		t.Run(test.what, func(t *testing.T) {
			info := &debug.BuildInfo{Main: debug.Module{Version: test.main}}
			for key, value := range map[string]string{"vcs.revision": test.revision, "vcs.modified": test.modified} {
				if value != "" {
					info.Settings = append(info.Settings, debug.BuildSetting{Key: key, Value: value})
				}
			}
			if got := versionOf(info); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}
