#!/usr/bin/env bash
# Makes the real profiles under testdata/irpgo from the sources in
# testdata/irpgo/src, with the real compilers: clang 14, 16, 19, 22 and rustc.
#
#   scripts/make-irpgo-testdata.sh [OUTPUT]
#
# OUTPUT (default testdata/irpgo) gets one folder per producer, fixtures.json
# (which tool reads which file, found by running each tool on each file) and
# README.md (the exact commands, recorded while they run). Hand-written text
# profiles in testdata/irpgo/text are described but never changed.
#
# Everything is built in a temporary folder under relative paths, so no machine
# path enters a name, and run without address randomisation, so two runs on one
# machine give the same bytes.
set -euo pipefail
export LC_ALL=C

root=$(cd "$(dirname "$0")/.." && pwd)
out=${1:-$root/testdata/irpgo}
mkdir -p "$out"
out=$(cd "$out" && pwd)

clangs=(14 16 19 22)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r "$root/testdata/irpgo/src" "$work/src"
cd "$work"

die() { echo "make-irpgo-testdata: $*" >&2; exit 1; }

for v in "${clangs[@]}"; do
  for tool in clang llvm-profdata; do
    command -v "$tool-$v" >/dev/null || die "$tool-$v is missing: see scripts/install-oracles.sh"
  done
done
command -v rustc >/dev/null || die "rustc is missing"
rust=rustc$(rustc --version | sed -E 's/^rustc ([0-9]+)\.([0-9]+).*/\1\2/')

if ! setarch -R true 2>/dev/null; then
  echo "make-irpgo-testdata: setarch -R is refused here: addresses in the raw files will vary" >&2
  setarch() { shift; "$@"; }
  export -f setarch
fi

# --- recording ---------------------------------------------------------------

manifest=$work/manifest # path TAB command TAB command ...
: >"$manifest"
declare -A about        # variant -> what it exercises
declare -a variants     # in order of description
commands=

# describe VARIANT TEXT...: the README line of a variant.
describe() { about[$1]=$2; variants+=("$1"); }

# cmd TEXT: runs a shell command in the work folder and records it for the next
# keep. Program output is dropped; a failure stops the script.
cmd() {
  commands+=$'\t'$1
  bash -c "set -euo pipefail; $1" >"$work/log" 2>&1 ||
    { cat "$work/log" >&2; die "failed: $1"; }
}

# forget: the next commands start a new recipe.
forget() { commands=; }

# keep FILE FIXTURE: copies a file out as a fixture; its recipe is every command
# since the last forget.
keep() {
  mkdir -p "$out/$(dirname "$2")"
  cp "$1" "$out/$2"
  printf '%s%s\n' "$2" "$commands" >>"$manifest"
  printf '%8d %s\n' "$(stat -c %s "$out/$2")" "$2"
}

store="src/store.c src/main.c src/report.cpp -lstdc++"
noid="-Wl,--build-id=none"
run() { echo "LLVM_PROFILE_FILE=$1.profraw setarch -R ./$2"; }

# store_variant V NAME FLAGS: the store program, one run.
store_variant() {
  forget
  cmd "clang-$1 -O2 $3 $store $noid -o store"
  cmd "$(run "$2" store) 400 7"
  keep "$2.profraw" "clang$1/$2.profraw"
}

# --- raw, clang --------------------------------------------------------------

describe ir "IR instrumentation: C, C++, file-local names, exceptions, indirect call and memop values, no build id"
make_ir() { store_variant "$1" ir "-fprofile-generate"; }

describe ir-run "the same program with a build id, three inputs: same shape, different counts and value lists (merging, binary ids)"
make_ir_run() {
  local n inputs=(x "400 7" "90 3" "2500 11")
  for n in 1 2 3; do
    forget
    cmd "clang-$1 -O2 -fprofile-generate $store -Wl,--build-id=sha1 -o store-id"
    cmd "$(run "ir-run$n" store-id) ${inputs[n]}"
    keep "ir-run$n.profraw" "clang$1/ir-run$n.profraw"
  done
}

describe fe "front-end instrumentation; no flag in the version word, names always file:name"
make_fe() { store_variant "$1" fe "-fprofile-instr-generate"; }

describe coverage "front-end instrumentation with coverage mapping"
make_coverage() { store_variant "$1" coverage "-fprofile-instr-generate -fcoverage-mapping"; }

# --- all ---------------------------------------------------------------------

rm -rf "$out"/clang* "$out"/rustc* "$out"/llvm*
for v in "${clangs[@]}"; do
  make_ir "$v"
  make_ir_run "$v"
  make_fe "$v"
  make_coverage "$v"
done
