	.file	"shapes.cpp"
	.file	0 "/src" "shapes.cpp" md5 0x57d28ba1ebefabc7fc011c61f597f78c
	.text
	.globl	_ZN6shapes4areaEi               # -- Begin function _ZN6shapes4areaEi
	.p2align	4
	.type	_ZN6shapes4areaEi,@function
_ZN6shapes4areaEi:                      # @_ZN6shapes4areaEi
.Lmip_f0:
.Lfunc_begin0:
	.loc	0 10 0                          # shapes.cpp:10:0
	.cfi_sections .debug_frame
	.cfi_startproc
# %bb.0:
	incl	.Lmip_r0(%rip)
	jne	.Lmip_g0
	call	__profuse_mip_first
.Lmip_g0:
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	subq	$16, %rsp
	movl	%edi, -12(%rbp)
.Ltmp0:
	.loc	0 11 12 prologue_end            # shapes.cpp:11:12
	cmpl	$0, -12(%rbp)
	jge	.LBB0_2
# %bb.1:
	.loc	0 12 21                         # shapes.cpp:12:21
.Lmip_b0_1:
	movb	$0, .Lmip_r0+8(%rip)
	movl	-12(%rbp), %edi
	.loc	0 12 12 is_stmt 0               # shapes.cpp:12:12
	callq	_ZN6shapes8negativeEi
	.loc	0 12 5                          # shapes.cpp:12:5
	movl	%eax, -8(%rbp)
	jmp	.LBB0_3
.Ltmp1:
.LBB0_2:
	.loc	0 13 17 is_stmt 1               # shapes.cpp:13:17
.Lmip_b0_2:
	movb	$0, .Lmip_r0+9(%rip)
	movl	-12(%rbp), %eax
	movl	%eax, -4(%rbp)
.Ltmp2:
	.file	1 "." "shapes.h" md5 0x9eab84978ac9988645b41bb5d152a9ad
	.loc	1 5 10                          # ./shapes.h:5:10 @[ shapes.cpp:13:10 ]
	movl	-4(%rbp), %eax
	.loc	1 5 12 is_stmt 0                # ./shapes.h:5:12 @[ shapes.cpp:13:10 ]
	imull	-4(%rbp), %eax
.Ltmp3:
	.loc	0 13 3 is_stmt 1                # shapes.cpp:13:3
	movl	%eax, -8(%rbp)
.LBB0_3:
	.loc	0 14 1                          # shapes.cpp:14:1
.Lmip_b0_3:
	movb	$0, .Lmip_r0+10(%rip)
	movl	-8(%rbp), %eax
	.loc	0 14 1 epilogue_begin is_stmt 0 # shapes.cpp:14:1
	addq	$16, %rsp
	popq	%rbp
	.cfi_def_cfa %rsp, 8
	retq
.Ltmp4:
.Lfunc_end0:
.Lmip_e0:
	.size	_ZN6shapes4areaEi, .Lfunc_end0-_ZN6shapes4areaEi
	.cfi_endproc
                                        # -- End function
	.section	.text._ZN6shapes8negativeEi,"axG",@progbits,_ZN6shapes8negativeEi,comdat
	.weak	_ZN6shapes8negativeEi           # -- Begin function _ZN6shapes8negativeEi
	.p2align	4
	.type	_ZN6shapes8negativeEi,@function
_ZN6shapes8negativeEi:                  # @_ZN6shapes8negativeEi
.Lmip_f1:
.Lfunc_begin1:
	.loc	1 8 0 is_stmt 1                 # ./shapes.h:8:0
	.cfi_startproc
# %bb.0:
	incl	.Lmip_r1(%rip)
	jne	.Lmip_g1
	call	__profuse_mip_first
.Lmip_g1:
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	movl	%edi, -8(%rbp)
.Ltmp5:
	.loc	1 9 9 prologue_end              # ./shapes.h:9:9
	cmpl	$-100, -8(%rbp)
	jge	.LBB1_2
# %bb.1:
	.loc	1 10 5                          # ./shapes.h:10:5
.Lmip_b1_1:
	movb	$0, .Lmip_r1+8(%rip)
	movl	$-1, -4(%rbp)
	jmp	.LBB1_3
.Ltmp6:
.LBB1_2:
	.loc	1 11 3                          # ./shapes.h:11:3
.Lmip_b1_2:
	movb	$0, .Lmip_r1+9(%rip)
	movl	$0, -4(%rbp)
.LBB1_3:
	.loc	1 12 1                          # ./shapes.h:12:1
.Lmip_b1_3:
	movl	-4(%rbp), %eax
	.loc	1 12 1 epilogue_begin is_stmt 0 # ./shapes.h:12:1
	popq	%rbp
	.cfi_def_cfa %rsp, 8
	retq
.Ltmp7:
.Lfunc_end1:
.Lmip_e1:
	.size	_ZN6shapes8negativeEi, .Lfunc_end1-_ZN6shapes8negativeEi
	.cfi_endproc
                                        # -- End function
	.text
	.globl	_ZN6shapes6volumeEi             # -- Begin function _ZN6shapes6volumeEi
	.p2align	4
	.type	_ZN6shapes6volumeEi,@function
_ZN6shapes6volumeEi:                    # @_ZN6shapes6volumeEi
.Lmip_f2:
.Lfunc_begin2:
	.loc	0 16 0 is_stmt 1                # shapes.cpp:16:0
	.cfi_startproc
# %bb.0:
	incl	.Lmip_r2(%rip)
	jne	.Lmip_g2
	call	__profuse_mip_first
.Lmip_g2:
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	movl	%edi, -8(%rbp)
.Ltmp8:
	.loc	0 17 7 prologue_end             # shapes.cpp:17:7
	movl	$0, -12(%rbp)
.Ltmp9:
	.loc	0 18 12                         # shapes.cpp:18:12
	movl	$0, -16(%rbp)
.LBB2_1:                                # =>This Inner Loop Header: Depth=1
.Ltmp10:
	.loc	0 18 19 is_stmt 0               # shapes.cpp:18:19
.Lmip_b2_1:
	movl	-16(%rbp), %eax
	.loc	0 18 21                         # shapes.cpp:18:21
	cmpl	-8(%rbp), %eax
.Ltmp11:
	.loc	0 18 3                          # shapes.cpp:18:3
	jge	.LBB2_4
# %bb.2:                                #   in Loop: Header=BB2_1 Depth=1
.Ltmp12:
	.loc	0 19 19 is_stmt 1               # shapes.cpp:19:19
.Lmip_b2_2:
	movb	$0, .Lmip_r2+8(%rip)
	movl	-8(%rbp), %eax
	movl	%eax, -4(%rbp)
.Ltmp13:
	.loc	1 5 10                          # ./shapes.h:5:10 @[ shapes.cpp:19:12 ]
	movl	-4(%rbp), %eax
	.loc	1 5 12 is_stmt 0                # ./shapes.h:5:12 @[ shapes.cpp:19:12 ]
	imull	-4(%rbp), %eax
.Ltmp14:
	.loc	0 19 9 is_stmt 1                # shapes.cpp:19:9
	addl	-12(%rbp), %eax
	movl	%eax, -12(%rbp)
# %bb.3:                                #   in Loop: Header=BB2_1 Depth=1
	.loc	0 18 30                         # shapes.cpp:18:30
	movl	-16(%rbp), %eax
	addl	$1, %eax
	movl	%eax, -16(%rbp)
	.loc	0 18 3 is_stmt 0                # shapes.cpp:18:3
	jmp	.LBB2_1
.Ltmp15:
.LBB2_4:
	.loc	0 20 10 is_stmt 1               # shapes.cpp:20:10
.Lmip_b2_3:
	movb	$0, .Lmip_r2+9(%rip)
	movl	-12(%rbp), %eax
	.loc	0 20 3 epilogue_begin is_stmt 0 # shapes.cpp:20:3
	popq	%rbp
	.cfi_def_cfa %rsp, 8
	retq
.Ltmp16:
.Lfunc_end2:
.Lmip_e2:
	.size	_ZN6shapes6volumeEi, .Lfunc_end2-_ZN6shapes6volumeEi
	.cfi_endproc
                                        # -- End function
	.globl	_ZN6shapes6unusedEi             # -- Begin function _ZN6shapes6unusedEi
	.p2align	4
	.type	_ZN6shapes6unusedEi,@function
_ZN6shapes6unusedEi:                    # @_ZN6shapes6unusedEi
.Lmip_f3:
.Lfunc_begin3:
	.loc	0 23 0 is_stmt 1                # shapes.cpp:23:0
	.cfi_startproc
# %bb.0:
	incl	.Lmip_r3(%rip)
	jne	.Lmip_g3
	call	__profuse_mip_first
.Lmip_g3:
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	subq	$16, %rsp
	movl	%edi, -4(%rbp)
.Ltmp17:
	.loc	0 24 15 prologue_end            # shapes.cpp:24:15
	movl	-4(%rbp), %edi
	.loc	0 24 10 is_stmt 0               # shapes.cpp:24:10
	callq	_ZN6shapes4areaEi
	movl	%eax, -8(%rbp)                  # 4-byte Spill
	.loc	0 24 30                         # shapes.cpp:24:30
	movl	-4(%rbp), %edi
	.loc	0 24 23                         # shapes.cpp:24:23
	callq	_ZN6shapes6volumeEi
	movl	%eax, %ecx
	movl	-8(%rbp), %eax                  # 4-byte Reload
	.loc	0 24 21                         # shapes.cpp:24:21
	addl	%ecx, %eax
	.loc	0 24 3 epilogue_begin           # shapes.cpp:24:3
	addq	$16, %rsp
	popq	%rbp
	.cfi_def_cfa %rsp, 8
	retq
.Ltmp18:
.Lfunc_end3:
.Lmip_e3:
	.size	_ZN6shapes6unusedEi, .Lfunc_end3-_ZN6shapes6unusedEi
	.cfi_endproc
                                        # -- End function
	.globl	main                            # -- Begin function main
	.p2align	4
	.type	main,@function
main:                                   # @main
.Lmip_f4:
.Lfunc_begin4:
	.loc	0 29 0 is_stmt 1                # shapes.cpp:29:0
	.cfi_startproc
# %bb.0:
	incl	.Lmip_r4(%rip)
	jne	.Lmip_g4
	call	__profuse_mip_first
.Lmip_g4:
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	subq	$32, %rsp
	movl	$0, -4(%rbp)
	movl	%edi, -8(%rbp)
	movq	%rsi, -16(%rbp)
.Ltmp19:
	.loc	0 30 7 prologue_end             # shapes.cpp:30:7
	movl	$0, -20(%rbp)
.Ltmp20:
	.loc	0 31 12                         # shapes.cpp:31:12
	movl	$1, -24(%rbp)
.LBB4_1:                                # =>This Inner Loop Header: Depth=1
.Ltmp21:
	.loc	0 31 19 is_stmt 0               # shapes.cpp:31:19
.Lmip_b4_1:
	movl	-24(%rbp), %eax
	.loc	0 31 21                         # shapes.cpp:31:21
	cmpl	-8(%rbp), %eax
.Ltmp22:
	.loc	0 31 3                          # shapes.cpp:31:3
	jge	.LBB4_6
# %bb.2:                                #   in Loop: Header=BB4_1 Depth=1
.Ltmp23:
	.loc	0 32 21 is_stmt 1               # shapes.cpp:32:21
.Lmip_b4_2:
	movb	$0, .Lmip_r4+8(%rip)
	movq	-16(%rbp), %rax
	movslq	-24(%rbp), %rcx
	movq	(%rax,%rcx,8), %rdi
	.loc	0 32 16 is_stmt 0               # shapes.cpp:32:16
	callq	atoi@PLT
	.loc	0 32 9                          # shapes.cpp:32:9
	movl	%eax, -28(%rbp)
	.loc	0 33 27 is_stmt 1               # shapes.cpp:33:27
	movl	-28(%rbp), %edi
	.loc	0 33 14 is_stmt 0               # shapes.cpp:33:14
	callq	_ZN6shapes4areaEi
	.loc	0 33 11                         # shapes.cpp:33:11
	addl	-20(%rbp), %eax
	movl	%eax, -20(%rbp)
.Ltmp24:
	.loc	0 34 14 is_stmt 1               # shapes.cpp:34:14
	cmpl	$2, -28(%rbp)
	jle	.LBB4_4
# %bb.3:                                #   in Loop: Header=BB4_1 Depth=1
	.loc	0 35 31                         # shapes.cpp:35:31
.Lmip_b4_3:
	movb	$0, .Lmip_r4+9(%rip)
	movl	-28(%rbp), %edi
	.loc	0 35 16 is_stmt 0               # shapes.cpp:35:16
	callq	_ZN6shapes6volumeEi
	.loc	0 35 13                         # shapes.cpp:35:13
	addl	-20(%rbp), %eax
	movl	%eax, -20(%rbp)
.Ltmp25:
.LBB4_4:                                #   in Loop: Header=BB4_1 Depth=1
	.loc	0 36 3 is_stmt 1                # shapes.cpp:36:3
.Lmip_b4_4:
	jmp	.LBB4_5
.Ltmp26:
.LBB4_5:                                #   in Loop: Header=BB4_1 Depth=1
	.loc	0 31 30                         # shapes.cpp:31:30
.Lmip_b4_5:
	movb	$0, .Lmip_r4+10(%rip)
	movl	-24(%rbp), %eax
	addl	$1, %eax
	movl	%eax, -24(%rbp)
	.loc	0 31 3 is_stmt 0                # shapes.cpp:31:3
	jmp	.LBB4_1
.Ltmp27:
.LBB4_6:
	.loc	0 37 18 is_stmt 1               # shapes.cpp:37:18
.Lmip_b4_6:
	movb	$0, .Lmip_r4+11(%rip)
	movl	-20(%rbp), %esi
	.loc	0 37 3 is_stmt 0                # shapes.cpp:37:3
	leaq	.L.str(%rip), %rdi
	movb	$0, %al
	callq	printf@PLT
	.loc	0 38 3 is_stmt 1                # shapes.cpp:38:3
	xorl	%eax, %eax
	.loc	0 38 3 epilogue_begin is_stmt 0 # shapes.cpp:38:3
	addq	$32, %rsp
	popq	%rbp
	.cfi_def_cfa %rsp, 8
	retq
.Ltmp28:
.Lfunc_end4:
.Lmip_e4:
	.size	main, .Lfunc_end4-main
	.cfi_endproc
                                        # -- End function
	.type	.L.str,@object                  # @.str
	.section	.rodata.str1.1,"aMS",@progbits,1
.L.str:
	.asciz	"%d\n"
	.size	.L.str, 4

	.section	.debug_abbrev,"",@progbits
	.byte	1                               # Abbreviation Code
	.byte	17                              # DW_TAG_compile_unit
	.byte	1                               # DW_CHILDREN_yes
	.byte	37                              # DW_AT_producer
	.byte	37                              # DW_FORM_strx1
	.byte	19                              # DW_AT_language
	.byte	5                               # DW_FORM_data2
	.byte	3                               # DW_AT_name
	.byte	37                              # DW_FORM_strx1
	.byte	114                             # DW_AT_str_offsets_base
	.byte	23                              # DW_FORM_sec_offset
	.byte	16                              # DW_AT_stmt_list
	.byte	23                              # DW_FORM_sec_offset
	.byte	27                              # DW_AT_comp_dir
	.byte	37                              # DW_FORM_strx1
	.byte	17                              # DW_AT_low_pc
	.byte	1                               # DW_FORM_addr
	.byte	85                              # DW_AT_ranges
	.byte	35                              # DW_FORM_rnglistx
	.byte	115                             # DW_AT_addr_base
	.byte	23                              # DW_FORM_sec_offset
	.byte	116                             # DW_AT_rnglists_base
	.byte	23                              # DW_FORM_sec_offset
	.byte	0                               # EOM(1)
	.byte	0                               # EOM(2)
	.byte	2                               # Abbreviation Code
	.byte	52                              # DW_TAG_variable
	.byte	0                               # DW_CHILDREN_no
	.byte	73                              # DW_AT_type
	.byte	19                              # DW_FORM_ref4
	.byte	58                              # DW_AT_decl_file
	.byte	11                              # DW_FORM_data1
	.byte	59                              # DW_AT_decl_line
	.byte	11                              # DW_FORM_data1
	.byte	2                               # DW_AT_location
	.byte	24                              # DW_FORM_exprloc
	.byte	0                               # EOM(1)
	.byte	0                               # EOM(2)
	.byte	3                               # Abbreviation Code
	.byte	1                               # DW_TAG_array_type
	.byte	1                               # DW_CHILDREN_yes
	.byte	73                              # DW_AT_type
	.byte	19                              # DW_FORM_ref4
	.byte	0                               # EOM(1)
	.byte	0                               # EOM(2)
	.byte	4                               # Abbreviation Code
	.byte	33                              # DW_TAG_subrange_type
	.byte	0                               # DW_CHILDREN_no
	.byte	73                              # DW_AT_type
	.byte	19                              # DW_FORM_ref4
	.byte	55                              # DW_AT_count
	.byte	11                              # DW_FORM_data1
	.byte	0                               # EOM(1)
	.byte	0                               # EOM(2)
	.byte	5                               # Abbreviation Code
	.byte	38                              # DW_TAG_const_type
	.byte	0                               # DW_CHILDREN_no
	.byte	73                              # DW_AT_type
	.byte	19                              # DW_FORM_ref4
	.byte	0                               # EOM(1)
	.byte	0                               # EOM(2)
	.byte	6                               # Abbreviation Code
	.byte	36                              # DW_TAG_base_type
	.byte	0                               # DW_CHILDREN_no
	.byte	3                               # DW_AT_name
	.byte	37                              # DW_FORM_strx1
	.byte	62                              # DW_AT_encoding
	.byte	11                              # DW_FORM_data1
	.byte	11                              # DW_AT_byte_size
	.byte	11                              # DW_FORM_data1
	.byte	0                               # EOM(1)
	.byte	0                               # EOM(2)
	.byte	7                               # Abbreviation Code
	.byte	36                              # DW_TAG_base_type
	.byte	0                               # DW_CHILDREN_no
	.byte	3                               # DW_AT_name
	.byte	37                              # DW_FORM_strx1
	.byte	11                              # DW_AT_byte_size
	.byte	11                              # DW_FORM_data1
	.byte	62                              # DW_AT_encoding
	.byte	11                              # DW_FORM_data1
	.byte	0                               # EOM(1)
	.byte	0                               # EOM(2)
	.byte	8                               # Abbreviation Code
	.byte	57                              # DW_TAG_namespace
	.byte	1                               # DW_CHILDREN_yes
	.byte	3                               # DW_AT_name
	.byte	37                              # DW_FORM_strx1
	.byte	0                               # EOM(1)
	.byte	0                               # EOM(2)
	.byte	9                               # Abbreviation Code
	.byte	46                              # DW_TAG_subprogram
	.byte	1                               # DW_CHILDREN_yes
	.byte	110                             # DW_AT_linkage_name
	.byte	37                              # DW_FORM_strx1
	.byte	3                               # DW_AT_name
	.byte	37                              # DW_FORM_strx1
	.byte	58                              # DW_AT_decl_file
	.byte	11                              # DW_FORM_data1
	.byte	59                              # DW_AT_decl_line
	.byte	11                              # DW_FORM_data1
	.byte	73                              # DW_AT_type
	.byte	19                              # DW_FORM_ref4
	.byte	63                              # DW_AT_external
	.byte	25                              # DW_FORM_flag_present
	.byte	32                              # DW_AT_inline
	.byte	33                              # DW_FORM_implicit_const
	.byte	1
	.byte	0                               # EOM(1)
	.byte	0                               # EOM(2)
	.byte	10                              # Abbreviation Code
	.byte	5                               # DW_TAG_formal_parameter
	.byte	0                               # DW_CHILDREN_no
	.byte	3                               # DW_AT_name
	.byte	37                              # DW_FORM_strx1
	.byte	58                              # DW_AT_decl_file
	.byte	11                              # DW_FORM_data1
	.byte	59                              # DW_AT_decl_line
	.byte	11                              # DW_FORM_data1
	.byte	73                              # DW_AT_type
	.byte	19                              # DW_FORM_ref4
	.byte	0                               # EOM(1)
	.byte	0                               # EOM(2)
	.byte	11                              # Abbreviation Code
	.byte	46                              # DW_TAG_subprogram
	.byte	1                               # DW_CHILDREN_yes
	.byte	17                              # DW_AT_low_pc
	.byte	27                              # DW_FORM_addrx
	.byte	18                              # DW_AT_high_pc
	.byte	6                               # DW_FORM_data4
	.byte	64                              # DW_AT_frame_base
	.byte	24                              # DW_FORM_exprloc
	.byte	110                             # DW_AT_linkage_name
	.byte	37                              # DW_FORM_strx1
	.byte	3                               # DW_AT_name
	.byte	37                              # DW_FORM_strx1
	.byte	58                              # DW_AT_decl_file
	.byte	11                              # DW_FORM_data1
	.byte	59                              # DW_AT_decl_line
	.byte	11                              # DW_FORM_data1
	.byte	73                              # DW_AT_type
	.byte	19                              # DW_FORM_ref4
	.byte	63                              # DW_AT_external
	.byte	25                              # DW_FORM_flag_present
	.byte	0                               # EOM(1)
	.byte	0                               # EOM(2)
	.byte	12                              # Abbreviation Code
	.byte	5                               # DW_TAG_formal_parameter
	.byte	0                               # DW_CHILDREN_no
	.byte	2                               # DW_AT_location
	.byte	24                              # DW_FORM_exprloc
	.byte	3                               # DW_AT_name
	.byte	37                              # DW_FORM_strx1
	.byte	58                              # DW_AT_decl_file
	.byte	11                              # DW_FORM_data1
	.byte	59                              # DW_AT_decl_line
	.byte	11                              # DW_FORM_data1
	.byte	73                              # DW_AT_type
	.byte	19                              # DW_FORM_ref4
	.byte	0                               # EOM(1)
	.byte	0                               # EOM(2)
	.byte	13                              # Abbreviation Code
	.byte	29                              # DW_TAG_inlined_subroutine
	.byte	1                               # DW_CHILDREN_yes
	.byte	49                              # DW_AT_abstract_origin
	.byte	19                              # DW_FORM_ref4
	.byte	17                              # DW_AT_low_pc
	.byte	27                              # DW_FORM_addrx
	.byte	18                              # DW_AT_high_pc
	.byte	6                               # DW_FORM_data4
	.byte	88                              # DW_AT_call_file
	.byte	11                              # DW_FORM_data1
	.byte	89                              # DW_AT_call_line
	.byte	11                              # DW_FORM_data1
	.byte	87                              # DW_AT_call_column
	.byte	11                              # DW_FORM_data1
	.byte	0                               # EOM(1)
	.byte	0                               # EOM(2)
	.byte	14                              # Abbreviation Code
	.byte	5                               # DW_TAG_formal_parameter
	.byte	0                               # DW_CHILDREN_no
	.byte	2                               # DW_AT_location
	.byte	24                              # DW_FORM_exprloc
	.byte	49                              # DW_AT_abstract_origin
	.byte	19                              # DW_FORM_ref4
	.byte	0                               # EOM(1)
	.byte	0                               # EOM(2)
	.byte	15                              # Abbreviation Code
	.byte	52                              # DW_TAG_variable
	.byte	0                               # DW_CHILDREN_no
	.byte	2                               # DW_AT_location
	.byte	24                              # DW_FORM_exprloc
	.byte	3                               # DW_AT_name
	.byte	37                              # DW_FORM_strx1
	.byte	58                              # DW_AT_decl_file
	.byte	11                              # DW_FORM_data1
	.byte	59                              # DW_AT_decl_line
	.byte	11                              # DW_FORM_data1
	.byte	73                              # DW_AT_type
	.byte	19                              # DW_FORM_ref4
	.byte	0                               # EOM(1)
	.byte	0                               # EOM(2)
	.byte	16                              # Abbreviation Code
	.byte	11                              # DW_TAG_lexical_block
	.byte	1                               # DW_CHILDREN_yes
	.byte	17                              # DW_AT_low_pc
	.byte	27                              # DW_FORM_addrx
	.byte	18                              # DW_AT_high_pc
	.byte	6                               # DW_FORM_data4
	.byte	0                               # EOM(1)
	.byte	0                               # EOM(2)
	.byte	17                              # Abbreviation Code
	.byte	46                              # DW_TAG_subprogram
	.byte	1                               # DW_CHILDREN_yes
	.byte	17                              # DW_AT_low_pc
	.byte	27                              # DW_FORM_addrx
	.byte	18                              # DW_AT_high_pc
	.byte	6                               # DW_FORM_data4
	.byte	64                              # DW_AT_frame_base
	.byte	24                              # DW_FORM_exprloc
	.byte	3                               # DW_AT_name
	.byte	37                              # DW_FORM_strx1
	.byte	58                              # DW_AT_decl_file
	.byte	11                              # DW_FORM_data1
	.byte	59                              # DW_AT_decl_line
	.byte	11                              # DW_FORM_data1
	.byte	73                              # DW_AT_type
	.byte	19                              # DW_FORM_ref4
	.byte	63                              # DW_AT_external
	.byte	25                              # DW_FORM_flag_present
	.byte	0                               # EOM(1)
	.byte	0                               # EOM(2)
	.byte	18                              # Abbreviation Code
	.byte	15                              # DW_TAG_pointer_type
	.byte	0                               # DW_CHILDREN_no
	.byte	73                              # DW_AT_type
	.byte	19                              # DW_FORM_ref4
	.byte	0                               # EOM(1)
	.byte	0                               # EOM(2)
	.byte	0                               # EOM(3)
	.section	.debug_info,"",@progbits
.Lcu_begin0:
	.long	.Ldebug_info_end0-.Ldebug_info_start0 # Length of Unit
.Ldebug_info_start0:
	.short	5                               # DWARF version number
	.byte	1                               # DWARF Unit Type
	.byte	8                               # Address Size (in bytes)
	.long	.debug_abbrev                   # Offset Into Abbrev. Section
	.byte	1                               # Abbrev [1] 0xc:0x174 DW_TAG_compile_unit
	.byte	0                               # DW_AT_producer
	.short	33                              # DW_AT_language
	.byte	1                               # DW_AT_name
	.long	.Lstr_offsets_base0             # DW_AT_str_offsets_base
	.long	.Lline_table_start0             # DW_AT_stmt_list
	.byte	2                               # DW_AT_comp_dir
	.quad	0                               # DW_AT_low_pc
	.byte	0                               # DW_AT_ranges
	.long	.Laddr_table_base0              # DW_AT_addr_base
	.long	.Lrnglists_table_base0          # DW_AT_rnglists_base
	.byte	2                               # Abbrev [2] 0x2b:0xa DW_TAG_variable
	.long	53                              # DW_AT_type
	.byte	0                               # DW_AT_decl_file
	.byte	37                              # DW_AT_decl_line
	.byte	2                               # DW_AT_location
	.byte	161
	.byte	0
	.byte	3                               # Abbrev [3] 0x35:0xc DW_TAG_array_type
	.long	65                              # DW_AT_type
	.byte	4                               # Abbrev [4] 0x3a:0x6 DW_TAG_subrange_type
	.long	74                              # DW_AT_type
	.byte	4                               # DW_AT_count
	.byte	0                               # End Of Children Mark
	.byte	5                               # Abbrev [5] 0x41:0x5 DW_TAG_const_type
	.long	70                              # DW_AT_type
	.byte	6                               # Abbrev [6] 0x46:0x4 DW_TAG_base_type
	.byte	3                               # DW_AT_name
	.byte	6                               # DW_AT_encoding
	.byte	1                               # DW_AT_byte_size
	.byte	7                               # Abbrev [7] 0x4a:0x4 DW_TAG_base_type
	.byte	4                               # DW_AT_name
	.byte	8                               # DW_AT_byte_size
	.byte	7                               # DW_AT_encoding
	.byte	8                               # Abbrev [8] 0x4e:0xce DW_TAG_namespace
	.byte	5                               # DW_AT_name
	.byte	9                               # Abbrev [9] 0x50:0x12 DW_TAG_subprogram
	.byte	6                               # DW_AT_linkage_name
	.byte	7                               # DW_AT_name
	.byte	1                               # DW_AT_decl_file
	.byte	4                               # DW_AT_decl_line
	.long	284                             # DW_AT_type
                                        # DW_AT_external
                                        # DW_AT_inline
	.byte	10                              # Abbrev [10] 0x59:0x8 DW_TAG_formal_parameter
	.byte	9                               # DW_AT_name
	.byte	1                               # DW_AT_decl_file
	.byte	4                               # DW_AT_decl_line
	.long	284                             # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	11                              # Abbrev [11] 0x62:0x32 DW_TAG_subprogram
	.byte	1                               # DW_AT_low_pc
	.long	.Lfunc_end0-.Lfunc_begin0       # DW_AT_high_pc
	.byte	1                               # DW_AT_frame_base
	.byte	86
	.byte	10                              # DW_AT_linkage_name
	.byte	11                              # DW_AT_name
	.byte	0                               # DW_AT_decl_file
	.byte	10                              # DW_AT_decl_line
	.long	284                             # DW_AT_type
                                        # DW_AT_external
	.byte	12                              # Abbrev [12] 0x72:0xb DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	116
	.byte	19                              # DW_AT_name
	.byte	0                               # DW_AT_decl_file
	.byte	10                              # DW_AT_decl_line
	.long	284                             # DW_AT_type
	.byte	13                              # Abbrev [13] 0x7d:0x16 DW_TAG_inlined_subroutine
	.long	80                              # DW_AT_abstract_origin
	.byte	2                               # DW_AT_low_pc
	.long	.Ltmp3-.Ltmp2                   # DW_AT_high_pc
	.byte	0                               # DW_AT_call_file
	.byte	13                              # DW_AT_call_line
	.byte	10                              # DW_AT_call_column
	.byte	14                              # Abbrev [14] 0x8a:0x8 DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	124
	.long	89                              # DW_AT_abstract_origin
	.byte	0                               # End Of Children Mark
	.byte	0                               # End Of Children Mark
	.byte	11                              # Abbrev [11] 0x94:0x1c DW_TAG_subprogram
	.byte	3                               # DW_AT_low_pc
	.long	.Lfunc_end1-.Lfunc_begin1       # DW_AT_high_pc
	.byte	1                               # DW_AT_frame_base
	.byte	86
	.byte	12                              # DW_AT_linkage_name
	.byte	13                              # DW_AT_name
	.byte	1                               # DW_AT_decl_file
	.byte	8                               # DW_AT_decl_line
	.long	284                             # DW_AT_type
                                        # DW_AT_external
	.byte	12                              # Abbrev [12] 0xa4:0xb DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	120
	.byte	9                               # DW_AT_name
	.byte	1                               # DW_AT_decl_file
	.byte	8                               # DW_AT_decl_line
	.long	284                             # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	11                              # Abbrev [11] 0xb0:0x4f DW_TAG_subprogram
	.byte	4                               # DW_AT_low_pc
	.long	.Lfunc_end2-.Lfunc_begin2       # DW_AT_high_pc
	.byte	1                               # DW_AT_frame_base
	.byte	86
	.byte	14                              # DW_AT_linkage_name
	.byte	15                              # DW_AT_name
	.byte	0                               # DW_AT_decl_file
	.byte	16                              # DW_AT_decl_line
	.long	284                             # DW_AT_type
                                        # DW_AT_external
	.byte	12                              # Abbrev [12] 0xc0:0xb DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	120
	.byte	19                              # DW_AT_name
	.byte	0                               # DW_AT_decl_file
	.byte	16                              # DW_AT_decl_line
	.long	284                             # DW_AT_type
	.byte	15                              # Abbrev [15] 0xcb:0xb DW_TAG_variable
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	116
	.byte	20                              # DW_AT_name
	.byte	0                               # DW_AT_decl_file
	.byte	17                              # DW_AT_decl_line
	.long	284                             # DW_AT_type
	.byte	16                              # Abbrev [16] 0xd6:0x28 DW_TAG_lexical_block
	.byte	5                               # DW_AT_low_pc
	.long	.Ltmp15-.Ltmp9                  # DW_AT_high_pc
	.byte	15                              # Abbrev [15] 0xdc:0xb DW_TAG_variable
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	112
	.byte	21                              # DW_AT_name
	.byte	0                               # DW_AT_decl_file
	.byte	18                              # DW_AT_decl_line
	.long	284                             # DW_AT_type
	.byte	13                              # Abbrev [13] 0xe7:0x16 DW_TAG_inlined_subroutine
	.long	80                              # DW_AT_abstract_origin
	.byte	6                               # DW_AT_low_pc
	.long	.Ltmp14-.Ltmp13                 # DW_AT_high_pc
	.byte	0                               # DW_AT_call_file
	.byte	19                              # DW_AT_call_line
	.byte	12                              # DW_AT_call_column
	.byte	14                              # Abbrev [14] 0xf4:0x8 DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	124
	.long	89                              # DW_AT_abstract_origin
	.byte	0                               # End Of Children Mark
	.byte	0                               # End Of Children Mark
	.byte	0                               # End Of Children Mark
	.byte	11                              # Abbrev [11] 0xff:0x1c DW_TAG_subprogram
	.byte	7                               # DW_AT_low_pc
	.long	.Lfunc_end3-.Lfunc_begin3       # DW_AT_high_pc
	.byte	1                               # DW_AT_frame_base
	.byte	86
	.byte	16                              # DW_AT_linkage_name
	.byte	17                              # DW_AT_name
	.byte	0                               # DW_AT_decl_file
	.byte	23                              # DW_AT_decl_line
	.long	284                             # DW_AT_type
                                        # DW_AT_external
	.byte	12                              # Abbrev [12] 0x10f:0xb DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	124
	.byte	19                              # DW_AT_name
	.byte	0                               # DW_AT_decl_file
	.byte	23                              # DW_AT_decl_line
	.long	284                             # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	0                               # End Of Children Mark
	.byte	6                               # Abbrev [6] 0x11c:0x4 DW_TAG_base_type
	.byte	8                               # DW_AT_name
	.byte	5                               # DW_AT_encoding
	.byte	4                               # DW_AT_byte_size
	.byte	17                              # Abbrev [17] 0x120:0x55 DW_TAG_subprogram
	.byte	8                               # DW_AT_low_pc
	.long	.Lfunc_end4-.Lfunc_begin4       # DW_AT_high_pc
	.byte	1                               # DW_AT_frame_base
	.byte	86
	.byte	18                              # DW_AT_name
	.byte	0                               # DW_AT_decl_file
	.byte	29                              # DW_AT_decl_line
	.long	284                             # DW_AT_type
                                        # DW_AT_external
	.byte	12                              # Abbrev [12] 0x12f:0xb DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	120
	.byte	22                              # DW_AT_name
	.byte	0                               # DW_AT_decl_file
	.byte	29                              # DW_AT_decl_line
	.long	284                             # DW_AT_type
	.byte	12                              # Abbrev [12] 0x13a:0xb DW_TAG_formal_parameter
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	112
	.byte	23                              # DW_AT_name
	.byte	0                               # DW_AT_decl_file
	.byte	29                              # DW_AT_decl_line
	.long	373                             # DW_AT_type
	.byte	15                              # Abbrev [15] 0x145:0xb DW_TAG_variable
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	108
	.byte	24                              # DW_AT_name
	.byte	0                               # DW_AT_decl_file
	.byte	30                              # DW_AT_decl_line
	.long	284                             # DW_AT_type
	.byte	16                              # Abbrev [16] 0x150:0x24 DW_TAG_lexical_block
	.byte	9                               # DW_AT_low_pc
	.long	.Ltmp27-.Ltmp20                 # DW_AT_high_pc
	.byte	15                              # Abbrev [15] 0x156:0xb DW_TAG_variable
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	104
	.byte	21                              # DW_AT_name
	.byte	0                               # DW_AT_decl_file
	.byte	31                              # DW_AT_decl_line
	.long	284                             # DW_AT_type
	.byte	16                              # Abbrev [16] 0x161:0x12 DW_TAG_lexical_block
	.byte	10                              # DW_AT_low_pc
	.long	.Ltmp26-.Ltmp23                 # DW_AT_high_pc
	.byte	15                              # Abbrev [15] 0x167:0xb DW_TAG_variable
	.byte	2                               # DW_AT_location
	.byte	145
	.byte	100
	.byte	19                              # DW_AT_name
	.byte	0                               # DW_AT_decl_file
	.byte	32                              # DW_AT_decl_line
	.long	284                             # DW_AT_type
	.byte	0                               # End Of Children Mark
	.byte	0                               # End Of Children Mark
	.byte	0                               # End Of Children Mark
	.byte	18                              # Abbrev [18] 0x175:0x5 DW_TAG_pointer_type
	.long	378                             # DW_AT_type
	.byte	18                              # Abbrev [18] 0x17a:0x5 DW_TAG_pointer_type
	.long	70                              # DW_AT_type
	.byte	0                               # End Of Children Mark
.Ldebug_info_end0:
	.section	.debug_rnglists,"",@progbits
	.long	.Ldebug_list_header_end0-.Ldebug_list_header_start0 # Length
.Ldebug_list_header_start0:
	.short	5                               # Version
	.byte	8                               # Address size
	.byte	0                               # Segment selector size
	.long	1                               # Offset entry count
.Lrnglists_table_base0:
	.long	.Ldebug_ranges0-.Lrnglists_table_base0
.Ldebug_ranges0:
	.byte	1                               # DW_RLE_base_addressx
	.byte	1                               #   base address index
	.byte	4                               # DW_RLE_offset_pair
	.uleb128 .Lfunc_begin0-.Lfunc_begin0    #   starting offset
	.uleb128 .Lfunc_end0-.Lfunc_begin0      #   ending offset
	.byte	4                               # DW_RLE_offset_pair
	.uleb128 .Lfunc_begin2-.Lfunc_begin0    #   starting offset
	.uleb128 .Lfunc_end4-.Lfunc_begin0      #   ending offset
	.byte	3                               # DW_RLE_startx_length
	.byte	3                               #   start index
	.uleb128 .Lfunc_end1-.Lfunc_begin1      #   length
	.byte	0                               # DW_RLE_end_of_list
.Ldebug_list_header_end0:
	.section	.debug_str_offsets,"",@progbits
	.long	104                             # Length of String Offsets Set
	.short	5
	.short	0
.Lstr_offsets_base0:
	.section	.debug_str,"MS",@progbits,1
.Linfo_string0:
	.byte	0                               # string offset=0
.Linfo_string1:
	.asciz	"shapes.cpp"                    # string offset=1
.Linfo_string2:
	.asciz	"/src"                          # string offset=12
.Linfo_string3:
	.asciz	"char"                          # string offset=17
.Linfo_string4:
	.asciz	"__ARRAY_SIZE_TYPE__"           # string offset=22
.Linfo_string5:
	.asciz	"shapes"                        # string offset=42
.Linfo_string6:
	.asciz	"_ZN6shapes6squareEi"           # string offset=49
.Linfo_string7:
	.asciz	"square"                        # string offset=69
.Linfo_string8:
	.asciz	"int"                           # string offset=76
.Linfo_string9:
	.asciz	"x"                             # string offset=80
.Linfo_string10:
	.asciz	"_ZN6shapes4areaEi"             # string offset=82
.Linfo_string11:
	.asciz	"area"                          # string offset=100
.Linfo_string12:
	.asciz	"_ZN6shapes8negativeEi"         # string offset=105
.Linfo_string13:
	.asciz	"negative"                      # string offset=127
.Linfo_string14:
	.asciz	"_ZN6shapes6volumeEi"           # string offset=136
.Linfo_string15:
	.asciz	"volume"                        # string offset=156
.Linfo_string16:
	.asciz	"_ZN6shapes6unusedEi"           # string offset=163
.Linfo_string17:
	.asciz	"unused"                        # string offset=183
.Linfo_string18:
	.asciz	"main"                          # string offset=190
.Linfo_string19:
	.asciz	"side"                          # string offset=195
.Linfo_string20:
	.asciz	"sum"                           # string offset=200
.Linfo_string21:
	.asciz	"i"                             # string offset=204
.Linfo_string22:
	.asciz	"argc"                          # string offset=206
.Linfo_string23:
	.asciz	"argv"                          # string offset=211
.Linfo_string24:
	.asciz	"total"                         # string offset=216
	.section	.debug_str_offsets,"",@progbits
	.long	.Linfo_string0
	.long	.Linfo_string1
	.long	.Linfo_string2
	.long	.Linfo_string3
	.long	.Linfo_string4
	.long	.Linfo_string5
	.long	.Linfo_string6
	.long	.Linfo_string7
	.long	.Linfo_string8
	.long	.Linfo_string9
	.long	.Linfo_string10
	.long	.Linfo_string11
	.long	.Linfo_string12
	.long	.Linfo_string13
	.long	.Linfo_string14
	.long	.Linfo_string15
	.long	.Linfo_string16
	.long	.Linfo_string17
	.long	.Linfo_string18
	.long	.Linfo_string19
	.long	.Linfo_string20
	.long	.Linfo_string21
	.long	.Linfo_string22
	.long	.Linfo_string23
	.long	.Linfo_string24
	.section	.debug_addr,"",@progbits
	.long	.Ldebug_addr_end0-.Ldebug_addr_start0 # Length of contribution
.Ldebug_addr_start0:
	.short	5                               # DWARF version number
	.byte	8                               # Address size
	.byte	0                               # Segment selector size
.Laddr_table_base0:
	.quad	.L.str
	.quad	.Lfunc_begin0
	.quad	.Ltmp2
	.quad	.Lfunc_begin1
	.quad	.Lfunc_begin2
	.quad	.Ltmp9
	.quad	.Ltmp13
	.quad	.Lfunc_begin3
	.quad	.Lfunc_begin4
	.quad	.Ltmp20
	.quad	.Ltmp23
.Ldebug_addr_end0:
	.section	".note.GNU-stack","",@progbits
	.addrsig
	.addrsig_sym _ZN6shapes4areaEi
	.addrsig_sym _ZN6shapes8negativeEi
	.addrsig_sym _ZN6shapes6volumeEi
	.addrsig_sym atoi
	.addrsig_sym printf
	.section	.debug_line,"",@progbits
.Lline_table_start0:
	.section	__llvm_mipraw,"awGR",@progbits,__llvm_mipraw_header,comdat
	.hidden	__start___llvm_mipraw
	.p2align	3
.Lmip_h0:
	.long	0x50494dfb
	.short	8
	.short	0x11
	.long	0xe
	.long	0xc338e374
	.long	0, 0
	.long	0
	.long	0x20
	.section	__llvm_mipraw,"awG",@progbits,_ZN6shapes4areaEi
	.p2align	2
.Lmip_r0:
	.long	0xffffffff, 0xffffffff
	.fill	3, 1, 0xff
	.section	__llvm_mipraw,"awG",@progbits,_ZN6shapes8negativeEi,comdat
	.p2align	2
.Lmip_r1:
	.long	0xffffffff, 0xffffffff
	.fill	2, 1, 0xff
	.section	__llvm_mipraw,"awG",@progbits,_ZN6shapes4areaEi
	.p2align	2
.Lmip_r2:
	.long	0xffffffff, 0xffffffff
	.fill	2, 1, 0xff
	.section	__llvm_mipraw,"awG",@progbits,_ZN6shapes4areaEi
	.p2align	2
.Lmip_r3:
	.long	0xffffffff, 0xffffffff
	.section	__llvm_mipraw,"awG",@progbits,_ZN6shapes4areaEi
	.p2align	2
.Lmip_r4:
	.long	0xffffffff, 0xffffffff
	.fill	4, 1, 0xff
	.section	__llvm_mipmap,"wGR",@progbits,__llvm_mipmap_header,comdat
	.hidden	__start___llvm_mipraw
	.p2align	3
.Lmip_h1:
	.long	0x50494dfb
	.short	8
	.short	0x14
	.long	0xe
	.long	0xc338e374
	.quad	__start___llvm_mipraw-.Lmip_h1
	.long	0
	.long	0x20
	.section	__llvm_mipmap,"wG",@progbits,_ZN6shapes4areaEi
	.p2align	3
.Lmip_m0:
	.quad	.Lmip_r0-.Lmip_m0
	.quad	.Lmip_f0-.Lmip_m0
	.long	.Lmip_e0-.Lmip_f0
	.long	2715725124
	.long	3
	.long	.Lmip_b0_1-.Lmip_f0
	.long	.Lmip_b0_2-.Lmip_f0
	.long	.Lmip_b0_3-.Lmip_f0
	.long	17
	.ascii	"_ZN6shapes4areaEi"
	.section	__llvm_mipmap,"wG",@progbits,_ZN6shapes8negativeEi,comdat
	.p2align	3
.Lmip_m1:
	.quad	.Lmip_r1-.Lmip_m1
	.quad	.Lmip_f1-.Lmip_m1
	.long	.Lmip_e1-.Lmip_f1
	.long	2715725124
	.long	2
	.long	.Lmip_b1_1-.Lmip_f1
	.long	.Lmip_b1_2-.Lmip_f1
	.long	21
	.ascii	"_ZN6shapes8negativeEi"
	.section	__llvm_mipmap,"wG",@progbits,_ZN6shapes4areaEi
	.p2align	3
.Lmip_m2:
	.quad	.Lmip_r2-.Lmip_m2
	.quad	.Lmip_f2-.Lmip_m2
	.long	.Lmip_e2-.Lmip_f2
	.long	2570451939
	.long	2
	.long	.Lmip_b2_2-.Lmip_f2
	.long	.Lmip_b2_3-.Lmip_f2
	.long	19
	.ascii	"_ZN6shapes6volumeEi"
	.section	__llvm_mipmap,"wG",@progbits,_ZN6shapes4areaEi
	.p2align	3
.Lmip_m3:
	.quad	.Lmip_r3-.Lmip_m3
	.quad	.Lmip_f3-.Lmip_m3
	.long	.Lmip_e3-.Lmip_f3
	.long	0
	.long	0
	.long	19
	.ascii	"_ZN6shapes6unusedEi"
	.section	__llvm_mipmap,"wG",@progbits,_ZN6shapes4areaEi
	.p2align	3
.Lmip_m4:
	.quad	.Lmip_r4-.Lmip_m4
	.quad	.Lmip_f4-.Lmip_m4
	.long	.Lmip_e4-.Lmip_f4
	.long	2766808110
	.long	4
	.long	.Lmip_b4_2-.Lmip_f4
	.long	.Lmip_b4_3-.Lmip_f4
	.long	.Lmip_b4_5-.Lmip_f4
	.long	.Lmip_b4_6-.Lmip_f4
	.long	4
	.ascii	"main"
	.section	__profuse_blocks,"wGR",@progbits,__profuse_blocks_header,comdat
	.hidden	__start___llvm_mipraw
	.p2align	3
.Lmip_h2:
	.long	0x42494dfb
	.short	1
	.short	8
	.long	0xc338e374
	.long	0
	.quad	__start___llvm_mipraw-.Lmip_h2
	.section	__profuse_blocks,"wG",@progbits,_ZN6shapes8negativeEi,comdat
	.p2align	3
.Lmip_i1:
	.quad	.Lmip_r1-.Lmip_i1
	.long	4
	.long	10
	.long	0
	.long	0
	.long	.Lmip_b1_1-.Lmip_f1
	.long	0
	.long	.Lmip_b1_2-.Lmip_f1
	.long	0
	.long	.Lmip_b1_3-.Lmip_f1
	.long	2
	.long	1
	.long	2
	.section	__profuse_blocks,"wG",@progbits,_ZN6shapes4areaEi
	.p2align	3
.Lmip_i2:
	.quad	.Lmip_r2-.Lmip_i2
	.long	4
	.long	10
	.long	0
	.long	0
	.long	.Lmip_b2_1-.Lmip_f2
	.long	2
	.long	0
	.long	2
	.long	.Lmip_b2_2-.Lmip_f2
	.long	0
	.long	.Lmip_b2_3-.Lmip_f2
	.long	0
	.section	__profuse_blocks,"wG",@progbits,_ZN6shapes4areaEi
	.p2align	3
.Lmip_i4:
	.quad	.Lmip_r4-.Lmip_i4
	.long	7
	.long	17
	.long	0
	.long	0
	.long	.Lmip_b4_1-.Lmip_f4
	.long	2
	.long	0
	.long	5
	.long	.Lmip_b4_2-.Lmip_f4
	.long	0
	.long	.Lmip_b4_3-.Lmip_f4
	.long	0
	.long	.Lmip_b4_4-.Lmip_f4
	.long	1
	.long	5
	.long	.Lmip_b4_5-.Lmip_f4
	.long	0
	.long	.Lmip_b4_6-.Lmip_f4
	.long	0
