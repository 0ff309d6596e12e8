#!/usr/bin/env bash
# Builds the release archives of a tag or commit into dist/, with their checksums.
#
#   scripts/release.sh [COMMIT]
#
# COMMIT defaults to HEAD; nothing may then be uncommitted. The Go tool derives
# the version, in the names and in the output of "profuse version", from the
# commit: its tag, or v0.0.0-TIME-HASH.
#
# Everything is built twice, in two clones in different folders, the second time
# with an empty build cache, and the bytes must be equal. The binaries depend on
# the commit and the Go release alone, the archives also on the releases of tar,
# gzip and zip. Needs GNU tar and Info-ZIP's zip, and ten to twenty minutes of
# CPU time. TARGETS="linux/amd64 windows/amd64" in the environment limits the
# targets.
set -euo pipefail
cd "$(dirname "$0")/.."
fail() { echo "release.sh: $*" >&2; exit 1; }

read -ra targets <<<"${TARGETS:-linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64}"

(($# <= 1)) || fail "usage: scripts/release.sh [COMMIT]"
(($#)) || [[ -z $(git status --porcelain) ]] || fail "there are changes that are not committed: commit them, or name a commit"
commit=$(git rev-parse --verify --quiet "${1:-HEAD}^{commit}") || fail "$1: no such commit"
tar --version 2>/dev/null | grep -q GNU || fail "tar is not GNU tar"
command -v zip >/dev/null || fail "zip is missing"

# Other settings that the bytes could depend on.
export LC_ALL=C TZ=UTC CGO_ENABLED=0 GOWORK=off GOFLAGS=-mod=readonly GOAMD64=v1 GOARM64=v8.0
unset GOEXPERIMENT GOFIPS140 GODEBUG ZIPOPT
umask 022

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The programs, each with the folder of its module.
declare -A modules=([profuse]=. [profuse-fleet]=fleet)

# build FOLDER: clones the commit into FOLDER/source and leaves binaries in
# FOLDER/PROGRAM-TARGET and archives in FOLDER/dist.
build() {
  local folder=$1 target program version= out time
  git clone --quiet --no-checkout . "$folder/source"
  git -C "$folder/source" checkout --quiet --detach "$commit"
  time=$(git -C "$folder/source" show --no-patch --format=@%ct)
  mkdir "$folder/dist"
  for target in "${targets[@]}"; do
    for program in profuse profuse-fleet; do
      out=$program-${target/\//-}
      mkdir "$folder/$out"
      GOOS=${target%/*} GOARCH=${target#*/} \
        go build -C "$folder/source/${modules[$program]}" -trimpath -buildvcs=true -o "$folder/$out/" "./cmd/$program"
      # The archives of both have the version of the first module: the tags of the other
      # one begin with its folder.
      [[ $program != profuse ]] || version=$(go version -m "$folder/$out"/profuse* | awk '$1 == "mod" { print $3 }')
      [[ $version == v* && $version != *+dirty ]] || fail "the Go tool took the version of $commit for \"$version\""
      pack "$folder" "$program-${version#v}-${target/\//-}" "$out" "$time" "${modules[$program]}"
    done
  done
  (cd "$folder/dist" && sha256sum profuse-* >SHA256SUMS)
}

# pack FOLDER NAME OUT TIME MODULE: makes the archive NAME of the binary in OUT and
# what goes with it.
pack() (
  cd "$1"
  mkdir "$2"
  cp "$3"/profuse* source/{LICENSE,README.md,CHANGELOG.md} "$2"
  licences "source/$5" "$3"/profuse* >"$2/THIRD-PARTY-LICENSES"
  find "$2" -exec touch -d "$4" {} +
  case $3 in
  *-windows-*) find "$2" -type f | sort | zip -q -X -9 -@ "dist/$2.zip" ;;
  *) tar --format=ustar --sort=name --owner=0 --group=0 --numeric-owner -cf - "$2" | gzip -9n >"dist/$2.tar.gz" ;;
  esac
)

# licences SOURCE BINARY prints the licences of Go and of the modules in a
# binary, which must accompany it.
licences() {
  local module folder
  printf '== Go\n\n'
  cat "$(go env GOROOT)/LICENSE"
  go version -m "$2" | awk '$1 == "dep" { print $2 }' | while read -r module; do
    folder=$(go list -C "$1" -m -f '{{.Dir}}' "$module")
    printf '\n== %s\n\n' "$module"
    cat "$folder"/LICENSE*
  done
}

echo "building ${commit:0:12} with $(go env GOVERSION)"
mkdir "$work/1" "$work/second-folder"
build "$work/1"
echo "building it again"
GOCACHE=$work/cache build "$work/second-folder"
for target in "${targets[@]}"; do
  for program in "${!modules[@]}"; do
    out=$program-${target/\//-}
    diff -r "$work/1/$out" "$work/second-folder/$out" || fail "$out: two builds differ"
  done
done
diff -r "$work/1/dist" "$work/second-folder/dist" || fail "the binaries agree, their archives differ"

rm -rf dist
cp -R "$work/1/dist" dist
cat dist/SHA256SUMS
echo "two builds agree; the archives are in dist/"
