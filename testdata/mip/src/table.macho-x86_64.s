	.build_version macos, 13, 0
	.section	__TEXT,__text,regular,pure_instructions
	.globl	_table                          ## -- Begin function table
	.p2align	4
_table:                                 ## @table
	.cfi_startproc
## %bb.0:
	movb	$0, l_mipraw1(%rip)
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	pushq	%r15
	pushq	%r14
	pushq	%rbx
	pushq	%rax
	.cfi_offset %rbx, -40
	.cfi_offset %r14, -32
	.cfi_offset %r15, -24
	testl	%edi, %edi
	jle	LBB0_1
## %bb.3:
	movl	%edi, %ebx
	xorl	%r15d, %r15d
	xorl	%r14d, %r14d
	jmp	LBB0_4
	.p2align	4
LBB0_6:                                 ##   in Loop: Header=BB0_4 Depth=1
	incl	%r15d
	cmpl	%r15d, %ebx
	je	LBB0_2
LBB0_4:                                 ## =>This Inner Loop Header: Depth=1
	testb	$1, %r15b
	je	LBB0_6
## %bb.5:                               ##   in Loop: Header=BB0_4 Depth=1
	movl	%r15d, %edi
	callq	_helper
	addl	%eax, %r14d
	jmp	LBB0_6
LBB0_1:
	xorl	%r14d, %r14d
LBB0_2:
	movl	%r14d, %eax
	addq	$8, %rsp
	popq	%rbx
	popq	%r14
	popq	%r15
	popq	%rbp
	retq
	.cfi_endproc
Lmip1end:
                                        ## -- End function
	.p2align	4                               ## -- Begin function helper
_helper:                                ## @helper
	.cfi_startproc
## %bb.0:
	movb	$0, l_mipraw2(%rip)
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
                                        ## kill: def $edi killed $edi def $rdi
	leal	100(%rdi), %eax
	popq	%rbp
	retq
	.cfi_endproc
Lmip2end:
                                        ## -- End function
	.globl	_unused                         ## -- Begin function unused
	.p2align	4
_unused:                                ## @unused
	.cfi_startproc
## %bb.0:
	movb	$0, l_mipraw3(%rip)
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	callq	_helper
	addl	%eax, %eax
	popq	%rbp
	retq
	.cfi_endproc
Lmip3end:
                                        ## -- End function
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
