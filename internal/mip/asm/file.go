package asm

import "bytes"

// Read parses the text into statements, sections and functions, and finds how control may reach each label.
func Read(src []byte, target Target) (*File, error) {
	if err := checkText(src); err != nil {
		return nil, err
	}
	if err := target.check(); err != nil {
		return nil, err
	}
	f := &File{Src: src, Target: target, isa: target.Arch.isa()}
	if err := f.lex(); err != nil {
		return nil, err
	}
	if err := f.trackSections(); err != nil {
		return nil, err
	}
	f.recover()
	f.findReferences()
	return f, nil
}

// LocalStem is part of every local label that package instrument adds. Text
// that already has it is refused.
const LocalStem = "Lmip_"

// checkText refuses text that is already instrumented or not machine code.
func checkText(src []byte) error {
	switch {
	case bytes.HasPrefix(src, []byte("; ModuleID")), bytes.HasPrefix(src, []byte("BC\xc0\xde")),
		bytes.Contains(src, []byte("__gnu_lto_slim,")):
		return ErrNoMachineCode
	case bytes.Contains(src, []byte(LocalStem)):
		return ErrInstrumented
	}
	return nil
}
