# The sections of an instrumented program, of the functions in debug.cpp and of
# one that has no debug info, under function coverage.
.macro function name
  .section __llvm_mipraw, "aw", @progbits
.Lraw\@:
  .byte 0xff
  .section __llvm_mipmap, "", @progbits
  .balign 8
.Lmap\@:
  .quad .Lraw\@ - .Lmap\@
  .quad \name - .Lmap\@
  .long 16
  .long 0
  .long 0
  .long .Lend\@ - .Lname\@
.Lname\@:
  .ascii "\name"
.Lend\@:
.endm

.macro header type
  .long 0x50494dfb
  .short 8, \type
  .long 1, 0xdeb06
.endm

  .section __llvm_mipraw, "aw", @progbits
.Lraw:
  header 0x11
  .quad 0
  .long 0, 32
  .section __llvm_mipmap, "", @progbits
.Lmap:
  header 0x14
  .quad .Lraw - .Lmap
  .long 0, 32

function _ZN6shapes4areaEi
function _ZN6shapes6volumeEi
function _ZN6shapes5twiceIiEET_S1_
function entry
function undescribed

  .text
  .globl undescribed
undescribed:
  movl %edi, %eax
  ret
