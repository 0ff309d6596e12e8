#!/usr/bin/env bash
# Formatting and static checks.
#
#   build/scripts/lint.sh                of the main module, for this system
#   build/scripts/lint.sh --everywhere   for the other systems, and of the nested modules
#
# gofumpt, staticcheck and govulncheck have the versions of build/tools/go.mod; ESLint, for the
# scripts of pages, has the version of build/tools/eslint/package.json. If they cannot be
# downloaded, or govulncheck cannot reach its database, the script says so and skips them.
set -euo pipefail
cd "$(dirname "$0")/../.."

# tool NAME: how to start a program of build/tools/go.mod from any folder.
tool() { go -C build/tools tool -n "$1" 2>/dev/null; }

# well_formatted COMMAND: fails if it lists files.
well_formatted() {
  local bad
  bad=$("$@" -l .)
  [[ -z $bad ]] && return
  printf 'not formatted with %s:\n%s\n' "${1##*/}" "$bad" >&2
  return 1
}

# check FOLDER: go vet and staticcheck of the module in a folder.
check() {
  echo "go vet, staticcheck of $1"
  (cd "$1" && CGO_ENABLED=0 go vet ./... && if [[ $staticcheck ]]; then "$staticcheck" ./...; fi)
}

# vulnerabilities FOLDER: govulncheck of the module in a folder. It asks vuln.go.dev, or the
# database in GOVULNDB, for the modules and the Go release.
vulnerabilities() {
  local govulncheck said
  if ! govulncheck=$(tool govulncheck); then
    echo "govulncheck cannot be downloaded: skipped"
  elif said=$(cd "$1" && "$govulncheck" ./... 2>&1); then
    echo "govulncheck of $1"
  elif [[ $said == *"fetching vulnerabilities"* ]]; then
    echo "govulncheck cannot reach the vulnerability database: skipped (${said##*: })"
  else
    printf 'govulncheck:\n%s\n' "$said" >&2
    return 1
  fi
}

staticcheck=$(tool staticcheck) || { staticcheck=; echo "staticcheck cannot be downloaded: skipped"; }

case ${1:-} in
--everywhere)
  # arm stands for 32-bit machines. Nested modules have no code of one system, so vet for this
  # one is enough, and their large libraries are compiled once.
  for target in linux/arm darwin/arm64 windows/amd64; do
    echo "go vet $target"
    CGO_ENABLED=0 GOOS=${target%/*} GOARCH=${target#*/} go vet ./...
  done
  for module in test/browser build/packaging fleet; do check "$module"; done
  vulnerabilities fleet
  exit ;;
'') ;;
*) echo "usage: build/scripts/lint.sh [--everywhere]" >&2; exit 2 ;;
esac

check .
if gofumpt=$(tool gofumpt); then
  echo "gofumpt"
  well_formatted "$gofumpt"
else
  echo "gofumpt cannot be downloaded: gofmt instead"
  well_formatted gofmt
fi

# eslint_ready: whether ESLint is there, after its installation if the lock file is newer.
eslint_ready() {
  command -v npm >/dev/null || return
  [[ build/tools/eslint/node_modules/.package-lock.json -nt build/tools/eslint/package-lock.json ]] && return
  npm --prefix build/tools/eslint ci --engine-strict --ignore-scripts --no-audit --no-fund >/dev/null 2>&1
}

if eslint_ready; then
  echo "eslint"
  build/tools/eslint/node_modules/.bin/eslint -c build/tools/eslint/eslint.config.js --max-warnings 0 \
    profile/report/assets internal/dropin/cov/assets build/site/.vitepress/config.js build/tools/eslint/eslint.config.js
else
  echo "npm is missing, or cannot install ESLint: skipped"
fi

vulnerabilities .
