#!/usr/bin/env bash
# Builds the release of a tag or commit into dist/: archives, packages for Linux, bills of
# materials, a Homebrew formula, and the checksums of all.
#
#   build/scripts/release.sh [COMMIT]
#
# COMMIT defaults to HEAD; nothing may then be uncommitted. The names have the version
# that "profuse version" prints: X.Y.Z if the commit has the tag vX.Y.Z, otherwise
# X.Y.Z+COMMIT.
#
# Everything is built twice, in two clones in different folders, the second time
# with an empty build cache, and the bytes must be equal. The binaries depend on
# the commit and the Go release alone, the archives also on the releases of tar,
# gzip and zip. Needs what build/scripts/package.sh needs, and about twenty minutes of
# CPU time. TARGETS="linux/amd64 windows/amd64" in the environment limits the
# targets.
set -euo pipefail
cd "$(dirname "$0")/../.."
fail() { echo "release.sh: $*" >&2; exit 1; }

read -ra targets <<<"${TARGETS:-linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64}"

(($# <= 1)) || fail "usage: build/scripts/release.sh [COMMIT]"
(($#)) || [[ -z $(git status --porcelain) ]] || fail "there are changes that are not committed: commit them, or name a commit"
commit=$(git rev-parse --verify --quiet "${1:-HEAD}^{commit}") || fail "$1: no such commit"
tag=$(git tag --points-at "$commit" 'v*')
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
# FOLDER/PROGRAM-TARGET and what is released in FOLDER/dist.
build() {
  local folder=$1 target program version= out time
  git clone --quiet --no-checkout . "$folder/source"
  git -C "$folder/source" checkout --quiet --detach "$commit"
  time=$(git -C "$folder/source" show --no-patch --format=%ct)
  mkdir "$folder/dist"
  for program in profuse profuse-fleet; do
    compile "$folder" "$program" "$(go env GOHOSTOS)/$(go env GOHOSTARCH)" native-$program
    # The archives of both have the version of the first module: the tags of the other
    # one begin with its folder.
    [[ $program != profuse ]] || version=$("$folder/native-$program/profuse" version | awk 'NR == 1 { sub(",", "", $2); print $2 }')
    [[ ${tag:-v$version} == "v$version" && $version != *unknown && $version != *dirty ]] ||
      fail "the version of $commit, ${tag:-which has no tag}, is \"$version\""
    for target in "${targets[@]}"; do
      out=$program-${target/\//-}
      compile "$folder" "$program" "$target" "$out"
      (cd "$folder/source" && build/scripts/package.sh "$program" "$target" "$version" "$time" \
        "$folder/$out"/profuse* "$folder/native-$program/$program" "$folder/dist" >/dev/null)
    done
  done
  formula "$folder" "$version"
  (cd "$folder/dist" && sha256sum profuse* >SHA256SUMS)
}

# compile FOLDER PROGRAM TARGET OUT: builds a program, without the symbols that only
# debuggers need.
compile() {
  mkdir "$1/$4"
  GOOS=${3%/*} GOARCH=${3#*/} go build -C "$1/source/${modules[$2]}" -trimpath -buildvcs=true -ldflags="-s -w" -o "$1/$4/" "./cmd/$2"
}

# formula FOLDER VERSION: writes the Homebrew formula, if all its targets were built.
formula() {
  local target sum
  cp "$1/source/build/packaging/profuse.rb" "$1/profuse.rb"
  sed -i "s/@VERSION@/$2/g" "$1/profuse.rb"
  for target in darwin-arm64 darwin-amd64 linux-arm64 linux-amd64; do
    [[ -e $1/dist/profuse-$2-$target.tar.gz ]] || return 0
    sum=$(sha256sum <"$1/dist/profuse-$2-$target.tar.gz")
    sed -i "s/@SHA256-$target@/${sum%% *}/" "$1/profuse.rb"
  done
  cp "$1/profuse.rb" "$1/dist/profuse.rb"
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
