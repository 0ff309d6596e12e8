#!/usr/bin/env bash
# Prints how much of each package is run by all tests together: its own, those
# of its users, and the scripts that start profuse. Each line has the share of
# statements that ran, the number of statements that never ran, and the package.
# "make cover" runs slow tests, too.
#
#   build/scripts/coverage.sh [PROFILE]
#
# PROFILE is kept, for "go tool cover -html PROFILE". Processes that are killed, or that
# another program replaces, do not count.
set -euo pipefail
cd "$(dirname "$0")/../.."

profile=${1:-}
if [[ -z $profile ]]; then
  profile=$(mktemp)
  trap 'rm -f "$profile"' EXIT
fi

# Programs for the bench and what only tests use are left out.
packages=$(go list ./... | grep -v -e /bench/ -e /test/)

# The tests' own processes write into a folder that the Go tool names to them;
# what they ran is in the profile.
failed=0
go test -timeout 25m -coverpkg="${packages//$'\n'/,}" -coverprofile="$profile" ./... | sed 's/\tcoverage: .*//' >&2 || failed=1

# The profile has each block once per test binary: FILE:PLACE STATEMENTS COUNT.
awk -v module="$(go list -m)/" '
  /^mode:/ { next }
  { statements[$1] = $2 }
  $3 > 0 { run[$1] = 1 }
  END {
    for (block in statements) {
      package = block
      sub(/\/[^\/]*$/, "", package)
      package = substr(package, length(module) + 1)
      all[package] += statements[block]; total += statements[block]
      if (block in run) { covered[package] += statements[block]; sum += statements[block] }
    }
    for (package in all)
      printf "%5.1f%% %6d %s\n", 100 * covered[package] / all[package], all[package] - covered[package], package | "sort -k3"
    close("sort -k3")
    printf "%5.1f%% %6d of %d\n", 100 * sum / total, total - sum, total
  }' "$profile"
exit $failed
