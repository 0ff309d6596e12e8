#!/usr/bin/env bash
# Installs the real tools that the tests compare profuse with.
#
#   build/scripts/install-oracles.sh           install what is missing, where that is possible
#   build/scripts/install-oracles.sh --check   only look: exit code 0 if nothing is missing
#
# Installs Debian packages when apt-get exists and the user is root, builds servers for the
# tests of fleet, and installs Azurite where there is npm; elsewhere it prints what is
# missing and ends with exit code 0, and the tests that need it are skipped.
# PROFUSE_REQUIRE_ORACLE=1 turns those skips into failures.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
releases=(14 16 19 22)

# have_32bit reports whether C programs can be compiled and linked for i386.
have_32bit() { [[ -e /usr/include/x86_64-linux-gnu/gnu/stubs-32.h || -e /usr/include/gnu/stubs-32.h ]]; }

# have_header NAME: C++ programs can include it.
have_header() { echo "#include <$1>" | g++ -E -x c++ - -o /dev/null 2>/dev/null; }

# have_runtime N: the profile runtime of clang N, 64 and 32 bit.
have_runtime() {
  local dir
  dir=$("clang-$1" -print-resource-dir 2>/dev/null) || return
  [[ -e $dir/lib/linux/libclang_rt.profile-x86_64.a && -e $dir/lib/linux/libclang_rt.profile-i386.a ]]
}

# have_browser: the browser tests find one.
have_browser() {
  local name
  for name in chromium chromium-browser google-chrome-stable google-chrome chrome; do
    command -v "$name" >/dev/null && return
  done
  return 1
}

# Tools that go by their own names, each with the Debian package that has it.
tools=(
  gcc=gcc g++=g++ gcc-11=gcc-11 gcc-12=gcc-12 make=make cmake=cmake
  gfortran=gfortran gccgo=gccgo gdc=gdc gnatbind=gnat
  objcopy=binutils nm=binutils readelf=binutils ar=binutils ld.gold=binutils
  aarch64-linux-gnu-gcc=gcc-aarch64-linux-gnu aarch64-linux-gnu-g++=g++-aarch64-linux-gnu
  arm-linux-gnueabihf-gcc=gcc-arm-linux-gnueabihf
  perf=linux-perf qemu-aarch64=qemu-user qemu-arm=qemu-user mold=mold dwz=dwz dwp=binutils
  node=nodejs javac=default-jdk-headless javap=default-jdk-headless callgrind_annotate=valgrind genhtml=lcov grcov=grcov xmllint=libxml2-utils
  man=man-db zsh=zsh fish=fish rpm=rpm zip=zip zstd=zstd
  slurmctld=slurmctld slurmd=slurmd sbatch=slurm-client munged=munge
)

# have_servers: those with the interfaces of S3 and Google Cloud Storage, which the tests of
# fleet start, can be built from Go modules. The Go tool keeps them in its cache.
have_servers() {
  local name
  for name in versitygw fake-gcs-server; do
    CGO_ENABLED=0 go -C "$here/../../fleet/servers" tool -n "$name" >/dev/null 2>&1 || return
  done
}

# Azurite has the interface of Azure Blob Storage. It comes from npm.
azurite=azurite-3.37.0
azurite_folder=${XDG_CACHE_HOME:-$HOME/.cache}/profuse/$azurite
have_azurite() { [[ -x $azurite_folder/node_modules/.bin/azurite-blob ]]; }

# missing_packages: the Debian packages of what is missing, one per line.
missing_packages() {
  local n tool
  [[ -e $(gcc -print-prog-name=cc1obj 2>/dev/null) ]] || echo gobjc
  for tool in "${tools[@]}"; do
    command -v "${tool%%=*}" >/dev/null || echo "${tool#*=}"
  done
  [[ -e /usr/aarch64-linux-gnu/include/stdio.h ]] || echo libc6-dev-arm64-cross
  [[ -e /usr/arm-linux-gnueabihf/include/stdio.h ]] || echo libc6-dev-armhf-cross
  for n in "${releases[@]}"; do
    command -v "clang-$n" >/dev/null || echo "clang-$n"
    command -v "llvm-profdata-$n" >/dev/null || echo "llvm-$n"
    ((n < 22)) || command -v "llvm-ctxprof-util-$n" >/dev/null || echo "llvm-$n-tools"
    command -v "ld.lld-$n" >/dev/null || echo "lld-$n"
    have_runtime "$n" || echo "libclang-rt-$n-dev"
  done
  # Not gcc-multilib, which conflicts with the cross compilers.
  have_32bit || printf '%s\n' libc6-dev-i386 "lib32gcc-$(gcc -dumpversion 2>/dev/null || echo 12)-dev"
  have_browser || echo chromium
  # Without any font browsers draw no text.
  [[ -d /usr/share/fonts/truetype ]] || ! command -v apt-get >/dev/null || echo fonts-dejavu-core
  have_azurite || command -v npm >/dev/null || echo npm
  have_header boost/version.hpp || echo libboost-dev
  have_header eigen3/Eigen/Core || echo libeigen3-dev
  have_header nlohmann/json.hpp || echo nlohmann-json3-dev
}

# report_missing: says what is missing; fails if anything is.
report_missing() {
  local packages
  packages=$(missing_packages | tr '\n' ' ')
  command -v rustc >/dev/null || packages+="rustc "
  have_servers || packages+="versitygw fake-gcs-server "
  have_azurite || packages+="azurite "
  [[ -n $packages ]] || return 0
  echo "oracles missing: $packages" >&2
  return 1
}

case ${1:-} in
--check) report_missing; exit ;;
'') ;;
*) echo "usage: build/scripts/install-oracles.sh [--check]" >&2; exit 2 ;;
esac

mapfile -t packages < <(missing_packages | sort -u)
if ((${#packages[@]})) && command -v apt-get >/dev/null && ((EUID == 0)); then
  export DEBIAN_FRONTEND=noninteractive
  install() { timeout 400 apt-get install -y -q --no-install-recommends "$@" >/dev/null; }
  echo "installing ${packages[*]}"
  timeout 120 apt-get update -q >/dev/null || echo "apt-get update failed; trying with the lists there are" >&2
  # Installing all at once is fastest, but one unknown package name stops all.
  install "${packages[@]}" || for p in "${packages[@]}"; do install "$p" || true; done
fi
if ! have_azurite && command -v npm >/dev/null; then
  echo "installing $azurite"
  npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$azurite_folder" "${azurite/-/@}" || true
fi
report_missing || echo "going on without them" >&2
