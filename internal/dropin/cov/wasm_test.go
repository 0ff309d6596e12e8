package cov

import (
	"path/filepath"
	"testing"

	"github.com/profuse-pgo/profuse/test/oracle"
)

// TestWasm compares what modules, objects and archives for WebAssembly give. llvm-cov reads only linked modules of
// LLVM 20 and later whose data segments have names.
func TestWasm(t *testing.T) {
	logCompared(t)
	clang, ld := llvmTool(t, 22, "clang"), oracle.Tool(t, "/usr/lib/llvm-22/bin/wasm-ld", "wasm-ld-22")
	llvmTool(t, 22, "llvm-cov")
	shared := filepath.Join(oracle.Root(t), "testdata/wasm")
	copySources(t)
	sh(t, clang, "--target=wasm32", "-O0", "-DVERSION=10", "-w", "-c", filepath.Join(shared, "runtime.c"))
	sh(t, clang, append(instrumented, "--target=wasm32", "-fcoverage-mcdc", "-w", "-c", "decisions.c", "second.cpp")...)
	link := func(output string, args ...string) {
		sh(t, ld, append([]string{"decisions.o", "runtime.o", "second.o", "--unresolved-symbols=ignore-all", "-o", output}, args...)...)
	}
	exported := []string{"--no-entry", "--export=run", "--export=profile", "--export=profileEnd"}
	link("program", append(exported, "--no-gc-sections")...)
	link("used", exported...)
	link("relocations", append(exported, "--emit-relocs")...)
	link("stripped", append(exported, "--strip-all")...)
	link("joined", "-r")
	sh(t, clang, append(instrumented, "--target=wasm64", "-w", "-c", "decisions.c", "-o", "wide.o")...)
	sh(t, ld, "-mwasm64", "wide.o", "--no-entry", "--no-gc-sections", "--unresolved-symbols=ignore-all", "-o", "wide")
	sh(t, oracle.Tool(t, "/usr/lib/llvm-22/bin/llvm-ar", "llvm-ar-22"), "rc", "lib.a", "decisions.o")
	// Components hold modules.
	oracle.WriteFile(t, "component", []byte("\x00asm\x0d\x00\x01\x00"))
	programs := []string{"program", "used", "relocations", "stripped", "joined", "wide", "lib.a", "decisions.o", "component"}
	for _, name := range []string{"all-16.wasm", "all-19.wasm", "pie-19.wasm", "lost-16.wasm", "stripped-22.wasm", "used-22.wasm", "program-19.o"} {
		programs = append(programs, filepath.Join(shared, name))
	}
	for _, name := range programs {
		compare(t, "report", "-empty-profile", name)
		compare(t, "export", "-format=lcov", "-empty-profile", "-arch=wasm32", name)
	}
	compare(t, "report", "-empty-profile", "-arch=wasm64", "wide")

	node := oracle.Tool(t, "node")
	sh(t, node, filepath.Join(shared, "run.mjs"), "program", "program.profraw")
	sh(t, llvmTool(t, 22, "llvm-profdata"), "merge", "program.profraw", "-o", "program.profdata")
	compareProgram(t, "program")
}
