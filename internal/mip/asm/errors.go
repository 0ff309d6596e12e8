package asm

import "errors"

var (
	// ErrUnsupportedTarget is returned for a target that package instrument cannot print probes for.
	ErrUnsupportedTarget = errors.New("unsupported target")
	// ErrInstrumented is returned for text that has MIP records already.
	ErrInstrumented = errors.New("already instrumented")
	// ErrTooLarge is returned for text of 2 GiB and more.
	ErrTooLarge = errors.New("assembly file too large")
	// ErrNoMachineCode is returned for text that is not machine code: LLVM IR,
	// and what compilers print under link-time optimization.
	ErrNoMachineCode = errors.New("no machine code but LLVM IR or gcc's for link-time optimization")
)
