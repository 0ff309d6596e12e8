	.build_version macos, 13, 0
	.section	__TEXT,__text,regular,pure_instructions
	.globl	_table                          ; -- Begin function table
	.p2align	2
_table:                                 ; @table
	.cfi_startproc
; %bb.0:
	adrp	x16, l_mipraw1@PAGE
	strb	wzr, [x16, l_mipraw1@PAGEOFF]
	stp	x22, x21, [sp, #-48]!           ; 16-byte Folded Spill
	stp	x20, x19, [sp, #16]             ; 16-byte Folded Spill
	stp	x29, x30, [sp, #32]             ; 16-byte Folded Spill
	add	x29, sp, #32
	.cfi_def_cfa w29, 16
	.cfi_offset w30, -8
	.cfi_offset w29, -16
	.cfi_offset w19, -24
	.cfi_offset w20, -32
	.cfi_offset w21, -40
	.cfi_offset w22, -48
	cmp	w0, #1
	b.lt	LBB0_5
; %bb.1:
	mov	x19, x0
	mov	w21, #0                         ; =0x0
	mov	w20, #0                         ; =0x0
	b	LBB0_3
LBB0_2:                                 ;   in Loop: Header=BB0_3 Depth=1
	add	w21, w21, #1
	cmp	w19, w21
	b.eq	LBB0_6
LBB0_3:                                 ; =>This Inner Loop Header: Depth=1
	tbz	w21, #0, LBB0_2
; %bb.4:                                ;   in Loop: Header=BB0_3 Depth=1
	mov	x0, x21
	bl	_helper
	add	w20, w0, w20
	b	LBB0_2
LBB0_5:
	mov	w20, #0                         ; =0x0
LBB0_6:
	mov	x0, x20
	ldp	x29, x30, [sp, #32]             ; 16-byte Folded Reload
	ldp	x20, x19, [sp, #16]             ; 16-byte Folded Reload
	ldp	x22, x21, [sp], #48             ; 16-byte Folded Reload
	ret
	.cfi_endproc
Lmip1end:
                                        ; -- End function
	.p2align	2                               ; -- Begin function helper
_helper:                                ; @helper
	.cfi_startproc
; %bb.0:
	adrp	x16, l_mipraw2@PAGE
	strb	wzr, [x16, l_mipraw2@PAGEOFF]
	add	w0, w0, #100
	ret
	.cfi_endproc
Lmip2end:
                                        ; -- End function
	.globl	_unused                         ; -- Begin function unused
	.p2align	2
_unused:                                ; @unused
	.cfi_startproc
; %bb.0:
	adrp	x16, l_mipraw3@PAGE
	strb	wzr, [x16, l_mipraw3@PAGEOFF]
	stp	x29, x30, [sp, #-16]!           ; 16-byte Folded Spill
	mov	x29, sp
	.cfi_def_cfa w29, 16
	.cfi_offset w30, -8
	.cfi_offset w29, -16
	bl	_helper
	lsl	w0, w0, #1
	ldp	x29, x30, [sp], #16             ; 16-byte Folded Reload
	ret
	.cfi_endproc
Lmip3end:
                                        ; -- End function
.subsections_via_symbols

	.section	__DATA,__llvm_mipraw
	.globl	__header$__llvm_mipraw
	.weak_definition	__header$__llvm_mipraw
	.no_dead_strip	__header$__llvm_mipraw
__header$__llvm_mipraw:
	.p2align	3
Lmiphdr1:
	.long	0x50494dfb
	.short	8
	.short	0x11
	.long	0x1
	.long	0xd7b54c76
	.quad	0
	.long	0
	.long	0x20
	.section	__DATA,__llvm_mipraw
l_mipraw1:
	.byte	0xff
	.section	__DATA,__llvm_mipraw
l_mipraw2:
	.byte	0xff
	.section	__DATA,__llvm_mipraw
l_mipraw3:
	.byte	0xff
	.section	__DATA,__llvm_mipmap,regular,live_support
	.globl	__header$__llvm_mipmap
	.weak_definition	__header$__llvm_mipmap
__header$__llvm_mipmap:
	.p2align	3
Lmiphdr4:
	.long	0x50494dfb
	.short	8
	.short	0x14
	.long	0x1
	.long	0xd7b54c76
	.quad	__header$__llvm_mipraw-Lmiphdr4
	.long	0
	.long	0x20
	.section	__DATA,__llvm_mipmap,regular,live_support
	.p2align	3
l_mipmap0:
Lmip1ref:
	.quad	l_mipraw1-Lmip1ref
	.quad	_table-Lmip1ref
	.long	Lmip1end-_table
	.long	0x0
	.long	0
	.long	6
	.ascii	"_table"
	.section	__DATA,__llvm_mipmap,regular,live_support
	.p2align	3
l_mipmap1:
Lmip2ref:
	.quad	l_mipraw2-Lmip2ref
	.quad	_helper-Lmip2ref
	.long	Lmip2end-_helper
	.long	0x0
	.long	0
	.long	7
	.ascii	"_helper"
	.section	__DATA,__llvm_mipmap,regular,live_support
	.p2align	3
l_mipmap2:
Lmip3ref:
	.quad	l_mipraw3-Lmip3ref
	.quad	_unused-Lmip3ref
	.long	Lmip3end-_unused
	.long	0x0
	.long	0
	.long	7
	.ascii	"_unused"
