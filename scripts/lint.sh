#!/usr/bin/env bash
# Formatting and static checks: go vet for the systems that profuse supports
# (arm stands for 32-bit machines), and gofumpt, staticcheck and govulncheck in the
# versions of tools/go.mod, and ESLint for scripts of pages in the version of
# tools/eslint/package.json. If those cannot be downloaded, or govulncheck cannot reach
# its database, the script says so and skips them.
set -euo pipefail
cd "$(dirname "$0")/.."

# tool NAME: how to start a program of tools/go.mod from any folder.
tool() { go -C tools tool -n "$1" 2>/dev/null; }

# well_formatted COMMAND: fails if it lists files.
well_formatted() {
  local bad
  bad=$("$@" -l .)
  [[ -z $bad ]] && return
  printf 'not formatted with %s:\n%s\n' "${1##*/}" "$bad" >&2
  return 1
}

for target in linux/amd64 linux/arm darwin/arm64 windows/amd64; do
  echo "go vet $target"
  CGO_ENABLED=0 GOOS=${target%/*} GOARCH=${target#*/} go vet ./...
done
echo "go vet browsertest, packaging, fleet"
for module in browsertest packaging; do
  (cd $module && CGO_ENABLED=0 go vet ./...)
done
for system in linux darwin windows; do
  (cd fleet && CGO_ENABLED=0 GOOS=$system go vet ./...)
done

if gofumpt=$(tool gofumpt) && staticcheck=$(tool staticcheck); then
  echo "gofumpt, staticcheck"
  well_formatted "$gofumpt"
  "$staticcheck" ./...
  (cd browsertest && "$staticcheck" ./...)
  (cd packaging && "$staticcheck" ./...)
  (cd fleet && "$staticcheck" ./...)
else
  echo "gofumpt and staticcheck cannot be downloaded: skipped"
  well_formatted gofmt
fi

# eslint_ready: whether ESLint is there, after its installation if the lock file is newer.
eslint_ready() {
  command -v npm >/dev/null || return
  [[ tools/eslint/node_modules/.package-lock.json -nt tools/eslint/package-lock.json ]] && return
  npm --prefix tools/eslint ci --engine-strict --ignore-scripts --no-audit --no-fund >/dev/null 2>&1
}

if eslint_ready; then
  echo "eslint"
  tools/eslint/node_modules/.bin/eslint -c tools/eslint/eslint.config.js --max-warnings 0 \
    report/assets internal/command/llvmcov/assets site/.vitepress/config.js tools/eslint/eslint.config.js
else
  echo "npm is missing, or cannot install ESLint: skipped"
fi

# govulncheck asks vuln.go.dev, or the database in GOVULNDB, for the modules and the
# Go release.
if ! govulncheck=$(tool govulncheck); then
  echo "govulncheck cannot be downloaded: skipped"
elif said=$("$govulncheck" ./... 2>&1 && cd fleet && "$govulncheck" ./... 2>&1); then
  echo "govulncheck"
elif [[ $said == *"fetching vulnerabilities"* ]]; then
  echo "govulncheck cannot reach the vulnerability database: skipped (${said##*: })"
else
  printf 'govulncheck:\n%s\n' "$said" >&2
  exit 1
fi
