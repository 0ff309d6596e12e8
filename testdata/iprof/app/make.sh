#!/usr/bin/env bash
# Compiles src to classes. The bytecode indexes in ../app.iprof are those of
# what comes out; any javac since Java 8 writes the same code.
set -euo pipefail
cd "$(dirname "$0")"
rm -rf classes
javac -encoding UTF-8 -Xlint:-options --release 8 -g -d classes src/app/*.java
