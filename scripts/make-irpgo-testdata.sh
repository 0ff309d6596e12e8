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
unset LLVM_PROFILE_FILE

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
  bash -c "set -euo pipefail; $1" >"$work/log" 2>&1 </dev/null ||
    { tail -n 20 "$work/log" >&2; die "failed: $1"; }
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

describe tool "two programs with file-local functions of one name: tool.c;step differs (two hashes under one name), tool.c;clamp is the same in both"
make_tool() {
  local p
  for p in a b; do
    forget
    cmd "cd src/$p && clang-$1 -O2 -fprofile-generate $noid tool.c -o ../../tool-$p"
    cmd "$(run "tool-$p" "tool-$p")"
    keep "tool-$p.profraw" "clang$1/tool-$p.profraw"
  done
}

describe ir-plain-names "names stored uncompressed"
make_ir_plain_names() {
  store_variant "$1" ir-plain-names "-fprofile-generate -mllvm -enable-name-compression=false"
}

describe ir-entry-first "entry block instrumented first (flag 58)"
make_ir_entry_first() {
  store_variant "$1" ir-entry-first "-fprofile-generate -mllvm -pgo-instrument-entry"
}

describe ir-loop-entries "loop entry blocks instrumented (flag 55)"
make_ir_loop_entries() {
  store_variant "$1" ir-loop-entries "-fprofile-generate -mllvm -pgo-instrument-loop-entries"
}

describe ir-function-entry "one single-byte counter per function (flags 60 and 61)"
make_ir_function_entry() {
  store_variant "$1" ir-function-entry "-fprofile-generate -mllvm -pgo-function-entry-coverage"
}

describe ir-block-coverage "single-byte counters (flag 60): 0 means executed"
make_ir_block_coverage() {
  store_variant "$1" ir-block-coverage "-fprofile-generate -mllvm -pgo-block-coverage"
}

describe ir-vtable "vtable values: vtable records and vtable names in the raw file"
make_ir_vtable() {
  store_variant "$1" ir-vtable "-fprofile-generate -mllvm -enable-vtable-value-profiling"
}

describe temporal-run "timestamps in counter slot 0 (flag 63), three runs that call in different order"
make_temporal() {
  local n inputs=(x "400 7" "9 3" "60 11")
  for n in 1 2 3; do
    forget
    cmd "clang-$1 -O2 -fprofile-generate -mllvm -pgo-temporal-instrumentation $store $noid -o store"
    cmd "$(run "temporal-run$n" store) ${inputs[n]}"
    keep "temporal-run$n.profraw" "clang$1/temporal-run$n.profraw"
  done
}

describe temporal-block-coverage "timestamps in front of single-byte counters: 8 counter slots each"
make_temporal_block_coverage() {
  store_variant "$1" temporal-block-coverage \
    "-fprofile-generate -mllvm -pgo-temporal-instrumentation -mllvm -pgo-block-coverage"
}

describe temporal-function-entry "an LLVM bug: flag 63 is set, but there is one byte per function and no timestamp"
make_temporal_function_entry() {
  store_variant "$1" temporal-function-entry \
    "-fprofile-generate -mllvm -pgo-temporal-instrumentation -mllvm -pgo-function-entry-coverage"
}

describe cs "context-sensitive counters only (flags 56 and 57, bit 60 of the hashes): second stage of a two-stage build"
make_cs() {
  forget
  cmd "clang-$1 -O2 -fprofile-generate $store $noid -o store"
  cmd "$(run cs-stage1 store) 400 7"
  cmd "llvm-profdata-$1 merge cs-stage1.profraw -o cs-stage1.profdata"
  cmd "clang-$1 -O2 -fprofile-use=cs-stage1.profdata -fcs-profile-generate $store $noid -o store-cs"
  cmd "$(run cs store-cs) 400 7"
  keep cs.profraw "clang$1/cs.profraw"
}

describe ir-lto "full LTO with lld: the names of all files in one chunk"
make_ir_lto() { store_variant "$1" ir-lto "-fprofile-generate -flto -fuse-ld=lld-$1"; }

describe dispatch "value-heavy sites: 40 targets where the runtime keeps 24, all memop size classes"
make_dispatch() {
  forget
  cmd "clang-$1 -O2 -fprofile-generate $noid src/dispatch.c -o dispatch"
  cmd "$(run dispatch dispatch) 3000"
  keep dispatch.profraw "clang$1/dispatch.profraw"
}

describe dispatch-all "the same with dynamic value nodes: 40 targets kept at one site"
make_dispatch_all() {
  forget
  cmd "clang-$1 -O2 -fprofile-generate -mllvm -vp-static-alloc=false $noid src/dispatch.c -o dispatch"
  cmd "LLVM_VP_MAX_NUM_VALS_PER_SITE=255 $(run dispatch-all dispatch) 3000"
  keep dispatch-all.profraw "clang$1/dispatch-all.profraw"
}

describe ir-32bit "a 32-bit program: magic with R, 32-bit pointers, deltas modulo 2^32"
describe coverage-32bit "the same from the front end with coverage mapping"
make_32bit() {
  local kind flags
  for kind in ir coverage; do
    flags=-fprofile-generate
    [[ $kind = ir ]] || flags="-fprofile-instr-generate -fcoverage-mapping"
    forget
    cmd "clang-$1 -m32 -O2 $flags src/store.c src/main.c $noid -o store32"
    cmd "$(run "$kind-32bit" store32) 400 7"
    keep "$kind-32bit.profraw" "clang$1/$kind-32bit.profraw"
  done
}

describe coverage-mcdc-run "MC/DC: bitmaps of 1 to 8 bytes"
make_mcdc() {
  forget
  cmd "clang-$1 -O1 -fprofile-instr-generate -fcoverage-mapping -fcoverage-mcdc $noid src/mcdc.c -o mcdc"
  cmd "$(run coverage-mcdc-run1 mcdc) 8"
  keep coverage-mcdc-run1.profraw "clang$1/coverage-mcdc-run1.profraw"
  forget
  cmd "clang-$1 -O1 -fprofile-instr-generate -fcoverage-mapping -fcoverage-mcdc $noid src/mcdc.c -o mcdc"
  cmd "$(run coverage-mcdc-run2 mcdc) 70"
  keep coverage-mcdc-run2.profraw "clang$1/coverage-mcdc-run2.profraw"
}

describe correlate-debug-info "flag 59: counters only, functions and names are in the debug info. Merges to an empty profile, exit code 0"
make_correlate_debug_info() {
  local flag="-profile-correlate=debug-info"
  [[ $1 -ge 19 ]] || flag="-debug-info-correlate"
  # clang 14 crashes on this flag unless value profiling is off.
  store_variant "$1" correlate-debug-info "-g -fprofile-generate -mllvm $flag -mllvm -disable-vp"
}

describe correlate-binary "counters only, functions and names stay in the unstripped program; no flag tells. Merges to an empty profile, exit code 0"
make_correlate_binary() {
  forget
  cmd "clang-$1 -O2 -fprofile-generate -mllvm -profile-correlate=binary -mllvm -disable-vp $store -Wl,--build-id=sha1 -o store-id"
  cmd "$(run correlate-binary store-id) 400 7"
  keep correlate-binary.profraw "clang$1/correlate-binary.profraw"
}

describe pool "the inputs of ir-run1, 2 and 3 added up by the runtime itself (%m)"
make_pool() {
  local input
  forget
  cmd "clang-$1 -O2 -fprofile-generate $store -Wl,--build-id=sha1 -o store-id"
  for input in "400 7" "90 3" "2500 11"; do
    cmd "LLVM_PROFILE_FILE=pool-%m.profraw setarch -R ./store-id $input"
  done
  cmd "mv pool-*.profraw pool.profraw"
  keep pool.profraw "clang$1/pool.profraw"
}

describe continuous "counters mapped to the file while the program runs (%c)"
describe continuous-values "the same without turning value profiling off: the records announce value sites, the file has no value data"
make_continuous() {
  local name flags
  for name in continuous continuous-values; do
    # clang 14 crashes here when it promotes counters.
    flags="-mllvm -runtime-counter-relocation -mllvm -do-counter-promotion=false"
    [[ $name = continuous-values ]] || flags+=" -mllvm -disable-vp"
    forget
    cmd "clang-$1 -O2 -fprofile-generate $flags $store $noid -o store"
    cmd "rm -f $name.profraw; LLVM_PROFILE_FILE=$name%c.profraw setarch -R ./store 400 7"
    keep "$name.profraw" "clang$1/$name.profraw"
  done
}

describe host "a program and its instrumented shared library: one profile per image"
describe plugin "the library's profile"
make_host() {
  local image
  for image in host plugin; do
    forget
    cmd "clang-$1 -O2 -fprofile-generate=plugin.d -shared -fPIC -Wl,-Bsymbolic -Wl,--build-id=sha1 src/plugin.c -o libplugin.so"
    cmd "clang-$1 -O2 -fprofile-generate=host.d -Wl,--build-id=sha1 src/host.c ./libplugin.so -o host"
    cmd "rm -rf host.d plugin.d; setarch -R ./host 200"
    cmd "mv $image.d/*.profraw $image.profraw"
    keep "$image.profraw" "clang$1/$image.profraw"
  done
}

describe huge "counter values of 2^56 and above: LLVM 16 and later warn; merged twice they saturate"
make_huge() {
  forget
  cmd "clang-$1 -O0 -fprofile-generate $noid src/huge.c -o huge"
  cmd "$(run huge huge)"
  keep huge.profraw "clang$1/huge.profraw"
}

describe no-functions "a header and a build id, no function"
make_no_functions() {
  forget
  cmd "clang-$1 -O2 -c src/plain.c -o plain.o"
  cmd "clang-$1 -fprofile-generate -Wl,--build-id=sha1 plain.o -o plain"
  cmd "$(run no-functions plain)"
  keep no-functions.profraw "clang$1/no-functions.profraw"
}

describe concat "profiles of two programs in one file"
describe concat-padded "the same with 24 zero bytes between and 8 behind"
describe concat-kinds "IR counters, then single-byte counters, then an empty profile: flags change inside the file"
describe concat-garbage "a profile, then bytes that are none"
describe truncated "cut in the middle of the counters, as by a full disk"
describe zero-bytes "a file of zero bytes: the process was killed before it wrote"
make_concat() {
  local p=clang$1
  raw() { echo "$out/$p/$1.profraw"; }
  # The recipe names fixtures by their path in this folder.
  join() { # FIXTURE SHELL-TEXT
    forget
    commands=$'\t'"($2) >$p/$1.profraw"
    (cd "$out" && eval "$2") >"$work/joined"
    keep joined "$p/$1.profraw"
  }
  join concat "cat $p/ir-run1.profraw $p/tool-a.profraw"
  join concat-padded "cat $p/ir-run1.profraw; head -c 24 /dev/zero; cat $p/tool-b.profraw; head -c 8 /dev/zero"
  join concat-kinds "cat $p/ir-run2.profraw $p/ir-function-entry.profraw $p/no-functions.profraw"
  join concat-garbage "cat $p/tool-a.profraw; printf 'not a profile, but longer than a profile header is: %0128d' 0"
  join truncated "head -c 1600 $p/ir-run1.profraw"
  join zero-bytes "true"
}

# --- raw, rustc --------------------------------------------------------------

describe generate-run "rustc -C profile-generate, two inputs: several codegen units, generic functions of the standard library, trait objects, legacy mangling"
describe rustc-coverage "rustc -C instrument-coverage (front-end kind, v0 mangling)"
make_rust() {
  local n inputs=(x "300" "40")
  for n in 1 2; do
    forget
    cmd "rustc --edition 2021 -O -C profile-generate -C link-arg=$noid src/ledger.rs -o ledger"
    cmd "$(run "generate-run$n" ledger) ${inputs[n]}"
    keep "generate-run$n.profraw" "$rust/generate-run$n.profraw"
  done
  forget
  cmd "rustc --edition 2021 -C instrument-coverage -C link-arg=$noid src/ledger.rs -o ledger"
  cmd "$(run coverage ledger) 300"
  keep coverage.profraw "$rust/coverage.profraw"
}

# --- all ---------------------------------------------------------------------

rm -rf "$out"/clang* "$out"/rustc* "$out"/llvm*
for v in "${clangs[@]}"; do
  make_ir "$v"
  make_ir_run "$v"
  make_ir_plain_names "$v"
  make_ir_entry_first "$v"
  make_ir_function_entry "$v"
  make_ir_lto "$v"
  make_fe "$v"
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
  make_no_functions "$v"
  if ((v >= 19)); then
    make_ir_block_coverage "$v"
    make_ir_vtable "$v"
    make_temporal "$v"
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
