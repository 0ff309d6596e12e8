// The smallest runtime that writes a raw profile at exit, for the tests of the
// instrumentation only.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

extern uint8_t start[] __asm__("__start___llvm_mipraw") __attribute__((visibility("hidden")));
extern uint8_t stop[] __asm__("__stop___llvm_mipraw") __attribute__((visibility("hidden")));
__attribute__((visibility("hidden"))) uint32_t __profuse_mip_rank;

// In memory a counter is one less than the number of calls; the tests add one
// to what they read.
static void dump(void) {
  const char *name = getenv("LLVM_MIP_PROFILE_FILENAME");
  FILE *f = fopen(name && *name ? name : "default.mipraw", "wb");
  if (!f) {
    perror("mipraw");
    return;
  }
  fwrite(start, 1, stop - start, f);
  fclose(f);
}
__attribute__((constructor)) static void init(void) { atexit(dump); }

#if defined(__x86_64__)
__asm__(
    ".text\n"
    ".globl __profuse_mip_first\n"
    ".hidden __profuse_mip_first\n"
    ".type __profuse_mip_first,@function\n"
    "__profuse_mip_first:\n"
    "  .cfi_startproc\n"
    "  pushq %rax\n"
    "  .cfi_adjust_cfa_offset 8\n"
    "  pushq %rcx\n"
    "  .cfi_adjust_cfa_offset 8\n"
    "  movq 16(%rsp), %rax\n"
    "  movslq -11(%rax), %rcx\n"
    "  leaq -7(%rax,%rcx), %rcx\n"
    "  movl $1, %eax\n"
    "  lock xaddl %eax, __profuse_mip_rank(%rip)\n"
    "  incl %eax\n"
    "  movl %eax, 4(%rcx)\n"
    "  popq %rcx\n"
    "  .cfi_adjust_cfa_offset -8\n"
    "  popq %rax\n"
    "  .cfi_adjust_cfa_offset -8\n"
    "  ret\n"
    "  .cfi_endproc\n"
    ".size __profuse_mip_first,.-__profuse_mip_first\n");
#elif defined(__aarch64__)
__asm__(
    ".text\n"
    ".globl __profuse_mip_first\n"
    ".hidden __profuse_mip_first\n"
    ".type __profuse_mip_first,%function\n"
    "__profuse_mip_first:\n"
    "  stp x0, x1, [sp, #-32]!\n"
    "  stp x2, x17, [sp, #16]\n"
    "  adrp x0, __profuse_mip_rank\n"
    "  add x0, x0, :lo12:__profuse_mip_rank\n"
    "1: ldaxr w1, [x0]\n"
    "  add w1, w1, #1\n"
    "  stlxr w2, w1, [x0]\n"
    "  cbnz w2, 1b\n"
    "  str w1, [x16, #4]\n"
    "  mov x16, x30\n"
    "  ldp x2, x30, [sp, #16]\n"
    "  ldp x0, x1, [sp], #32\n"
    "  ret x16\n"
    ".size __profuse_mip_first,.-__profuse_mip_first\n");
#elif defined(__arm__)
#ifdef __thumb__
#define SET ".thumb\n.thumb_func\n"
#define ADD_PC "4: add r12, pc\n"
#define AHEAD "4"
#else
#define SET ".arm\n"
#define ADD_PC "4: add r12, pc, r12\n"
#define AHEAD "8"
#endif
__asm__(
    ".text\n"
    ".syntax unified\n"
    ".globl __profuse_mip_first\n"
    ".hidden __profuse_mip_first\n"
    ".type __profuse_mip_first,%function\n" SET
    "__profuse_mip_first:\n"
    "  push {r2, r3, r12, lr}\n"
    "  movw r12, #:lower16:(__profuse_mip_rank-(4f+" AHEAD "))\n"
    "  movt r12, #:upper16:(__profuse_mip_rank-(4f+" AHEAD "))\n" ADD_PC
    "2: ldrex r3, [r12]\n"
    "  add r3, r3, #1\n"
    "  strex r2, r3, [r12]\n"
    "  cmp r2, #0\n"
    "  bne 2b\n"
    "  str r3, [r0, #4]\n"
    "  pop {r2, r3, r12}\n"
    "  mov lr, r1\n"
    "  ldr pc, [sp], #4\n"
    ".size __profuse_mip_first,.-__profuse_mip_first\n");
#endif
