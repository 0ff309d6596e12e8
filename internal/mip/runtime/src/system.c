// The runtime of MIP profiles: linked into every instrumented program and
// library, it writes the section of raw records to a file when the image is
// unloaded; a program is unloaded when it ends.
//
// Every image has its own copy, and no symbol of it is visible outside the image.
// Programs may call these functions:
//
//   void __llvm_dump_mip_profile(void);
//   int __llvm_dump_mip_profile_with_filename(const char *filename);
//   void *__llvm_mip_profile_begin(void);
//   void *__llvm_mip_profile_end(void);
//
// Macros select parts:
//
//   PROFUSE_MIP_NO_DUMP   write the profile only when a program calls a function
//   PROFUSE_MIP_COVERAGE  no function counts its calls
//   PROFUSE_MIP_SIGNALS   signals write the profile, too
//   PROFUSE_MIP_RUNTIME_BUFFER=BYTES  record call edges
//   PROFUSE_MIP_FILE=NAME  the small runtime, in fixed.c
//   PROFUSE_MIP_PID=AT     in that name 7 digits to replace by the process id
//
// This code is written for size, because it is part of the cost of
// instrumentation. A C library function that only this code calls costs some 90
// bytes in the tables of the dynamic linker, so the code makes most system calls
// directly.

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#if defined(__GNUC__) && __GNUC__ >= 12 && !defined(__clang__)
#pragma GCC optimize("Oz")
#endif
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __ELF__
#include <link.h>
#endif
#ifdef __linux__
#include <sys/auxv.h>
#include <sys/syscall.h>
#else
#include <sched.h>
#include <stdio.h>
#endif

#define HIDDEN __attribute__((visibility("hidden")))
#define SHARED __attribute__((noinline)) // smaller than copies of it

#ifdef __APPLE__
extern uint8_t raw_start[] __asm__("section$start$__DATA$__llvm_mipraw");
extern uint8_t raw_stop[] __asm__("section$end$__DATA$__llvm_mipraw");
#else
// Weak: an image may have no instrumented function.
extern uint8_t raw_start[] __asm__("__start___llvm_mipraw") __attribute__((weak, visibility("hidden")));
extern uint8_t raw_stop[] __asm__("__stop___llvm_mipraw") __attribute__((weak, visibility("hidden")));
// gcc does not say so of names given by __asm__.
__asm__(".hidden __start___llvm_mipraw\n.hidden __stop___llvm_mipraw\n");
#endif

#if defined(__APPLE__)
#define SYMBOL(name) "_" name
#define GLOBAL(name) ".globl _" name "\n.private_extern _" name "\n"
#define FINISH(name)
#else
#define SYMBOL(name) name
#define GLOBAL(name) ".globl " name "\n.hidden " name "\n.type " name ",%function\n"
#define FINISH(name) ".size " name ",.-" name "\n"
#endif

// The fields of the header that starts the section.
#define MAGIC 0x50494dfbu
#define AT_PROFILE_TYPE 8
#define AT_MODULE_HASH 12
#define HEADER_SIZE 32
#define BLOCK_COVERAGE 2u
#define CALL_COUNT 8u
#define RETURN_ADDRESS 0x10u

#define UNTOUCHED 0xffffffffu

// ---- The system ----

// System calls. Each returns a value or a negative error number, and does not
// change errno.
#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__) || defined(__arm__))
#define INLINED static inline __attribute__((always_inline))
#if defined(__x86_64__)
// Registers of arguments that a call does not have keep their values, which saves
// instructions.
#define KERNEL(...) \
  long r = number; \
  __asm__ volatile("syscall" : "+a"(r) : __VA_ARGS__ : "rcx", "r11", "memory"); \
  return r
INLINED long kernel0(long number) { KERNEL(); }
INLINED long kernel1(long number, long a) { KERNEL("D"(a)); }
__attribute__((unused)) INLINED long kernel2(long number, long a, long b) { KERNEL("D"(a), "S"(b)); }
INLINED long kernel3(long number, long a, long b, long c) { KERNEL("D"(a), "S"(b), "d"(c)); }
#else
INLINED long kernel4(long number, long a, long b, long c, long d) {
#if defined(__aarch64__)
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d;
  register long x8 __asm__("x8") = number;
  __asm__ volatile("svc #0" : "+r"(x0) : "r"(x1), "r"(x2), "r"(x3), "r"(x8) : "memory");
  return x0;
#else
  register long r0 __asm__("r0") = a;
  register long r1 __asm__("r1") = b;
  register long r2 __asm__("r2") = c;
  register long r3 __asm__("r3") = number;
  (void)d;
  // r7 may be the frame pointer.
  __asm__ volatile("push {r7}\n\tmov r7, r3\n\tsvc #0\n\tpop {r7}" : "+r"(r0) : "r"(r1), "r"(r2), "r"(r3) : "memory");
  return r0;
#endif
}
// An undefined value, for arguments that the system ignores.
INLINED long any(void) {
  long v;
  __asm__("" : "=r"(v));
  return v;
}
#define kernel3(number, a, b, c) kernel4(number, a, b, c, any())
#define kernel2(number, a, b) kernel3(number, a, b, any())
#define kernel1(number, a) kernel2(number, a, any())
#define kernel0(number) kernel1(number, any())
#endif
#define sys_write(fd, p, n) kernel3(SYS_write, fd, (long)(p), (long)(n))
#define sys_close(fd) kernel1(SYS_close, fd)
#define sys_getcwd(p, n) kernel2(SYS_getcwd, (long)(p), n)
#define sys_getpid() kernel0(SYS_getpid)
#define sys_kill(pid, number) kernel2(SYS_kill, pid, number)
#define sys_yield() kernel0(SYS_sched_yield)
#ifdef SYS_open
#define sys_open(path, flags) kernel3(SYS_open, (long)(path), flags, 0666)
#define sys_unlink(path) kernel1(SYS_unlink, (long)(path))
#define sys_rename(from, to) kernel2(SYS_rename, (long)(from), (long)(to))
#ifdef SYS_lstat64
#define sys_lstat(path, st) kernel2(SYS_lstat64, (long)(path), (long)(st))
#else
#define sys_lstat(path, st) kernel2(SYS_lstat, (long)(path), (long)(st))
#endif
#else
#define sys_open(path, flags) kernel4(SYS_openat, AT_FDCWD, (long)(path), flags, 0666)
#define sys_unlink(path) kernel3(SYS_unlinkat, AT_FDCWD, (long)(path), 0)
#define sys_rename(from, to) kernel4(SYS_renameat, AT_FDCWD, (long)(from), AT_FDCWD, (long)(to))
#define sys_lstat(path, st) kernel4(SYS_newfstatat, AT_FDCWD, (long)(path), (long)(st), AT_SYMLINK_NOFOLLOW)
#endif
// The kernel's struct stat, which is not that of every C library.
typedef uint32_t file_status[64];
#ifdef __x86_64__
#define mode_of(st) ((st)[6])
#else
#define mode_of(st) ((st)[4])
#endif
#else
static long result(long r) { return r < 0 ? -errno : r; }
#define sys_open(path, flags) result(open(path, flags, 0666))
#define sys_unlink(path) unlink(path)
#define sys_rename(from, to) result(rename(from, to))
#define sys_lstat(path, st) lstat(path, st)
#define sys_write(fd, p, n) result(write((int)(fd), p, n))
#define sys_close(fd) result(close((int)(fd)))
#define sys_getcwd(p, n) getcwd(p, n)
#define sys_getpid() getpid()
#define sys_kill(pid, number) kill(pid, number)
#define sys_yield() sched_yield()
typedef struct stat file_status[1];
#define mode_of(st) ((st)->st_mode)
#endif

// ---- The records of coverage ----

#if defined(__x86_64__) && defined(__ELF__) && defined(PROFUSE_MIP_COVERAGE)
// Probes write to words of one or four bytes, which take no space in the file, like the
// raw section that is made of them.
extern const uint8_t header[] __asm__("__start___profuse_mip_header") __attribute__((weak, visibility("hidden")));
extern const uint8_t hits[] __asm__("__start___profuse_mip_hits") __attribute__((weak, visibility("hidden")));
extern const uint8_t hits_stop[] __asm__("__stop___profuse_mip_hits") __attribute__((weak, visibility("hidden")));
__asm__(".hidden __start___profuse_mip_header\n"
        ".hidden __start___profuse_mip_hits\n.hidden __stop___profuse_mip_hits\n");

// gather makes the raw section. It fails if objects have words of different sizes.
static int gather(void) {
  if (!header)
    return 1;
  memcpy(raw_start, header, HEADER_SIZE);
  uint8_t *to = raw_start + HEADER_SIZE;
  const uint8_t *from = hits;
  const int width = hits_stop - from > raw_stop - to ? 4 : 1;
  for (; to < raw_stop; to++) {
    *to = 0xff;
    for (int i = width; i--;)
      if (*from++)
        *to = 0;
  }
  return from == hits_stop;
}
#else
static int gather(void) { return 1; }
#endif
