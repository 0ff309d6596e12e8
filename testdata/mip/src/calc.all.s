	.file	"calc.c"
	.text
	.globl	add                             # -- Begin function add
	.p2align	4
	.type	add,@function
add:                                    # @add
	.cfi_startproc
# %bb.0:
                                        # kill: def $esi killed $esi def $rsi
                                        # kill: def $edi killed $edi def $rdi
	incl	.Lmipraw1(%rip)
	je	.Lmip1first
.Lmip1back:
	leal	(%rdi,%rsi), %eax
	retq
.Lfunc_end0:
.Lmip1first:
	leaq	.Lmipraw1(%rip), %r11
	callq	__profuse_mip_first
	jmp	.Lmip1back
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
	incl	.Lmipraw2(%rip)
	je	.Lmip2first
.Lmip2back:
	cmpl	$3, %edi
	ja	.LBB1_1
# %bb.2:
.Lmip2b0:
	movb	$0, .Lmipraw2+8(%rip)
	movl	%edi, %eax
	leaq	.LJTI1_0(%rip), %rcx
	movslq	(%rcx,%rax,4), %rax
	addq	%rcx, %rax
	jmpq	*%rax
.LBB1_3:
.Lmip2b1:
	movb	$0, .Lmipraw2+9(%rip)
	movl	%esi, %edi
	movl	$1, %esi
	jmp	add                             # TAILCALL
.LBB1_5:
.Lmip2b2:
	movb	$0, .Lmipraw2+10(%rip)
	addl	$-2, %esi
	movl	%esi, %eax
	retq
.LBB1_6:
.Lmip2b3:
	movb	$0, .Lmipraw2+11(%rip)
	xorl	$5, %esi
	movl	%esi, %eax
	retq
.LBB1_4:
.Lmip2b4:
	movb	$0, .Lmipraw2+12(%rip)
	movl	%esi, %edi
	jmp	helper                          # TAILCALL
.LBB1_1:
.Lmip2b5:
	movb	$0, .Lmipraw2+13(%rip)
	movl	$-1, %eax
	retq
.Lfunc_end1:
.Lmip2first:
	leaq	.Lmipraw2(%rip), %r11
	callq	__profuse_mip_first
	jmp	.Lmip2back
.Lmip2end:
	.size	pick, .Lfunc_end1-pick
	.cfi_endproc
	.section	.rodata,"a",@progbits
	.p2align	2, 0x0
.LJTI1_0:
	.long	.LBB1_3-.LJTI1_0
	.long	.LBB1_4-.LJTI1_0
	.long	.LBB1_5-.LJTI1_0
	.long	.LBB1_6-.LJTI1_0
                                        # -- End function
	.text
	.p2align	4                               # -- Begin function helper
	.type	helper,@function
helper:                                 # @helper
	.cfi_startproc
# %bb.0:
                                        # kill: def $edi killed $edi def $rdi
	incl	.Lmipraw3(%rip)
	je	.Lmip3first
.Lmip3back:
	leal	(%rdi,%rdi,2), %eax
	retq
.Lfunc_end2:
.Lmip3first:
	leaq	.Lmipraw3(%rip), %r11
	callq	__profuse_mip_first
	jmp	.Lmip3back
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
	incl	.Lmipraw4(%rip)
	je	.Lmip4first
.Lmip4back:
	cmpl	$4, %edi
	jl	.LBB3_1
# %bb.2:
.Lmip4b0:
	movb	$0, .Lmipraw4+8(%rip)
	movl	%edi, %esi
	jmp	add                             # TAILCALL
.LBB3_1:
.Lmip4b1:
	movb	$0, .Lmipraw4+9(%rip)
	movl	$7, %eax
	retq
.Lfunc_end3:
.Lmip4first:
	leaq	.Lmipraw4(%rip), %r11
	callq	__profuse_mip_first
	jmp	.Lmip4back
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
	incl	.Lmipraw5(%rip)
	je	.Lmip5first
.Lmip5back:
	pushq	%rbp
	.cfi_def_cfa_offset 16
	pushq	%r15
	.cfi_def_cfa_offset 24
	pushq	%r14
	.cfi_def_cfa_offset 32
	pushq	%r12
	.cfi_def_cfa_offset 40
	pushq	%rbx
	.cfi_def_cfa_offset 48
	.cfi_offset %rbx, -48
	.cfi_offset %r12, -40
	.cfi_offset %r14, -32
	.cfi_offset %r15, -24
	.cfi_offset %rbp, -16
	movl	%edi, %ebp
	xorl	%ebx, %ebx
	cmpl	$2, %edi
	jl	.LBB4_3
# %bb.1:
.Lmip5b0:
	movb	$0, .Lmipraw5+8(%rip)
	movq	%rsi, %r14
	movl	%ebp, %r15d
	xorl	%ebx, %ebx
	movl	$1, %r12d
	.p2align	4
.LBB4_2:                                # =>This Inner Loop Header: Depth=1
.Lmip5b1:
	movb	$0, .Lmipraw5+9(%rip)
	movq	(%r14,%r12,8), %rdi
	callq	atoi@PLT
	movl	%eax, %edi
	movl	%ebx, %esi
	callq	pick
	movl	%eax, %ebx
	incq	%r12
	cmpq	%r12, %r15
	jne	.LBB4_2
.LBB4_3:
.Lmip5b2:
	movb	$0, .Lmipraw5+10(%rip)
	movl	%ebp, %edi
	callq	table@PLT
	addl	%eax, %ebx
	leaq	.L.str(%rip), %rdi
	movl	%ebx, %esi
	xorl	%eax, %eax
	callq	printf@PLT
	xorl	%eax, %eax
	popq	%rbx
	.cfi_def_cfa_offset 40
	popq	%r12
	.cfi_def_cfa_offset 32
	popq	%r14
	.cfi_def_cfa_offset 24
	popq	%r15
	.cfi_def_cfa_offset 16
	popq	%rbp
	.cfi_def_cfa_offset 8
	retq
.Lfunc_end4:
.Lmip5first:
	leaq	.Lmipraw5(%rip), %r11
	callq	__profuse_mip_first
	jmp	.Lmip5back
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
	.section	__llvm_mipraw,"aw",@progbits
	.p2align	2
.Lmipraw2:
	.long	0xffffffff
	.long	0xffffffff
	.fill	6,1,255
	.section	__llvm_mipraw,"aw",@progbits
	.p2align	2
.Lmipraw3:
	.long	0xffffffff
	.long	0xffffffff
	.section	__llvm_mipraw,"aw",@progbits
	.p2align	2
.Lmipraw4:
	.long	0xffffffff
	.long	0xffffffff
	.fill	2,1,255
	.section	__llvm_mipraw,"aw",@progbits
	.p2align	2
.Lmipraw5:
	.long	0xffffffff
	.long	0xffffffff
	.fill	3,1,255
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
	.long	0x76b48afb
	.long	6
	.long	.Lmip2b0-pick
	.long	.Lmip2b1-pick
	.long	.Lmip2b2-pick
	.long	.Lmip2b3-pick
	.long	.Lmip2b4-pick
	.long	.Lmip2b5-pick
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
	.long	0x4ed892e7
	.long	2
	.long	.Lmip4b0-never
	.long	.Lmip4b1-never
	.long	5
	.ascii	"never"
	.section	__llvm_mipmap,"w",@progbits
	.p2align	3
.Lmip5ref:
	.quad	.Lmipraw5-.Lmip5ref
	.quad	main-.Lmip5ref
	.long	.Lmip5end-main
	.long	0xb458631a
	.long	3
	.long	.Lmip5b0-main
	.long	.Lmip5b1-main
	.long	.Lmip5b2-main
	.long	4
	.ascii	"main"
