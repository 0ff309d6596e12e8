package asm

import "bytes"

// Read takes the text apart into statements, sections and functions, and
// finds how control may reach each label. The zero target means that of the
// text.
func Read(src []byte, target Target) (*File, error) {
	if err := checkText(src); err != nil {
		return nil, err
	}
	if target == (Target{}) {
		var err error
		if target, err = DetectTarget(src); err != nil {
			return nil, err
		}
	}
	if err := target.check(); err != nil {
		return nil, err
	}
	f := &File{Src: src, Target: target, ISA: target.isa()}
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

// LocalStem is part of all local labels that are added. Text that has it
// already is refused.
const LocalStem = "Lmip_"

// checkText refuses text that cannot or must not be instrumented.
func checkText(src []byte) error {
	switch {
	case bytes.HasPrefix(src, []byte("; ModuleID")), bytes.HasPrefix(src, []byte("BC\xc0\xde")),
		bytes.Contains(src, []byte(".gnu.lto_")):
		return ErrNoMachineCode
	case bytes.Contains(src, []byte(LocalStem)):
		return ErrInstrumented
	}
	return nil
}
