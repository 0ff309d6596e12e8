// The least a program needs to leave a raw profile: the image of its raw
// section, written at exit to $LLVM_MIP_PROFILE_FILENAME. ELF x86_64 only.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

extern char start[] __asm__("__start___llvm_mipraw") __attribute__((visibility("hidden")));
extern char stop[] __asm__("__stop___llvm_mipraw") __attribute__((visibility("hidden")));

__attribute__((visibility("hidden"))) uint32_t timestamp __asm__("__profuse_mip_ts") = 1;

// A probe increments the count of its record, 0xffffffff at first, and comes
// here with the address of the record in %r11 when that gives 0.
__asm__(".text\n"
        ".globl __profuse_mip_first\n"
        ".hidden __profuse_mip_first\n"
        ".type __profuse_mip_first,@function\n"
        "__profuse_mip_first:\n"
        "  pushq %rax\n"
        "  movl $1, %eax\n"
        "  movl %eax, (%r11)\n"
        "  lock xaddl %eax, __profuse_mip_ts(%rip)\n"
        "  movl %eax, 4(%r11)\n"
        "  popq %rax\n"
        "  ret\n"
        ".size __profuse_mip_first, .-__profuse_mip_first\n");

static void dump(void) {
  const char *name = getenv("LLVM_MIP_PROFILE_FILENAME");
  FILE *f = fopen(name ? name : "default.mipraw", "wb");
  if (!f) return;
  fwrite(start, 1, stop - start, f);
  fclose(f);
}

__attribute__((constructor)) static void init(void) { atexit(dump); }
