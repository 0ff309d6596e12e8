#!/bin/bash
# Tool: c8 9.1.0 with Node.js 20.20.2
# Guess: A file without a condition has no branches: BRF:0.
# Seen: It has one branch per function that ran and one for the file itself, and all of them are
#   taken: straight code raises the rate of covered branches, while functions that never ran add
#   no branch that lowers it.
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

cat >straight.js <<'END'
function called() { return 1; }
function never() { return 2; }
called();
END
c8 --clean --reporter=lcovonly --reports-dir=out node straight.js >/dev/null
expect 'the branches of a file without conditions' 'BRDA:1,0,0,1
BRDA:1,1,0,1
BRF:2
BRH:2' "$(grep ^BR out/lcov.info)"
