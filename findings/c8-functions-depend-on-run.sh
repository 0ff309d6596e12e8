#!/bin/bash
# Tool: c8 9.1.0 with Node.js 20.20.2
# Guess: A file has as many functions as its source, called or not, so functions found (FNF) does
#   not depend on the run.
# Seen: The engine does not list functions inside a function that was never called: the same file
#   has 1 function when outer did not run and 3 when it ran. More tests can make the rate of
#   covered functions fall.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

# expect WHAT WANTED GOT: ends with exit 1 if the behaviour has changed.
expect() {
	[ "$2" = "$3" ] && return
	printf '%s has changed. Recorded:\n%s\nNow:\n%s\n' "$1" "$2" "$3"
	exit 1
}

# Node.js 20.20.2 (the installed one if it is that version) and c8 9.1.0, from npm.
packages=c8@9.1.0
[ "$(node --version 2>/dev/null)" = v20.20.2 ] || packages="$packages node@20.20.2"
npm install --silent --no-audit --no-fund --prefix "$folder" $packages >npm.log 2>&1
export PATH=$folder/node_modules/.bin:$PATH
expect 'the version of c8' 9.1.0 "$(c8 --version)"
expect 'the version of Node.js' v20.20.2 "$(node --version)"

cat >program.js <<'END'
function outer() {
  function first() { return 1; }
  function second() { return 2; }
  return first();
}
if (process.argv[2]) outer();
END
functions() { c8 --clean --reporter=lcovonly --reports-dir=out node program.js "$@" >/dev/null; grep -E '^FN[FH]' out/lcov.info | paste -sd' ' -; }
expect 'the functions of a run without outer' 'FNF:1 FNH:0' "$(functions)"
expect 'the functions of a run with outer' 'FNF:3 FNH:2' "$(functions call)"
