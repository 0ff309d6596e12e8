package cc

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/profuse-pgo/profuse/internal/mip/asm"
)

// argKind says which steps of a compilation (compiling, assembling, linking) get an argument.
type argKind byte

const (
	argCompile argKind = iota // compiling; all arguments of no other kind
	argInput
	argOutput   // -o FILE
	argLanguage // -x LANGUAGE
	argMode     // -c, -S
	argDepend   // -MD and its relatives
	argLink     // -lm, -Wl,…
	argAssemble // -Wa,…
	argMachine  // all steps: the target, and the folders of its tools
	argDebug    // compiling and assembling: -g
	argKeep     // -save-temps
	argIgnored  // of no step
)

// An argument is one option with its value, or one input file.
type argument struct {
	kind  argKind
	words []string // as given
	value string   // of argOutput: the file; of argInput: the file
	// Of argInput: the kind of file, and the language that -x has set, "" if none.
	input    inputKind
	language string
}

// inputKind says what the compiler makes of an input file.
type inputKind byte

const (
	inputLinker    inputKind = iota // linked: objects, libraries
	inputSource                     // compiled, and instrumented
	inputAssembler                  // assembled unchanged
	inputHeader                     // precompiled
	inputForeign                    // of languages whose toolchains print no assembly for a single target
)

// separate lists the options whose value is the next argument.
var separate = asm.Words(`-o -x -I -D -U -L -l -include -imacros -isystem -iquote -idirafter -iprefix
		-iwithprefix -iwithprefixbefore -isysroot -imultilib -iframework -iframeworkwithsysroot -cxx-isystem -MF -MT -MQ -MJ
		-Xlinker -Xassembler -Xpreprocessor -Xclang -Xanalyzer -Xopenmp-target -mllvm -target -arch -T -u -z -e -A -F
		-framework -gcc-toolchain -J -B -b -V -G --param --sysroot --output --include --include-directory --language
		-dumpbase -dumpdir -dumpbase-ext -wrapper --config -resource-dir -ivfsoverlay -include-pch -aux-info
		-install_name -current_version -compatibility_version -weak_library -weak_framework -rpath -soname
		-Tdata -Ttext -Tbss -dependency-file -serialize-diagnostics --serialize-diagnostics -working-directory
		-ccc-gcc-name -Xcuda-ptxas -Xcuda-fatbinary -segprot -undefined
		-exported_symbols_list -unexported_symbols_list -order_file -multiply_defined -image_base -init -bundle_loader
		-allowable_client -client_name -umbrella -sub_library -sub_umbrella -filelist -interface`)

// wordsOf returns 2 if the argument takes the next one as its value.
func wordsOf(arg string) int {
	if separate[arg] || strings.HasPrefix(arg, "-Xarch_") {
		return 2
	}
	return 1
}

func parseArguments(args []string) []argument {
	var list []argument
	language, options := "", true
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if arg == "--" && options {
			options = false // inputs follow; "--" is not passed on, since the driver appends options
			continue
		}
		if !options || arg == "-" || !strings.HasPrefix(arg, "-") {
			list = append(list, argument{
				kind: argInput, words: []string{arg}, value: arg, language: language, input: inputKindOf(arg, language),
			})
			continue
		}
		a := argument{words: args[i : i+1]}
		value := ""
		if wordsOf(arg) == 2 && i+1 < len(args) {
			i++
			a.words = args[i-1 : i+1]
			value = args[i]
		}
		a.kind = kindOf(arg, value)
		switch a.kind {
		case argOutput:
			a.value = value
			switch {
			case strings.HasPrefix(arg, "--output="):
				a.value = strings.TrimPrefix(arg, "--output=")
			case len(a.words) == 1:
				a.value = strings.TrimPrefix(arg, "-o")
			}
		case argLanguage:
			language = value
			if len(a.words) == 1 {
				language = strings.TrimPrefix(strings.TrimPrefix(arg, "--language="), "-x")
			}
			if language == "none" {
				language = ""
			}
		}
		list = append(list, a)
	}
	return list
}

// linkOptions are the options without a value that affect linking alone.
var linkOptions = asm.Words(`-rdynamic -s -nostartfiles -nodefaultlibs -nolibc
	-static-libgcc -shared-libgcc -static-libstdc++ -static-libgfortran`)

// machinePrefixes are the prefixes, beside -m, of options that both assembling and linking need.
var machinePrefixes = []string{
	"--target=", "--sysroot", "-isysroot", "--gcc-toolchain", "-gcc-toolchain", "--gcc-install-dir", "-B", "-fintegrated-as",
	"-fno-integrated-as", "-ccc-gcc-name", "-specs=", "--specs=", "--config", "-no-canonical-prefixes",
}

// kindOf returns the steps that get an option. The order of the cases matters: -objc_load begins like
// -o, -mllvm like a machine option. Options of no known kind belong to the compiler.
func kindOf(arg, value string) argKind {
	name, _, _ := strings.Cut(arg, "=")
	has := func(prefix string) bool { return strings.HasPrefix(arg, prefix) }
	switch {
	case arg == "-objc_load", has("-object"):
		return argLink
	case arg == "-o" || has("-o") && len(arg) > 2, name == "--output":
		return argOutput
	case arg == "-x" || has("-x"), name == "--language":
		return argLanguage
	case arg == "-c", arg == "-S", arg == "--compile", arg == "--assemble":
		return argMode
	case arg == "-MD", arg == "-MMD", arg == "-MP", arg == "-MG", arg == "-MV", name == "--write-dependencies", name == "--write-user-dependencies",
		has("-MF"), has("-MT"), has("-MQ"), has("-MJ"):
		return argDepend
	case has("-Wa,"), arg == "-Xassembler":
		return argAssemble
	case has("-Wl,"), has("-l"), has("-L"), arg == "-Xlinker", arg == "-T", has("-fuse-ld"), arg == "-u", arg == "-z", arg == "-e",
		has("--ld-path"), linkOptions[arg], arg == "-framework", has("-rpath"), has("-T") && value == "" && len(arg) > 2:
		return argLink
	case arg == "-mllvm":
		return argCompile
	case has("-m") && len(arg) > 2, arg == "-target", arg == "-arch", slices.Contains([]string{"-EB", "-EL", "-pthread"}, arg):
		return argMachine
	case has("-fPIC"), has("-fpic"), has("-fPIE"), has("-fpie"), has("-fno-PIC"), has("-fno-pic"), has("-fno-PIE"), has("-fno-pie"):
		return argMachine
	case name == "-save-temps", name == "--save-temps":
		return argKeep
	case has("-g") && !has("-gcc-toolchain"):
		return argDebug
	}
	for _, p := range machinePrefixes {
		if has(p) {
			return argMachine
		}
	}
	return argCompile
}

// sourceExtensions are the extensions of sources that gcc and clang compile, including LLVM IR.
var sourceExtensions = asm.Words(`.c .i .ii .cc .cp .cxx .cpp .c++ .CPP .CXX .C .m .mm .M .mi .mii .ll .bc
		.f .for .ftn .F .FOR .fpp .FPP .FTN .f77 .f90 .f95 .f03 .f08 .F77 .F90 .F95 .F03 .F08
		.go .d .adb .ads`)

// gccOnly are the extensions of languages for which gcc has a compiler, but clang has none.
var gccOnly = asm.Words(".go .d .adb .ads")

// inputKindOf returns the kind of an input by the language of -x, else by the extension, which counts
// in upper and lower case: .C is C++, .S is preprocessed.
func inputKindOf(file, language string) inputKind {
	switch {
	case language == "":
	case language == "assembler" || language == "assembler-with-cpp":
		return inputAssembler
	case strings.HasSuffix(language, "-header"):
		return inputHeader
	case language == "cuda" || language == "hip" || language == "cl" || language == "clcpp" || language == "renderscript":
		return inputForeign
	default:
		return inputSource
	}
	if strings.HasPrefix(file, "-") {
		return inputLinker
	}
	switch ext := filepath.Ext(file); {
	case sourceExtensions[ext]:
		return inputSource
	case ext == ".s" || ext == ".S" || ext == ".sx" || ext == ".asm":
		return inputAssembler
	case slices.Contains([]string{".h", ".hh", ".H", ".hp", ".hxx", ".hpp", ".HPP", ".h++", ".tcc", ".pch"}, ext):
		return inputHeader
	case slices.Contains([]string{".cu", ".cui", ".hip", ".cl"}, ext):
		return inputForeign
	}
	return inputLinker
}

// compilesNothing reports whether the option makes a compiler produce neither objects nor programs.
func compilesNothing(arg string) bool {
	switch arg {
	case "-E", "--preprocess", "-M", "-MM", "--dependencies", "--user-dependencies", "-fsyntax-only", "-###", "--analyze", "--version",
		"--help", "-dumpversion", "-dumpfullversion", "-dumpmachine", "-dumpspecs", "--precompile", "-cc1", "-cc1as", "--cc1", "-emit-ast",
		"-verify-pch", "-extract-api":
		return true
	}
	return strings.HasPrefix(arg, "-print-") || strings.HasPrefix(arg, "--print-") || strings.HasPrefix(arg, "--help=")
}
