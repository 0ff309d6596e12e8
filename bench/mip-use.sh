#!/usr/bin/env bash
# Builds programs plain, with functions placed by a MIP profile, and with cold
# blocks moved out of functions too, and prints size, pages of code touched at
# start, page faults and time.
#
#   bash bench/mip-use.sh [--programs LIST] [--compiler CC] [--runs N] [--cold]
#
# --programs LIST   as for bench/mip; "RUN --quick" is taken for the start of a
#                   program, RUN for its work. The profile is of both
# --compiler        as for bench/mip: clang-22, or gcc-12, clang-19 …
# --runs            rounds in which times are taken, 5 unless said otherwise
# --cold            also start with empty file caches; needs root, and slows
#                   down everything else on the machine
#
# $CFLAGS, "-O2" if not set, $LDFLAGS and $RUSTFLAGS, "-C opt-level=3 -C
# codegen-units=1", are used in all modes. Everything is kept in
# build/bench/mip-use.
#
#   text+data     the sum that size(1) prints
#   4K, 16K       pages of code touched by functions called in the start, and
#   to 50%        page faults until half the first calls, as "profuse order
#                 eval" counts them
#   minor, major  page faults of the start that the system counted, the fewest
#                 of all rounds; major ones, and time, with empty caches
#   time          CPU time of the work beside plain in the same round: median
#                 and spread. "again" is plain once more
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
fail() { echo "bench/mip-use.sh: $*" >&2; exit 2; }

list=$root/bench/programs/list compiler=clang-22 rounds=5 cold=
while (($#)); do
  [[ $1 == --cold ]] && { cold=1; shift; continue; }
  (($# > 1)) || fail "$1: no value, or no such option"
  case $1 in
  --programs) list=$2 ;;
  --compiler) compiler=$2 ;;
  --runs) rounds=$2 ;;
  *) fail "unknown option $1" ;;
  esac
  shift 2
done
[[ -r $list ]] || fail "cannot read $list"
((rounds > 0)) || fail "--runs $rounds: at least 1"
[[ -z $cold || -w /proc/sys/vm/drop_caches ]] || fail "--cold: cannot write /proc/sys/vm/drop_caches"
folder=$(cd "$(dirname "$list")" && pwd)
work=$root/build/bench/mip-use
mkdir -p "$work"
export LC_ALL=C TIMEFORMAT='%3U %3S'
rustc=${RUSTC:-rustc} cflags=${CFLAGS--O2} ldflags=${LDFLAGS-} rustflags=${RUSTFLAGS--C opt-level=3 -C codegen-units=1}
case $compiler in
*clang*) cxx=${compiler/clang/clang++} ;;
*gcc*) cxx=${compiler/gcc/g++} ;;
*) fail "$compiler: neither clang nor gcc" ;;
esac
profuse=$work/profuse
(cd "$root" && CGO_ENABLED=0 go build -trimpath -o "$profuse" ./cmd/profuse)

# build DIR SOURCE COMMAND FLAGS builds in a fresh copy of a folder.
build() {
  rm -rf "$1"
  mkdir -p "$1"
  cp -R "$2/." "$1"
  (
    cd "$1"
    driver="$profuse cc --report $1.report -- "
    rm -f "$1.report"
    export CC=$driver$compiler CXX=$driver$cxx RUSTC=$driver$rustc
    export CFLAGS="$cflags $4" LDFLAGS="$ldflags $4" RUSTFLAGS="$rustflags $4"
    bash -euc "$3"
  ) >"$1.log" 2>&1 || { echo "bench/mip-use.sh: cannot build $1:" >&2; tail -n 20 "$1.log" >&2; return 1; }
}

# run DIR COMMAND OUTPUT runs a program and prints its CPU time.
run() (
  cd "$1"
  export LLVM_MIP_PROFILE_FILENAME=$1.mipraw
  { time bash -c "exec $2" >"$3" 2>"$1.stderr"; } 2>"$1.time" ||
    { echo "bench/mip-use.sh: $1: failed" >&2; tail -n 5 "$1.stderr" >&2; exit 1; }
  awk '{ print $1 + $2 }' "$1.time"
)

# faults DIR COMMAND prints minor and major page faults, and seconds.
faults() (cd "$1" && command time -o "$1.faults" -f '%R %F %e' $2 >/dev/null 2>&1 && tail -n 1 "$1.faults")

spread() { sort -g | awk '{ v[NR] = $1 } END { m = int((NR + 1) / 2); printf "%.3f  %.3f - %.3f", (v[m] + v[int(NR / 2) + 1]) / 2, v[1], v[NR] }'; }
least() { sort -g | head -n 1; }
trim() { local s=${1#"${1%%[![:space:]]*}"}; echo "${s%"${s##*[![:space:]]}"}"; }

modes=(plain placed split)

one_program() { # NAME FOLDER BUILD RUN
  local name=$1 source=$2 command=$3 run=$4 used=$compiler dir mode round i
  case $command in
  *RUSTC*) used=$rustc ;;
  *CXX*) used=$cxx ;;
  esac
  local program=${run%% *} use
  dir=$work/$name-${used##*/}
  mkdir -p "$dir"
  rm -f "$dir"/*.ratios "$dir"/*.minor "$dir"/*.cold
  build "$dir/probed" "$source" "$command" "-fmachine-profile-generate -fmachine-profile-block-coverage"
  run "$dir/probed" "$run --quick" "$dir/probed.start" >/dev/null
  "$profuse" merge -q -o "$dir/start.mip" "$dir/probed/$program" "$dir/probed.mipraw"
  run "$dir/probed" "$run" "$dir/probed.out" >/dev/null
  "$profuse" merge -q -o "$dir/work.mip" "$dir/probed/$program" "$dir/probed.mipraw"
  use="-fmachine-profile-use=$dir/start.mip,$dir/work.mip"
  build "$dir/plain" "$source" "$command" ""
  build "$dir/placed" "$source" "$command" "$use -fno-machine-profile-split"
  build "$dir/split" "$source" "$command" "$use"

  local order=("${modes[@]}" again)
  for ((round = 0; round <= rounds; round++)); do
    for ((i = 0; i < 4; i++)); do
      mode=${order[(i + round) % 4]}
      run "$dir/${mode/again/plain}" "$run" "$dir/$mode.out" >"$dir/$mode.seconds"
      cmp -s "$dir/$mode.out" "$dir/probed.out" || { echo "bench/mip-use.sh: $dir: $mode prints something else" >&2; return 1; }
      [[ $mode == again ]] || faults "$dir/$mode" "$run --quick" | awk '{ print $1 }' >>"$dir/$mode.minor"
      if [[ -n $cold && $mode != again ]]; then
        sync
        echo 3 >/proc/sys/vm/drop_caches
        faults "$dir/$mode" "$run --quick" >>"$dir/$mode.cold"
      fi
    done
    ((round)) || continue # the first warms up
    for mode in "${order[@]}"; do
      awk -v p="$(<"$dir/plain.seconds")" '{ print (p > 0 ? $1 / p : 1) }' "$dir/$mode.seconds" >>"$dir/$mode.ratios"
    done
  done

  echo
  echo "$name: $used, $([[ $used == "$rustc" ]] && echo "$rustflags" || echo "$cflags")"
  local json=$dir/eval.json
  "$profuse" order eval --json --trace "$dir/start.mip" --page-size 4K,16K --until 50 \
    "$dir/plain/$program" "$dir/placed/$program" "$dir/split/$program" >"$json"
  printf '%-8s %10s %6s %6s %7s %7s' '' text+data 4K 16K 'to 50%' minor
  [[ -z $cold ]] || printf ' %7s %8s' major 'cold s'
  printf '  %s\n' 'time   min - max'
  for i in 0 1 2; do
    mode=${modes[i]}
    printf '%-8s %10d' "$mode" "$(size "$dir/$mode/$program" | awk 'NR == 2 { print $1 + $2 }')"
    python3 - "$json" "$i" <<'P'
import json, sys
scores = json.load(open(sys.argv[1]))["orders"][int(sys.argv[2])]["scores"]
print(" %6g %6g %7g" % (scores[0]["pages_touched"], scores[1]["pages_touched"], scores[0]["page_faults_until"][0]["page_faults"]), end="")
P
    printf ' %7d' "$(least <"$dir/$mode.minor")"
    [[ -z $cold ]] || printf ' %7d %8.3f' "$(awk '{ print $2 }' "$dir/$mode.cold" | least)" "$(awk '{ print $3 }' "$dir/$mode.cold" | least)"
    printf '  %s\n' "$(spread <"$dir/$mode.ratios")"
  done
  printf '%-8s %10s %6s %6s %7s %7s' again '' '' '' '' ''
  [[ -z $cold ]] || printf ' %7s %8s' '' ''
  printf '  %s\n' "$(spread <"$dir/again.ratios")"
  echo "left where they were: $(cut -f 3 "$dir/split.report" 2>/dev/null | sort | uniq -c | sort -rn | awk '{ n = $1; $1 = ""; printf "%s%d%s", (NR > 1 ? ";" : ""), n, $0 }')"
}

while IFS='|' read -r name source command run; do
  name=$(trim "$name")
  [[ -n $name && $name != \#* ]] || continue
  [[ -n $run ]] || fail "$list: $name: want NAME | FOLDER | BUILD | RUN"
  source=$(trim "$source")
  [[ $source == /* ]] || source=$folder/$source
  one_program "$name" "$source" "$(trim "$command")" "$(trim "$run")" </dev/null
done <"$list"
