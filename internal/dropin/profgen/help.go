package profgen

// versionText names the LLVM release whose llvm-profgen this tool replaces.
const versionText = "profuse, speaking llvm-profgen\n  LLVM version 22.1.8\n"

// The help text has profuse's own wording; only names, meanings and defaults of options are llvm-profgen's.
const help = `OVERVIEW: make sample profiles (profuse speaking llvm-profgen 22)

USAGE: PROG [options]

Profiles are by source lines, without contexts and pseudo probes.

OPTIONS:

  --binary=<file>               The program (required)
  -o, --output=<file>           Where to write; - is standard output (required)
  --unsymbolized-profile, --up=<file>
                                The input: sums of ranges and branches, as
                                --skip-symbolization writes them
  --llvm-sample-profile=<file>  … or a profile by lines, to trim or convert
  --format=extbinary|binary|text
                                Encoding of the result (default: extbinary)
  --debug-binary=<file>         Take the debug information from there
  --dwp=<file>                  Take split units from there (default: the
                                name of the program and .dwp)
  --use-dwarf-correlation       Make a profile by lines of a program that has
                                pseudo probes
  --use-offset=0                Addresses of the input are absolute
  --use-first-loadable-segment-as-base
                                They count from the first segment, instead of
                                the first one with code
  --trim-cold-profile           Drop functions without hot code
  --update-total-samples        Totals of functions are sums of their counts
  --fill-zero-for-all-funcs     Also list functions that did not run
  --use-md5                     Write GUIDs instead of names, in extbinary
  --populate-profile-symbol-list
                                Add the names of all functions
  --show-density                Print the density of the profile
  --profile-density-threshold=<n>
                                Warn below this density (default: 50)
  --profile-density-cutoff-hot=<n>
                                The share of hot code in millionths
                                (default: 990000)
  --color=0|1                   Colors of messages
  --help, --version             Print this text, or the version
`
