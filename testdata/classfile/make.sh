#!/usr/bin/env bash
# Makes the class files beside it from src. JAVA25 is the folder of a JDK 25.
set -euo pipefail
cd "$(dirname "$0")"
javac=${JAVA25:?folder of a JDK 25}/bin/javac

rm -rf java8 java25
"$javac" -encoding UTF-8 -Xlint:-options --release 8 -g:none -d java8 src/sample/Plain.java
"$javac" -encoding UTF-8 --release 25 -g -d java25 src/module-info.java src/sample/*.java
