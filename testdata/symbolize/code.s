# Functions without DW_TAG_subprogram: with -g only lines are known of them.
	.text
	.globl	assembly
	.type	assembly,@function
assembly:
	nop
	nop
	ret
	.size	assembly, .-assembly
unsized:
	nop
	ret
