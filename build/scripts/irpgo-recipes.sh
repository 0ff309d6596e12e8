# The recipes of the profiles under testdata/irpgo, one function per variant.
# Sourced by make-irpgo-testdata.sh, which defines describe, forget, cmd, keep and
# derive. V, the first argument of every function, is the LLVM release.

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

describe fe-values "front-end instrumentation with indirect call values: targets are named file:name"
make_fe_values() {
  store_variant "$1" fe-values "-fprofile-instr-generate -mllvm -enable-value-profiling"
}

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
  local n inputs=(x "0 1 6" "3 5 4" "4 1 9")
  for n in 1 2 3; do
    forget
    cmd "clang-$1 -O2 -fprofile-generate -mllvm -pgo-temporal-instrumentation $noid src/phases.c -o phases"
    cmd "$(run "temporal-run$n" phases) ${inputs[n]}"
    keep "temporal-run$n.profraw" "clang$1/temporal-run$n.profraw"
  done
}

describe temporal "the store program with timestamps: file-local and C++ names, value data"
make_temporal_store() {
  store_variant "$1" temporal "-fprofile-generate -mllvm -pgo-temporal-instrumentation"
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

describe dispatch "value-heavy sites: 42 targets where the runtime keeps 24, all memop size classes, two targets without a record (both become value 0)"
make_dispatch() {
  forget
  cmd "clang-$1 -O2 -fprofile-generate $noid src/dispatch.c -o dispatch"
  cmd "$(run dispatch dispatch) 3000"
  keep dispatch.profraw "clang$1/dispatch.profraw"
}

describe dispatch-all "the same with dynamic value nodes: every target kept"
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

describe coverage-mcdc-run "MC/DC: bitmaps of 1 to 16 bytes, two runs"
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

describe correlate-debug-info "flag 59: counters only, functions and names are in the debug info. Merged without it: LLVM 14 and 16 refuse, 19 and 22 write an empty profile with exit code 0"
make_correlate_debug_info() {
  local flag="-profile-correlate=debug-info"
  [[ $1 -ge 19 ]] || flag="-debug-info-correlate"
  # clang 14 crashes on this flag unless value profiling is off.
  store_variant "$1" correlate-debug-info "-g -fprofile-generate -mllvm $flag -mllvm -disable-vp"
}

describe correlate-binary "counters only, functions and names stay in the unstripped program; no flag tells. Merged alone: an empty profile, exit code 0"
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

describe huge "counter values of 2^56 and above: LLVM 19 and 22 refuse the file unless --failure-mode=warn; merged twice they saturate"
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
describe concat-kinds "64-bit counters, then single-byte counters of the same functions, then 64-bit ones again: flags change inside the file; the second profile does not fit the first"
describe concat-garbage "a profile, then bytes that are none"
describe truncated "cut in the middle of the counters, as by a full disk"
describe zero-bytes "a file of zero bytes: the process was killed before it wrote"
make_concat() {
  local p=clang$1 garbage="not a profile, but longer than a profile header is: %0128d"
  derive "$p/concat.profraw" "cat $p/ir-run1.profraw $p/tool-a.profraw >$p/concat.profraw"
  derive "$p/concat-padded.profraw" \
    "(cat $p/ir-run1.profraw; head -c 24 /dev/zero; cat $p/tool-b.profraw; head -c 8 /dev/zero) >$p/concat-padded.profraw"
  derive "$p/concat-kinds.profraw" \
    "cat $p/ir-run2.profraw $p/ir-function-entry.profraw $p/tool-a.profraw >$p/concat-kinds.profraw"
  derive "$p/concat-garbage.profraw" \
    "(cat $p/tool-a.profraw; printf '$garbage' 0) >$p/concat-garbage.profraw"
  derive "$p/truncated.profraw" "head -c 1600 $p/ir-run1.profraw >$p/truncated.profraw"
  derive "$p/zero-bytes.profraw" ": >$p/zero-bytes.profraw"
}

# --- raw, rustc --------------------------------------------------------------

describe generate-run "rustc -C profile-generate, two inputs: several codegen units, generic functions of the standard library, trait objects, legacy mangling"
describe rustc-coverage "rustc -C instrument-coverage (front-end kind, v0 mangling)"
make_rust() {
  # lld, rustc's default linker, does not place sections the same way each time.
  local n inputs=(x "300" "40") link="-C link-arg=-fuse-ld=bfd -C link-arg=$noid"
  for n in 1 2; do
    forget
    cmd "rustc --edition 2021 -O -C profile-generate $link src/ledger.rs -o ledger"
    cmd "$(run "generate-run$n" ledger) ${inputs[n]}"
    keep "generate-run$n.profraw" "$rust/generate-run$n.profraw"
  done
  forget
  # Coverage hashes contain the path of the source.
  cmd "rustc --edition 2021 -C instrument-coverage --remap-path-prefix \"\$PWD=.\" $link src/ledger.rs -o ledger"
  cmd "$(run rustc-coverage ledger) 300"
  keep rustc-coverage.profraw "$rust/rustc-coverage.profraw"
}

# --- indexed -----------------------------------------------------------------

# indexed V NAME ARGUMENTS: one merge by llvm-profdata of release V.
indexed() { derive "llvm$1/$2.profdata" "llvm-profdata-$1 merge $3 -o llvm$1/$2.profdata"; }

describe merged "three runs of one program merged"
describe weighted "merged with weights 3 and 1: values that only the second input has are not scaled"
describe sparse "without the functions that never ran"
describe cs-merged "plain and context-sensitive records of the same functions, two summaries"
describe tool-merged "one function name with two hashes"
describe ir-and-fe "IR and front-end raw profiles merged: LLVM accepts it"
describe dispatch-indexed "value-heavy sites"
describe coverage-indexed "front end; mixed names"
describe function-entry "flags 60 and 61 in an indexed file"
describe no-records "what a merge of empty files writes"
make_indexed() {
  local v=$1 c=clang$1
  indexed "$v" merged "$c/ir-run1.profraw $c/ir-run2.profraw $c/ir-run3.profraw"
  indexed "$v" weighted "-weighted-input=3,$c/ir-run2.profraw -weighted-input=1,$c/ir-run3.profraw"
  indexed "$v" sparse "-sparse $c/ir-run2.profraw"
  indexed "$v" cs-merged "$c/ir.profraw $c/cs.profraw"
  indexed "$v" tool-merged "$c/tool-a.profraw $c/tool-b.profraw"
  indexed "$v" ir-and-fe "$c/ir.profraw $c/coverage.profraw"
  indexed "$v" dispatch-indexed "$c/dispatch.profraw"
  indexed "$v" coverage-indexed "$c/coverage.profraw"
  indexed "$v" function-entry "$c/ir-function-entry.profraw"
  indexed "$v" no-records "$c/zero-bytes.profraw"
}

describe temporal-merged "traces of three runs"
describe temporal-reservoir "three traces where two are kept, cut to five functions: sampling"
describe mcdc-merged "bitmaps of two runs"
describe block-coverage "flag 60 in an indexed file"
describe vtable "vtable values without vtable names"
describe vtable-names "vtable values with vtable names"
describe previous-version "written in the previous indexed version (--write-prev-version)"
make_indexed_since_19() {
  local v=$1 c=clang$1 t
  t="$c/temporal-run1.profraw $c/temporal-run2.profraw $c/temporal-run3.profraw"
  indexed "$v" temporal-merged "$t"
  indexed "$v" temporal-reservoir \
    "-j 1 --temporal-profile-trace-reservoir-size=2 --temporal-profile-max-trace-length=5 $t"
  indexed "$v" mcdc-merged "$c/coverage-mcdc-run1.profraw $c/coverage-mcdc-run2.profraw"
  indexed "$v" block-coverage "$c/ir-block-coverage.profraw"
  indexed "$v" vtable "$c/ir-vtable.profraw"
  indexed "$v" vtable-names "--keep-vtable-symbols $c/ir-vtable.profraw"
  indexed "$v" previous-version "--write-prev-version $c/ir-run1.profraw"
}

describe memprof "MemProf section, no function record"
describe memprof-ir "MemProf section behind function records"
make_memprof() {
  local v=$1 flags
  flags="-O2 -gmlt -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer -fno-optimize-sibling-calls"
  # LLVM symbolizes non-PIE programs only.
  flags+=" -no-pie -Wl,-z,noseparate-code -Wl,--build-id=sha1"
  mkdir -p "$out/llvm$v"
  forget
  cmd "clang-$v -fmemory-profile $flags src/store.c src/main.c -o store-mem"
  cmd "rm -f mem.*; MEMPROF_OPTIONS=log_path=mem:print_text=0 setarch -R ./store-mem 400 7"
  cmd "mv mem.* memprof.memprofraw"
  cmd "llvm-profdata-$v merge memprof.memprofraw --profiled-binary=store-mem -o memprof.profdata"
  keep memprof.profdata "llvm$v/memprof.profdata"
  cmd "clang-$v -O2 -fprofile-generate $store $noid -o store"
  cmd "$(run ir store) 400 7"
  cmd "llvm-profdata-$v merge ir.profraw memprof.memprofraw --profiled-binary=store-mem -o memprof-ir.profdata"
  keep memprof-ir.profdata "llvm$v/memprof-ir.profdata"
  if ((v == 19)); then
    cmd "llvm-profdata-19 merge memprof.memprofraw --memprof-version=2 --profiled-binary=store-mem -o memprof-v2.profdata"
    keep memprof-v2.profdata llvm19/memprof-v2.profdata
  fi
  if ((v >= 19)); then
    indexed "$v" memprof-lost "llvm$v/memprof.profdata"
  fi
}

describe memprof-v2 "MemProf version 2 as LLVM 19 writes it on request; its default has no version word and no newer tool reads it"
describe memprof-lost "an indexed profile with a MemProf section merged again: the section is there and empty"
describe correlated "correlate-debug-info merged with the program that has the debug info"
describe correlated-binary "correlate-binary merged with the unstripped program"
make_correlated() {
  local v=$1
  forget
  cmd "clang-$v -O2 -g -fprofile-generate -mllvm -profile-correlate=debug-info -mllvm -disable-vp $store $noid -o store"
  cmd "$(run correlate-debug-info store) 400 7"
  cmd "llvm-profdata-$v merge --debug-info=store correlate-debug-info.profraw -o correlated.profdata"
  keep correlated.profdata "llvm$v/correlated.profdata"
  forget
  cmd "clang-$v -O2 -fprofile-generate -mllvm -profile-correlate=binary -mllvm -disable-vp $store -Wl,--build-id=sha1 -o store-id"
  cmd "$(run correlate-binary store-id) 400 7"
  cmd "llvm-profdata-$v merge --binary-file=store-id correlate-binary.profraw -o correlated-binary.profdata"
  keep correlated-binary.profdata "llvm$v/correlated-binary.profdata"
}

describe loop-entries "flag 55 in an indexed file"
describe rust-merged "more functions than the initial hash table holds"
describe many-functions "150 functions: the on-disk hash table grows twice"
describe many-hashes "70 hashes under one name: order within a key"
make_indexed_22() {
  indexed 22 loop-entries "clang22/ir-loop-entries.profraw"
  indexed 22 rust-merged "$rust/generate-run1.profraw $rust/generate-run2.profraw"
  indexed 22 many-functions "text/many-functions.proftext"
  indexed 22 many-hashes "text/many-hashes.proftext"
}

# --- text --------------------------------------------------------------------

# text NAME ARGUMENTS: what llvm-profdata 22 writes as text.
text() { derive "text/llvm22-$1.proftext" "llvm-profdata-22 merge --text $2 -o text/llvm22-$1.proftext"; }

describe llvm22-ir "text: names with ';', indirect call and memop values"
describe llvm22-cs ":csir, hashes with bit 60"
describe llvm22-fe "no directive"
describe llvm22-entry-first ":entry_first"
describe llvm22-loop-entries ":instrument_loop_entries"
describe llvm22-block-coverage ":single_byte_coverage"
describe llvm22-temporal ":temporal_prof_traces"
describe llvm22-mcdc "bitmaps"
describe llvm22-vtable "vtable values with names"
describe llvm22-vtable-unnamed "vtable values as ** External Symbol **: names lost"
describe llvm22-dispatch "long value lists, external targets"
describe llvm22-tool "one name, two hashes"
describe llvm22-rust "rustc names"
make_text() {
  text ir clang22/ir-run1.profraw
  text cs llvm22/cs-merged.profdata
  text fe clang22/fe-values.profraw
  text entry-first clang22/ir-entry-first.profraw
  text loop-entries clang22/ir-loop-entries.profraw
  text block-coverage clang22/ir-block-coverage.profraw
  text temporal llvm22/temporal-merged.profdata
  text mcdc llvm22/mcdc-merged.profdata
  text vtable "--keep-vtable-symbols clang22/ir-vtable.profraw"
  text vtable-unnamed clang22/ir-vtable.profraw
  text dispatch clang22/dispatch.profraw
  text tool llvm22/tool-merged.profdata
  text rust "$rust/rustc-coverage.profraw"
}
