#!/usr/bin/env bash
# Makes the real profiles under testdata/irpgo from the sources in
# testdata/irpgo/src, with the real compilers: clang 14, 16, 19, 22 and rustc.
#
#   build/scripts/make-irpgo-testdata.sh [OUTPUT]
#
# OUTPUT (default testdata/irpgo) gets one folder per producer, fixtures.json
# (which tool reads which file, found by running each tool on each file) and
# README.md (the exact commands, recorded while they run). Hand-written text
# profiles in testdata/irpgo/text are described but never changed.
# The recipes are in irpgo-recipes.sh, the descriptions in irpgo-describe.sh.
#
# Everything is built in a temporary folder under relative paths, so no machine
# path enters a name, and run without address randomisation, so two runs on one
# machine give the same bytes.
set -euo pipefail
export LC_ALL=C
unset LLVM_PROFILE_FILE

root=$(cd "$(dirname "$0")/../.." && pwd)
out=${1:-$root/testdata/irpgo}
mkdir -p "$out"
out=$(cd "$out" && pwd)

clangs=(14 16 19 22)
[[ -z $(ls -A "$out") || -d $out/text ]] || { echo "$out is not empty and holds no profiles" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r "$root/testdata/irpgo/src" "$work/src"
cd "$work"

die() { echo "make-irpgo-testdata: $*" >&2; exit 1; }

for v in "${clangs[@]}"; do
  for tool in clang llvm-profdata; do
    command -v "$tool-$v" >/dev/null || die "$tool-$v is missing: see build/scripts/install-oracles.sh"
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

# attempt TEXT: runs a shell command in the current folder. What it prints is
# dropped; a failure stops the script.
attempt() {
  bash -c "set -euo pipefail; $1" >"$work/log" 2>&1 </dev/null ||
    { tail -n 20 "$work/log" >&2; die "failed: $1"; }
}

# forget: the next commands start a new recipe.
forget() { commands=; }

# cmd TEXT: runs a shell command in the work folder and adds it to the recipe.
cmd() {
  commands+=$'\t'$1
  attempt "$1"
}

# record FIXTURE: enters a file of the output folder with the recipe so far.
record() {
  printf '%s%s\n' "$1" "$commands" >>"$manifest"
  printf '%8d %s\n' "$(stat -c %s "$out/$1")" "$1"
}

# keep FILE FIXTURE: copies a file from the work folder out as a fixture.
keep() {
  mkdir -p "$out/$(dirname "$2")"
  cp "$1" "$out/$2"
  record "$2"
}

# derive FIXTURE TEXT: makes a fixture from others with one command that runs in
# the output folder.
derive() {
  forget
  commands=$'\t'$2
  mkdir -p "$out/$(dirname "$1")"
  (cd "$out" && attempt "$2")
  record "$1"
}

source "$root/build/scripts/irpgo-recipes.sh"

# --- all ---------------------------------------------------------------------

rm -rf "$out"/clang* "$out"/rustc* "$out"/llvm* "$out"/text/llvm*
if [[ $out != "$root/testdata/irpgo" ]]; then
  mkdir -p "$out/text"
  cp "$root"/testdata/irpgo/text/* "$out/text"
  rm -f "$out"/text/llvm*
fi
for v in "${clangs[@]}"; do
  make_ir "$v"
  make_ir_run "$v"
  make_ir_plain_names "$v"
  make_ir_entry_first "$v"
  make_ir_function_entry "$v"
  make_ir_lto "$v"
  make_fe "$v"
  make_fe_values "$v"
  make_coverage "$v"
  make_32bit "$v"
  make_cs "$v"
  make_tool "$v"
  make_dispatch "$v"
  make_dispatch_all "$v"
  make_correlate_debug_info "$v"
  make_pool "$v"
  make_continuous "$v"
  make_host "$v"
  make_huge "$v"
  if ((v >= 16)); then
    make_no_functions "$v" # clang 14 writes nothing
  fi
  if ((v >= 19)); then
    make_ir_block_coverage "$v"
    make_ir_vtable "$v"
    make_temporal "$v"
    make_temporal_store "$v"
    make_temporal_block_coverage "$v"
    make_temporal_function_entry "$v"
    make_mcdc "$v"
    make_correlate_binary "$v"
  fi
  if ((v >= 22)); then
    make_ir_loop_entries "$v"
  fi
  make_concat "$v"
done
make_rust
for v in "${clangs[@]}"; do
  make_indexed "$v"
  if ((v >= 19)); then
    make_indexed_since_19 "$v"
    make_correlated "$v"
  fi
  if ((v >= 16)); then
    make_memprof "$v"
  fi
done
make_indexed_22
make_text

source "$root/build/scripts/irpgo-describe.sh"
