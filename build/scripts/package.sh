#!/usr/bin/env bash
# Packs one program for one target: an archive, and for Linux also a .deb and an .rpm, each
# with manual pages and completions, and a bill of materials (CycloneDX). The bytes depend on
# the arguments alone.
#
#   build/scripts/package.sh PROGRAM TARGET VERSION TIME BINARY NATIVE DIST
#
# PROGRAM is profuse or profuse-fleet, TARGET such as linux/amd64, VERSION has no v, TIME is
# that of all files, in seconds since 1970, BINARY the program for TARGET, NATIVE the same for
# this machine, DIST the folder of the results. It is run in the sources of the program. Needs
# GNU tar, gzip and Info-ZIP's zip.
set -euo pipefail
(($# == 7)) || { sed -n '2,/^set/p' "$0" | sed 's/^# \?//;$d'; exit 2; }
program=$1 target=$2 version=$3 time=$4 binary=$5 native=$6 dist=$7
module=. && [[ $program != profuse-fleet ]] || module=fleet
name=$program-$version-${target/\//-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
umask 022
export LC_ALL=C TZ=UTC

# licences prints the licences of Go and of the modules in the binary, which must
# accompany it.
licences() {
  local module_path folder
  printf '== Go\n\n'
  cat "$(go env GOROOT)/LICENSE"
  go version -m "$binary" | awk '$1 == "dep" { print $2 }' | while read -r module_path; do
    folder=$(go list -C "$module" -m -f '{{.Dir}}' "$module_path")
    printf '\n== %s\n\n' "$module_path"
    cat "$folder"/LICENSE*
  done
}

tree=$work/$name
mkdir -p "$tree/completion" "$dist"
cp "$binary" LICENSE README.md CHANGELOG.md "$tree"
licences >"$tree/THIRD-PARTY-LICENSES"
for shell in bash zsh fish powershell; do "$native" completion "$shell" >"$tree/completion/$shell"; done
if [[ $target != windows/* ]]; then
  "$native" manual -o "$tree/man"
  gzip -9n "$tree"/man/*
fi
find "$tree" -exec touch -d "@$time" {} +

(
  cd "$work"
  case $target in
  windows/*) find "$name" -type f | sort | zip -q -X -9 -@ "$name.zip" ;;
  *) tar --format=ustar --sort=name --owner=0 --group=0 --numeric-owner -cf - "$name" | gzip -9n >"$name.tar.gz" ;;
  esac
)
cp "$work/$name".{zip,tar.gz} "$dist" 2>/dev/null || [[ -n $(ls "$dist/$name".*) ]]

tool() { GOFLAGS="-mod=readonly -trimpath" GOOS= GOARCH= go tool -C "$here/build/packaging" "$@"; }
here=$PWD
tool cyclonedx-gomod bin -json -std -noserial -notimestamp -version "$version" -output "$work/bom.json" "$(realpath "$binary")"
cp "$work/bom.json" "$dist/$name.cdx.json"

if [[ $target == linux/* ]]; then
  export NAME=$program ARCH=${target#*/} VERSION=$version TREE=$tree SOURCE_DATE_EPOCH=$time
  for kind in deb rpm; do
    tool nfpm package --config "$here/build/packaging/nfpm.yaml" --packager "$kind" --target "$(realpath "$dist")/$name.$kind"
  done
fi
