package mipdata

// The help texts have profuse's own wording; only names and meanings of options are the original's. PROG
// stands for the name of the program.
const helpTop = `OVERVIEW: machine instrumentation profiles (profuse speaking llvm-mipdata)

USAGE: PROG [subcommand] [options]

SUBCOMMANDS:

  create   - make an empty profile from the map of a program
  merge    - add raw profiles to a profile
  show     - show what is in a profile
  covered  - list the functions that ran
  order    - list the functions that ran in the order of their first calls
  info     - show statistics of a profile
  mip2yaml - print a profile as YAML
  yaml2mip - make a profile from YAML

  Type "PROG <subcommand> --help" for the options of one.
`

const helpCreate = `OVERVIEW: make an empty profile from the map of a program

USAGE: PROG create [options] -p <profile> <.mipmap>

The map may also be given as the linked program, library or .dSYM bundle that
contains it.

OPTIONS:

  -p, --profile=<profile>  The profile (.mip) to write
  --arch=<name>            The architecture to take from a universal binary
                           (default: arm64)
`

const helpMerge = `OVERVIEW: add raw profiles to a profile

USAGE: PROG merge [options] -p <profile> <.mipraw...>

The profile is replaced once all raw profiles are read. Those that cannot be
merged are skipped with a warning. A folder stands for the files in it, - for
standard input.

OPTIONS:

  -p, --profile=<profile>  The profile (.mip) to update
  --strict                 Fail if a raw profile cannot be merged
`

const helpShow = `OVERVIEW: show what is in a profile

USAGE: PROG show [options] -p <profile>

OPTIONS:

  -p, --profile=<profile>  The profile (.mip) to show
  -o, --output=<file>      Where to write; - is standard output (default)
  -r, --regex=<regex>      Show only functions whose names match
`

const helpCovered = `OVERVIEW: list the functions that ran

USAGE: PROG covered [options] -p <profile>

With debug info, also lists the functions that were inlined into them.

OPTIONS:

  -p, --profile=<profile>  The profile (.mip) to read
  -o, --output=<file>      Where to write; - is standard output (default)
  -r, --regex=<regex>      List only functions whose names match
`

const helpCoveredDebug = `  --paths                  List source files instead of names (needs --debug)
  --lines                  List source files and lines (needs --debug)
`

const helpOrder = `OVERVIEW: list the functions that ran in the order of their first calls

USAGE: PROG order [options] -p <profile>

OPTIONS:

  -p, --profile=<profile>  The profile (.mip) to read
  -r, --regex=<regex>      No effect, as in the original; "profuse order make"
                           has --function instead
`

const helpInfo = `OVERVIEW: show statistics of a profile

USAGE: PROG info [options] -p <profile>

OPTIONS:

  -p, --profile=<profile>  The profile (.mip) to read
  -o, --output=<file>      Where to write; - is standard output (default)
`

const helpMIP2YAML = `OVERVIEW: print a profile as YAML

USAGE: PROG mip2yaml [options] -p <profile>

OPTIONS:

  -p, --profile=<profile>  The profile (.mip) to read
  -o, --output=<file>      Where to write; - is standard output (default)
`

const helpYAML2MIP = `OVERVIEW: make a profile from YAML

USAGE: PROG yaml2mip [options] -p <profile> [<.yaml>]

Without a file, or with -, reads standard input.

OPTIONS:

  -p, --profile=<profile>  The profile (.mip) to write
`

const helpDebug = `  -d, --debug=<file>       Add source files and lines from the debug info in
                           this program or .dSYM bundle
  --arch=<name>            The architecture to take from a universal binary
                           (default: arm64)
`

const helpGeneric = `
  --color                  Colour (default: on a terminal)
  -h, --help               This text
  --version                The version
`
