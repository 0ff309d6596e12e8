	.file	"table.c"
	.text
	.globl	table                           # -- Begin function table
	.p2align	4
	.type	table,@function
table:                                  # @table
	.cfi_startproc
# %bb.0:
	incl	.Lmipraw1(%rip)
	je	.Lmip1first
.Lmip1back:
	pushq	%rbp
	.cfi_def_cfa_offset 16
	pushq	%r14
	.cfi_def_cfa_offset 24
	pushq	%rbx
	.cfi_def_cfa_offset 32
	.cfi_offset %rbx, -32
	.cfi_offset %r14, -24
	.cfi_offset %rbp, -16
	testl	%edi, %edi
	jle	.LBB0_1
# %bb.3:
.Lmip1b0:
	movb	$0, .Lmipraw1+8(%rip)
	movl	%edi, %ebx
	xorl	%r14d, %r14d
	xorl	%ebp, %ebp
	jmp	.LBB0_4
	.p2align	4
.LBB0_6:                                #   in Loop: Header=BB0_4 Depth=1
.Lmip1b1:
	movb	$0, .Lmipraw1+9(%rip)
	incl	%r14d
	cmpl	%r14d, %ebx
	je	.LBB0_2
.LBB0_4:                                # =>This Inner Loop Header: Depth=1
.Lmip1b2:
	movb	$0, .Lmipraw1+10(%rip)
	testb	$1, %r14b
	je	.LBB0_6
# %bb.5:                                #   in Loop: Header=BB0_4 Depth=1
.Lmip1b3:
	movb	$0, .Lmipraw1+11(%rip)
	movl	%r14d, %edi
	callq	helper
	addl	%eax, %ebp
	jmp	.LBB0_6
.LBB0_1:
.Lmip1b4:
	movb	$0, .Lmipraw1+12(%rip)
	xorl	%ebp, %ebp
.LBB0_2:
.Lmip1b5:
	movb	$0, .Lmipraw1+13(%rip)
	movl	%ebp, %eax
	popq	%rbx
	.cfi_def_cfa_offset 24
	popq	%r14
	.cfi_def_cfa_offset 16
	popq	%rbp
	.cfi_def_cfa_offset 8
	retq
.Lfunc_end0:
.Lmip1first:
	leaq	.Lmipraw1(%rip), %r11
	callq	__profuse_mip_first
	jmp	.Lmip1back
.Lmip1end:
	.size	table, .Lfunc_end0-table
	.cfi_endproc
                                        # -- End function
	.p2align	4                               # -- Begin function helper
	.type	helper,@function
helper:                                 # @helper
	.cfi_startproc
# %bb.0:
                                        # kill: def $edi killed $edi def $rdi
	incl	.Lmipraw2(%rip)
	je	.Lmip2first
.Lmip2back:
	leal	100(%rdi), %eax
	retq
.Lfunc_end1:
.Lmip2first:
	leaq	.Lmipraw2(%rip), %r11
	callq	__profuse_mip_first
	jmp	.Lmip2back
.Lmip2end:
	.size	helper, .Lfunc_end1-helper
	.cfi_endproc
                                        # -- End function
	.globl	unused                          # -- Begin function unused
	.p2align	4
	.type	unused,@function
unused:                                 # @unused
	.cfi_startproc
# %bb.0:
	incl	.Lmipraw3(%rip)
	je	.Lmip3first
.Lmip3back:
	pushq	%rax
	.cfi_def_cfa_offset 16
	callq	helper
	addl	%eax, %eax
	popq	%rcx
	.cfi_def_cfa_offset 8
	retq
.Lfunc_end2:
.Lmip3first:
	leaq	.Lmipraw3(%rip), %r11
	callq	__profuse_mip_first
	jmp	.Lmip3back
.Lmip3end:
	.size	unused, .Lfunc_end2-unused
	.cfi_endproc
                                        # -- End function
	.section	".note.GNU-stack","",@progbits
	.addrsig

	.section	__llvm_mipraw,"awGR",@progbits,__llvm_mipraw_header,comdat
	.p2align	3
.Lmiphdr1:
	.long	0x50494dfb
	.short	8
	.short	0x11
	.long	0xe
	.long	0x2661e9d4
	.quad	0
	.long	0
	.long	0x20
	.section	__llvm_mipraw,"aw",@progbits
	.p2align	2
.Lmipraw1:
	.long	0xffffffff
	.long	0xffffffff
	.fill	6,1,255
	.section	__llvm_mipraw,"aw",@progbits
	.p2align	2
.Lmipraw2:
	.long	0xffffffff
	.long	0xffffffff
	.section	__llvm_mipraw,"aw",@progbits
	.p2align	2
.Lmipraw3:
	.long	0xffffffff
	.long	0xffffffff
	.section	__llvm_mipmap,"wGR",@progbits,__llvm_mipmap_header,comdat
	.p2align	3
.Lmiphdr4:
	.long	0x50494dfb
	.short	8
	.short	0x14
	.long	0xe
	.long	0x2661e9d4
	.quad	__start___llvm_mipraw-.Lmiphdr4
	.long	0
	.long	0x20
	.section	__llvm_mipmap,"w",@progbits
	.p2align	3
.Lmip1ref:
	.quad	.Lmipraw1-.Lmip1ref
	.quad	table-.Lmip1ref
	.long	.Lmip1end-table
	.long	0x47e2658b
	.long	6
	.long	.Lmip1b0-table
	.long	.Lmip1b1-table
	.long	.Lmip1b2-table
	.long	.Lmip1b3-table
	.long	.Lmip1b4-table
	.long	.Lmip1b5-table
	.long	5
	.ascii	"table"
	.section	__llvm_mipmap,"w",@progbits
	.p2align	3
.Lmip2ref:
	.quad	.Lmipraw2-.Lmip2ref
	.quad	helper-.Lmip2ref
	.long	.Lmip2end-helper
	.long	0x0
	.long	0
	.long	6
	.ascii	"helper"
	.section	__llvm_mipmap,"w",@progbits
	.p2align	3
.Lmip3ref:
	.quad	.Lmipraw3-.Lmip3ref
	.quad	unused-.Lmip3ref
	.long	.Lmip3end-unused
	.long	0x0
	.long	0
	.long	6
	.ascii	"unused"
