	.file	"calc.c"
	.text
	.globl	add                             # -- Begin function add
	.p2align	4
	.type	add,@function
add:                                    # @add
	.cfi_startproc
# %bb.0:
	movb	$0, .Lmipraw1(%rip)
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	movl	%edi, -4(%rbp)
	movl	%esi, -8(%rbp)
	movl	-4(%rbp), %eax
	addl	-8(%rbp), %eax
	popq	%rbp
	.cfi_def_cfa %rsp, 8
	retq
.Lfunc_end0:
.Lmip1end:
	.size	add, .Lfunc_end0-add
	.cfi_endproc
                                        # -- End function
	.globl	pick                            # -- Begin function pick
	.p2align	4
	.type	pick,@function
pick:                                   # @pick
	.cfi_startproc
# %bb.0:
	movb	$0, .Lmipraw2(%rip)
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	subq	$32, %rsp
	movl	%edi, -8(%rbp)
	movl	%esi, -12(%rbp)
	movl	-8(%rbp), %eax
                                        # kill: def $rax killed $eax
	movq	%rax, -24(%rbp)                 # 8-byte Spill
	subq	$3, %rax
	ja	.LBB1_5
# %bb.7:
	movq	-24(%rbp), %rcx                 # 8-byte Reload
	leaq	.LJTI1_0(%rip), %rax
	movslq	(%rax,%rcx,4), %rcx
	addq	%rcx, %rax
	jmpq	*%rax
.LBB1_1:
	movl	-12(%rbp), %edi
	movl	$1, %esi
	callq	add
	movl	%eax, -4(%rbp)
	jmp	.LBB1_6
.LBB1_2:
	movl	-12(%rbp), %edi
	callq	helper
	movl	%eax, -4(%rbp)
	jmp	.LBB1_6
.LBB1_3:
	movl	-12(%rbp), %eax
	subl	$2, %eax
	movl	%eax, -4(%rbp)
	jmp	.LBB1_6
.LBB1_4:
	movl	-12(%rbp), %eax
	xorl	$5, %eax
	movl	%eax, -4(%rbp)
	jmp	.LBB1_6
.LBB1_5:
	movl	$-1, -4(%rbp)
.LBB1_6:
	movl	-4(%rbp), %eax
	addq	$32, %rsp
	popq	%rbp
	.cfi_def_cfa %rsp, 8
	retq
.Lfunc_end1:
.Lmip2end:
	.size	pick, .Lfunc_end1-pick
	.cfi_endproc
	.section	.rodata,"a",@progbits
	.p2align	2, 0x0
.LJTI1_0:
	.long	.LBB1_1-.LJTI1_0
	.long	.LBB1_2-.LJTI1_0
	.long	.LBB1_3-.LJTI1_0
	.long	.LBB1_4-.LJTI1_0
                                        # -- End function
	.text
	.p2align	4                               # -- Begin function helper
	.type	helper,@function
helper:                                 # @helper
	.cfi_startproc
# %bb.0:
	movb	$0, .Lmipraw3(%rip)
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	movl	%edi, -4(%rbp)
	imull	$3, -4(%rbp), %eax
	popq	%rbp
	.cfi_def_cfa %rsp, 8
	retq
.Lfunc_end2:
.Lmip3end:
	.size	helper, .Lfunc_end2-helper
	.cfi_endproc
                                        # -- End function
	.globl	never                           # -- Begin function never
	.p2align	4
	.type	never,@function
never:                                  # @never
	.cfi_startproc
# %bb.0:
	movb	$0, .Lmipraw4(%rip)
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	subq	$16, %rsp
	movl	%edi, -8(%rbp)
	cmpl	$3, -8(%rbp)
	jle	.LBB3_2
# %bb.1:
	movl	-8(%rbp), %edi
	movl	-8(%rbp), %esi
	callq	add
	movl	%eax, -4(%rbp)
	jmp	.LBB3_3
.LBB3_2:
	movl	$7, -4(%rbp)
.LBB3_3:
	movl	-4(%rbp), %eax
	addq	$16, %rsp
	popq	%rbp
	.cfi_def_cfa %rsp, 8
	retq
.Lfunc_end3:
.Lmip4end:
	.size	never, .Lfunc_end3-never
	.cfi_endproc
                                        # -- End function
	.globl	main                            # -- Begin function main
	.p2align	4
	.type	main,@function
main:                                   # @main
	.cfi_startproc
# %bb.0:
	movb	$0, .Lmipraw5(%rip)
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	subq	$32, %rsp
	movl	$0, -4(%rbp)
	movl	%edi, -8(%rbp)
	movq	%rsi, -16(%rbp)
	movl	$0, -20(%rbp)
	movl	$1, -24(%rbp)
.LBB4_1:                                # =>This Inner Loop Header: Depth=1
	movl	-24(%rbp), %eax
	cmpl	-8(%rbp), %eax
	jge	.LBB4_4
# %bb.2:                                #   in Loop: Header=BB4_1 Depth=1
	movq	-16(%rbp), %rax
	movslq	-24(%rbp), %rcx
	movq	(%rax,%rcx,8), %rdi
	callq	atoi@PLT
	movl	%eax, %edi
	movl	-20(%rbp), %esi
	callq	pick
	movl	%eax, -20(%rbp)
# %bb.3:                                #   in Loop: Header=BB4_1 Depth=1
	movl	-24(%rbp), %eax
	addl	$1, %eax
	movl	%eax, -24(%rbp)
	jmp	.LBB4_1
.LBB4_4:
	movl	-8(%rbp), %edi
	callq	table@PLT
	addl	-20(%rbp), %eax
	movl	%eax, -20(%rbp)
	movl	-20(%rbp), %esi
	leaq	.L.str(%rip), %rdi
	movb	$0, %al
	callq	printf@PLT
	xorl	%eax, %eax
	addq	$32, %rsp
	popq	%rbp
	.cfi_def_cfa %rsp, 8
	retq
.Lfunc_end4:
.Lmip5end:
	.size	main, .Lfunc_end4-main
	.cfi_endproc
                                        # -- End function
	.type	.L.str,@object                  # @.str
	.section	.rodata.str1.1,"aMS",@progbits,1
.L.str:
	.asciz	"%d\n"
	.size	.L.str, 4

	.section	".note.GNU-stack","",@progbits
	.addrsig
	.addrsig_sym add
	.addrsig_sym pick
	.addrsig_sym helper
	.addrsig_sym atoi
	.addrsig_sym table
	.addrsig_sym printf

	.section	__llvm_mipraw,"awGR",@progbits,__llvm_mipraw_header,comdat
	.p2align	3
.Lmiphdr1:
	.long	0x50494dfb
	.short	8
	.short	0x11
	.long	0x1
	.long	0x296e45f6
	.quad	0
	.long	0
	.long	0x20
	.section	__llvm_mipraw,"aw",@progbits
.Lmipraw1:
	.byte	0xff
	.section	__llvm_mipraw,"aw",@progbits
.Lmipraw2:
	.byte	0xff
	.section	__llvm_mipraw,"aw",@progbits
.Lmipraw3:
	.byte	0xff
	.section	__llvm_mipraw,"aw",@progbits
.Lmipraw4:
	.byte	0xff
	.section	__llvm_mipraw,"aw",@progbits
.Lmipraw5:
	.byte	0xff
	.section	__llvm_mipmap,"wGR",@progbits,__llvm_mipmap_header,comdat
	.p2align	3
.Lmiphdr4:
	.long	0x50494dfb
	.short	8
	.short	0x14
	.long	0x1
	.long	0x296e45f6
	.quad	__start___llvm_mipraw-.Lmiphdr4
	.long	0
	.long	0x20
	.section	__llvm_mipmap,"w",@progbits
	.p2align	3
.Lmip1ref:
	.quad	.Lmipraw1-.Lmip1ref
	.quad	add-.Lmip1ref
	.long	.Lmip1end-add
	.long	0x0
	.long	0
	.long	3
	.ascii	"add"
	.section	__llvm_mipmap,"w",@progbits
	.p2align	3
.Lmip2ref:
	.quad	.Lmipraw2-.Lmip2ref
	.quad	pick-.Lmip2ref
	.long	.Lmip2end-pick
	.long	0x0
	.long	0
	.long	4
	.ascii	"pick"
	.section	__llvm_mipmap,"w",@progbits
	.p2align	3
.Lmip3ref:
	.quad	.Lmipraw3-.Lmip3ref
	.quad	helper-.Lmip3ref
	.long	.Lmip3end-helper
	.long	0x0
	.long	0
	.long	6
	.ascii	"helper"
	.section	__llvm_mipmap,"w",@progbits
	.p2align	3
.Lmip4ref:
	.quad	.Lmipraw4-.Lmip4ref
	.quad	never-.Lmip4ref
	.long	.Lmip4end-never
	.long	0x0
	.long	0
	.long	5
	.ascii	"never"
	.section	__llvm_mipmap,"w",@progbits
	.p2align	3
.Lmip5ref:
	.quad	.Lmipraw5-.Lmip5ref
	.quad	main-.Lmip5ref
	.long	.Lmip5end-main
	.long	0x0
	.long	0
	.long	4
	.ascii	"main"
