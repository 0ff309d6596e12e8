package profdata

// toolName is the tool that profuse stands in for.
const toolName = "llvm-profdata"

// The help texts have profuse's own wording; only names, meanings and defaults of options are llvm-profdata's.
const helpTop = `OVERVIEW: LLVM profile data (profuse speaking llvm-profdata)

USAGE: PROG [subcommand] [options]

SUBCOMMANDS:

  merge   - merge profiles into one
  show    - show what is in a profile
  order   - order functions by the temporal traces of a profile
  overlap - tell how alike two profiles are

  Type "PROG <subcommand> --help" for the options of one.
`

// The help texts of the commands end with helpGeneric. PROG stands for the name of the program.
const helpMerge = `OVERVIEW: merge raw, indexed and text profiles, and heap profiles, into one

USAGE: PROG merge [options] <filename...>

A file may be a folder, which is searched for files, or - for standard input.

OPTIONS:

  -o, --output=<file>           Where to write; - is standard output (default)
  --binary, --extbinary         Write the indexed format (default)
  --text                        Write the text format
  --sparse                      Leave out functions that never ran
  --weighted-input=<n>,<file>   An input that counts n times
  -f, --input-files=<file>      Read a list of inputs, a line each: [<n>,]<file>
  --failure-mode=warn|any|all   When bad inputs make the run fail: never, any
                                (default), or when all are bad
  -j, --num-threads=<n>         Threads to merge with (default: by processors)
  --function=<regex>            Keep only the functions that match
  --no-function=<regex>         Leave out the functions that match
  -r, --remapping-file=<file>   Give functions other names: a line each, OLD NEW
  --debug-info=<file>           Complete profiles without functions and names
                                from the debug information of their program
  --binary-file=<file>          … from the sections of their program
  --debug-file-directory=<dir>  … of the one with their build id in this folder
  --correlate=debug-info|binary … of this kind
  --max-debug-info-correlation-warnings=<n>
                                Warnings to print (default: 5; 0 is all)
  --profiled-binary=<file>      The program that raw MemProf profiles are of
  --memprof-version=2|3|4       Version of the memprof section (default: 3)
  --memprof-full-schema         Write all fields, not only what compilers need
  --memprof-random-hotness      Make contexts hot and cold at random
  --memprof-random-hotness-seed=<n>
                                Seed to do so with (default: the time)
  --temporal-profile-trace-reservoir-size=<n>
                                Temporal traces to keep (default: 100)
  --temporal-profile-max-trace-length=<n>
                                Functions to keep of each (default: 10000)
  --keep-vtable-symbols         Keep the names of virtual tables
  --write-prev-version          Write version 11 of the indexed format
  --dump-input-file-list        Print the inputs with their weights, and exit
  --supplement-instr-with-sample=<file>
                                Make functions warm or hot that are cold in the
                                input, but not in this sample profile
  --suppl-min-size-threshold=<n>
                                … if they have this many counters (default: 10)
  --instr-prof-cold-threshold=<n>
                                … if no counter is greater than this (default:
                                what the input says)
  --zero-counter-threshold=<x>  … without counts if more than this share of them
                                is zero (default: 0.7)

Sample profiles (AutoFDO, CSSPGO):

  --sample                      Merge sample profiles
  --binary                      Write the first binary format
  --use-md5                     Write the hashes of names
  --compress-all-sections       Compress the sections
  --split-layout                Functions without inlined ones in a section of
                                their own
  --gen-partial-profile         Say that the profile is of a part of the program
  --prof-sym-list=<file>        Add the names in this file, a line each, to the
                                list of all functions
  --drop-profile-symbol-list    Leave that list out
  --convert-sample-profile-layout=nest|flat
                                Make contexts into inlined functions, or all
                                functions flat
  --sample-trim-cold-context    Leave out cold contexts
  --sample-merge-cold-context   … and add them to those of fewer frames
  --sample-frame-depth-for-cold-context=<n>
                                … of as many (default: 1)
  --output-size-limit=<n>       Leave out the coldest functions until the result
                                is as small
`

const helpShow = `OVERVIEW: show what is in a profile

USAGE: PROG show [options] <profdata-file>

OPTIONS:

  -o, --output=<file>           Where to write; - is standard output (default)
  --all-functions               Show every function
  --function=<text>             Show the functions with this in their names
  --counts                      With their counters
  --ic-targets                  With the targets of indirect calls
  --memop-sizes                 With the sizes of memory operations
  --show-vtables                With the virtual tables
  --text                        As text profile
  --covered                     Only the names of the functions that ran
  --showcs                      The context-sensitive counts, not the others
  --detailed-summary            How the counts are spread
  --detailed-summary-cutoffs=<n,...>
                                At these shares, in millionths
  --topn=<n>                    The n functions with the greatest counters
  --hot-func-list               The functions that are hot
  --value-cutoff=<n>            Pass over functions whose counters are all less
  --list-below-cutoff           List those instead
  --binary-ids                  The binary ids
  --profile-version             The version of the format
  --temporal-profile-traces     The temporal traces
  --memory                      The heap profile (MemProf), as YAML
  --profiled-binary=<file>      The program that a raw one is of
  --debug-info=<file>           What a program built for correlation knows of
                                its counters; with --show-format=yaml all of it

Sample profiles (AutoFDO, CSSPGO):

  --sample                      Show all functions, or that of --function
  --json                        As JSON
  --show-prof-sym-list          Also the list of all functions
  --show-sec-info-only          Only the sections of the file
`

const helpOrder = `OVERVIEW: order functions by the temporal traces of a profile

USAGE: PROG order [options] <profdata-file>

Functions that are first called at about the same time in as many runs as
possible come together.

OPTIONS:

  -o, --output=<file>           Where to write; - is standard output (default)
  --num-test-traces=<n>         Keep the last n traces out and say how many page
                                faults they would cause
`

const helpOverlap = `OVERVIEW: tell how alike two profiles are

USAGE: PROG overlap [options] <base-profile> <test-profile>

OPTIONS:

  -o, --output=<file>           Where to write; - is standard output (default)
  --cs                          Compare the context-sensitive counts
  --value-cutoff=<n>            Also for each function with a counter this great
  --function=<text>             Also for functions with this in their names
  --sample                      Compare sample profiles
  --similarity-cutoff=<n>       Also for functions that are less alike than this,
                                in millionths
`

// helpGeneric has the options that every command of LLVM has (cl::getGeneralCategory).
const helpGeneric = `
  --color                       Colour in messages (default: on a terminal)
  -h, --help                    This text
  --version                     The version
`
