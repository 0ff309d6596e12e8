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
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	subq	$16, %rsp
	movl	%edi, -4(%rbp)
	movl	$0, -8(%rbp)
	movl	$0, -12(%rbp)
.LBB0_1:                                # =>This Inner Loop Header: Depth=1
	movl	-12(%rbp), %eax
	cmpl	-4(%rbp), %eax
	jge	.LBB0_6
# %bb.2:                                #   in Loop: Header=BB0_1 Depth=1
	movl	-12(%rbp), %eax
	movl	$2, %ecx
	cltd
	idivl	%ecx
	cmpl	$0, %edx
	je	.LBB0_4
# %bb.3:                                #   in Loop: Header=BB0_1 Depth=1
	movl	-12(%rbp), %edi
	callq	helper
	addl	-8(%rbp), %eax
	movl	%eax, -8(%rbp)
.LBB0_4:                                #   in Loop: Header=BB0_1 Depth=1
	jmp	.LBB0_5
.LBB0_5:                                #   in Loop: Header=BB0_1 Depth=1
	movl	-12(%rbp), %eax
	addl	$1, %eax
	movl	%eax, -12(%rbp)
	jmp	.LBB0_1
.LBB0_6:
	movl	-8(%rbp), %eax
	addq	$16, %rsp
	popq	%rbp
	.cfi_def_cfa %rsp, 8
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
	incl	.Lmipraw2(%rip)
	je	.Lmip2first
.Lmip2back:
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	movl	%edi, -4(%rbp)
	movl	-4(%rbp), %eax
	addl	$100, %eax
	popq	%rbp
	.cfi_def_cfa %rsp, 8
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
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	subq	$16, %rsp
	movl	%edi, -4(%rbp)
	movl	-4(%rbp), %edi
	callq	helper
	shll	%eax
	addq	$16, %rsp
	popq	%rbp
	.cfi_def_cfa %rsp, 8
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
	.addrsig_sym helper

	.section	__llvm_mipraw,"awGR",@progbits,__llvm_mipraw_header,comdat
	.p2align	3
.Lmiphdr1:
	.long	0x50494dfb
	.short	8
	.short	0x11
	.long	0xc
	.long	0xabfbaa4b
	.quad	0
	.long	0
	.long	0x20
	.section	__llvm_mipraw,"aw",@progbits
	.p2align	2
.Lmipraw1:
	.long	0xffffffff
	.long	0xffffffff
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
	.long	0xc
	.long	0xabfbaa4b
	.quad	__start___llvm_mipraw-.Lmiphdr4
	.long	0
	.long	0x20
	.section	__llvm_mipmap,"w",@progbits
	.p2align	3
.Lmip1ref:
	.quad	.Lmipraw1-.Lmip1ref
	.quad	table-.Lmip1ref
	.long	.Lmip1end-table
	.long	0x0
	.long	0
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
