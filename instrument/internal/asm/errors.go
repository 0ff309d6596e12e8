package asm

import "errors"

var (
	// ErrUnsupportedTarget is returned for targets, and profile types on
	// targets, that there is no code for.
	ErrUnsupportedTarget = errors.New("unsupported target")
	// ErrInstrumented is returned for text that has MIP records already.
	ErrInstrumented = errors.New("already instrumented")
	// ErrTooLarge is returned for text of 2 GiB and more.
	ErrTooLarge = errors.New("assembly file too large")
	// ErrNoMachineCode is returned for text without instructions by design:
	// LLVM IR, and what compilers print under link-time optimization.
	ErrNoMachineCode = errors.New("no machine code: link-time optimization has to be off")
)
