#!/usr/bin/env bash
# Formatting and static checks: gofmt, go vet for the systems profuse is made
# for (arm stands for 32-bit machines), staticcheck where it is installed.
set -euo pipefail
cd "$(dirname "$0")/.."

unformatted=$(gofmt -l .)
if [[ -n $unformatted ]]; then
  printf 'not formatted with gofmt:\n%s\n' "$unformatted" >&2
  exit 1
fi
for target in linux/amd64 linux/arm darwin/arm64 windows/amd64; do
  echo "go vet $target"
  CGO_ENABLED=0 GOOS=${target%/*} GOARCH=${target#*/} go vet ./...
done
echo "go vet browsertest"
(cd browsertest && CGO_ENABLED=0 go vet ./...)
if command -v staticcheck >/dev/null; then
  staticcheck ./...
  (cd browsertest && staticcheck ./...)
else
  echo "staticcheck is not installed: skipped"
fi
