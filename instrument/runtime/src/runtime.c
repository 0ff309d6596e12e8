// The runtime of MIP profiles: linked into every instrumented program and
// library, it writes the section of raw records into a file when the image is
// unloaded, which for a program is at its end.
//
// Every image carries a copy of its own, so nothing here is visible outside of
// it. The functions that programs may call:
//
//   void __llvm_dump_mip_profile(void);
//   int __llvm_dump_mip_profile_with_filename(const char *filename);
//   void *__llvm_mip_profile_begin(void);
//   void *__llvm_mip_profile_end(void);
//
// With PROFUSE_MIP_NO_DUMP defined the profile is written only when they are
// called.

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __ELF__
#include <link.h>
#endif
#ifdef __linux__
#include <sys/auxv.h>
#endif

#define HIDDEN __attribute__((visibility("hidden")))

#ifdef __APPLE__
extern uint8_t raw_start[] __asm__("section$start$__DATA$__llvm_mipraw");
extern uint8_t raw_stop[] __asm__("section$end$__DATA$__llvm_mipraw");
#else
// Weak: an image may have nothing instrumented in it.
extern uint8_t raw_start[] __asm__("__start___llvm_mipraw") __attribute__((weak, visibility("hidden")));
extern uint8_t raw_stop[] __asm__("__stop___llvm_mipraw") __attribute__((weak, visibility("hidden")));
// gcc does not say so of names given by __asm__.
__asm__(".hidden __start___llvm_mipraw\n.hidden __stop___llvm_mipraw\n");
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

static uint32_t load32(const uint8_t *p) {
  uint32_t v;
  memcpy(&v, p, sizeof v);
  return v;
}

// ---- Names of files ----

#define PATTERN_MAX 4096
#define PATH_MAX_HERE (PATTERN_MAX + 512)

static struct {
  int ready;
  int is_default; // no name was asked for
  int privileged; // set-user-id: the environment is not to be trusted
  int images;     // instrumented images in the process
  char pattern[PATTERN_MAX]; // absolute
} config;

// An array that is written from its start; what does not fit is remembered.
struct text {
  char *at, *end;
  int overflow;
};

static void put(struct text *t, char c) {
  if (t->at + 1 < t->end)
    *t->at++ = c;
  else
    t->overflow = 1;
  *t->at = 0;
}

static void put_string(struct text *t, const char *s) {
  while (*s)
    put(t, *s++);
}

static void put_hex(struct text *t, uint32_t v, int digits) {
  while (digits-- > 0)
    put(t, "0123456789abcdef"[v >> (4 * digits) & 15]);
}

static void put_decimal(struct text *t, unsigned long v) {
  char digits[24];
  int n = 0;
  do
    digits[n++] = (char)('0' + v % 10);
  while (v /= 10);
  while (n)
    put(t, digits[--n]);
}

#ifdef __ELF__
// A note marks instrumented images, so that each finds the others.
#define NOTE_NAME "profuse"
__asm__(".pushsection .note.profuse.mip,\"a\",%note\n"
        ".p2align 2\n"
        ".long 8, 0, 0x4d4950\n"
        ".asciz \"" NOTE_NAME "\"\n"
        ".popsection\n");

// each_note calls visit with the notes of an image until it returns nonzero.
static int each_note(uintptr_t base, const ElfW(Phdr) *header, int headers,
                     int (*visit)(const ElfW(Nhdr) *, const char *name, const uint8_t *desc, void *), void *arg) {
  for (int i = 0; i < headers; i++) {
    if (header[i].p_type != PT_NOTE)
      continue;
    // Notes are aligned to 8 only in segments that are, too.
    uintptr_t align = header[i].p_align == 8 ? 7 : 3;
    const uint8_t *p = (const uint8_t *)(base + header[i].p_vaddr), *end = p + header[i].p_memsz;
    while ((uintptr_t)(end - p) >= sizeof(ElfW(Nhdr))) {
      const ElfW(Nhdr) *n = (const ElfW(Nhdr) *)p;
      const uint8_t *name = p + sizeof *n;
      uintptr_t desc = (sizeof *n + n->n_namesz + align) & ~align;
      uintptr_t next = (desc + n->n_descsz + align) & ~align;
      if (next > (uintptr_t)(end - p) || next < desc)
        break;
      int r = visit(n, (const char *)name, p + desc, arg);
      if (r)
        return r;
      p += next;
    }
  }
  return 0;
}

static int is_our_note(const ElfW(Nhdr) *n, const char *name, const uint8_t *desc, void *arg) {
  (void)desc, (void)arg;
  return n->n_namesz == sizeof NOTE_NAME && memcmp(name, NOTE_NAME, sizeof NOTE_NAME) == 0;
}

static int count_image(struct dl_phdr_info *info, size_t size, void *count) {
  (void)size;
  *(int *)count += each_note(info->dlpi_addr, info->dlpi_phdr, info->dlpi_phnum, is_our_note, 0);
  return 0;
}

static int count_images(void) {
  int n = 0;
  dl_iterate_phdr(count_image, &n);
  return n;
}

static int put_build_id(const ElfW(Nhdr) *n, const char *name, const uint8_t *desc, void *arg) {
  if (n->n_type != NT_GNU_BUILD_ID || n->n_namesz != 4 || memcmp(name, "GNU", 4) != 0)
    return 0;
  put(arg, '_');
  for (unsigned i = 0; i < n->n_descsz; i++)
    put_hex(arg, desc[i], 2);
  return 1;
}

extern const ElfW(Ehdr) image_header __asm__("__ehdr_start") __attribute__((weak, visibility("hidden")));
#else
static int count_images(void) { return 1; }
#endif

// put_module writes what tells the image, and the build of it, from others.
static void put_module(struct text *t) {
  put_hex(t, load32(raw_start + AT_MODULE_HASH), 8);
#ifdef __ELF__
  if (&image_header) {
    uintptr_t at = (uintptr_t)&image_header, base = at;
    const ElfW(Phdr) *p = (const ElfW(Phdr) *)(at + image_header.e_phoff);
    for (int i = 0; i < image_header.e_phnum; i++)
      if (p[i].p_type == PT_LOAD && p[i].p_offset == 0)
        base = at - p[i].p_vaddr;
    each_note(base, p, image_header.e_phnum, put_build_id, t);
  }
#endif
}

static void put_expanded(struct text *t, const char *pattern) {
  for (const char *s = pattern; *s; s++) {
    if (*s != '%') {
      put(t, *s);
      continue;
    }
    switch (*++s) {
    case 'h':
      put_hex(t, load32(raw_start + AT_MODULE_HASH), 4);
      break;
    case 'm':
      put_module(t);
      break;
    case 'p':
      put_decimal(t, (unsigned long)getpid());
      break;
    case '%':
      put(t, '%');
      break;
    default: // not ours
      put(t, '%');
      s--;
    }
  }
}

// configure reads the environment once, as early as possible: the program may
// change it, and its working directory.
static void configure(void) {
  if (config.ready)
    return;
  config.ready = 1;
#ifdef __linux__
  config.privileged = getauxval(AT_SECURE) != 0;
#else
  config.privileged = issetugid();
#endif
  const char *name = config.privileged ? 0 : getenv("LLVM_MIP_PROFILE_FILENAME");
  struct text t = {config.pattern, config.pattern + sizeof config.pattern, 0};
  config.is_default = !name || !*name;
  char folder[PATTERN_MAX];
  if ((config.is_default || *name != '/') && getcwd(folder, sizeof folder)) {
    for (const char *s = folder; *s; s++) {
      if (*s == '%') // not a pattern
        put(&t, '%');
      put(&t, *s);
    }
    put(&t, '/');
  }
  put_string(&t, config.is_default ? "default.mipraw" : name);
  config.images = count_images();
}

// ---- Writing ----

static int write_all(int fd, const uint8_t *p, size_t n) {
  while (n > 0) {
    ssize_t done = write(fd, p, n);
    if (done < 0 && errno == EINTR)
      continue;
    if (done < 0)
      return -1;
    p += done, n -= (size_t)done;
  }
  return 0;
}

// settle completes pairs of count and timestamp that another thread was just
// about to: it has counted its function's first call and not yet ranked it, or
// has come to the end of the counter's range.
static void settle(uint8_t *p, size_t n) {
  for (; n >= 8; p += 8, n -= 8) {
    uint32_t r[2];
    memcpy(r, p, sizeof r);
    if (r[0] != UNTOUCHED && r[1] == UNTOUCHED)
      r[0] = UNTOUCHED;
    else if (r[0] == UNTOUCHED && r[1] != UNTOUCHED)
      r[0] = UNTOUCHED - 1;
    else
      continue;
    memcpy(p, r, sizeof r);
  }
}

#ifdef PROFUSE_MIP_RUNTIME_BUFFER
static int write_calls(int fd); // in callgraph.c
#endif

static int write_records(int fd) {
  static uint8_t chunk[4096];
  const uint8_t *p = raw_start;
  uint32_t type = load32(p + AT_PROFILE_TYPE);
#ifdef PROFUSE_MIP_RUNTIME_BUFFER
  if (type & RETURN_ADDRESS)
    return write_calls(fd);
#endif
  if (!(type & CALL_COUNT) || type & BLOCK_COVERAGE) // records of a size that only the map knows
    return write_all(fd, p, (size_t)(raw_stop - p));
  if (write_all(fd, p, HEADER_SIZE) != 0)
    return -1;
  for (p += HEADER_SIZE; p < raw_stop;) {
    size_t n = (size_t)(raw_stop - p) < sizeof chunk ? (size_t)(raw_stop - p) : sizeof chunk;
    memcpy(chunk, p, n);
    settle(chunk, n);
    if (write_all(fd, chunk, n) != 0)
      return -1;
    p += n;
  }
  return 0;
}

enum { QUIET = 1 }; // in signal handlers

static void complain(int flags, const char *what, const char *path) {
  if (flags & QUIET)
    return;
  static char line[PATH_MAX_HERE + 256];
  struct text t = {line, line + sizeof line - 1, 0};
  const char *why = strerror(errno);
  put_string(&t, "[MIPRuntime]: ");
  put_string(&t, what);
  put_string(&t, path);
  put_string(&t, ": ");
  put_string(&t, why);
  put(&t, '\n');
  if (write_all(2, (const uint8_t *)line, (size_t)(t.at - line))) {
    // Nobody is left to tell.
  }
}

static int write_to(int fd, const char *path, int flags) {
  int failed = write_records(fd);
  int cause = errno;
  if (close(fd) != 0 && !failed)
    failed = -1, cause = errno;
  errno = cause;
  if (failed)
    complain(flags, "Failed to write to ", path);
  return failed;
}

// replace writes a file beside path and puts it in its place, so that what is
// at path is whole at any time.
static int replace(const char *path, int flags) {
  static char temporary[PATH_MAX_HERE + 32];
  struct stat st;
  const int create = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC;
  int fd = -1;
  // Devices, pipes and links are written through.
  if (lstat(path, &st) != 0 || S_ISREG(st.st_mode)) {
    struct text t = {temporary, temporary + sizeof temporary, 0};
    put_string(&t, path);
    put_string(&t, ".tmp");
    put_decimal(&t, (unsigned long)getpid());
    if (!t.overflow) {
      unlink(temporary);
      fd = open(temporary, create | O_EXCL, 0666);
    }
    if (fd >= 0) {
      int failed = write_to(fd, path, flags);
      if (!failed && rename(temporary, path) != 0) {
        complain(flags, "Failed to write to ", path);
        failed = -1;
      }
      if (failed)
        unlink(temporary);
      return failed;
    }
  }
  fd = open(path, create, 0666);
  if (fd < 0) {
    complain(flags, "Failed to open ", path);
    return -1;
  }
  return write_to(fd, path, flags);
}

// The process that is writing. One thread at a time uses the static buffers; a
// child of fork does not wait for a thread that it does not have.
static int writer;

static int acquire(int wait) {
  int me = (int)getpid();
  for (;;) {
    int owner = __atomic_load_n(&writer, __ATOMIC_RELAXED);
    if (owner != me && __atomic_compare_exchange_n(&writer, &owner, me, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
      return 1;
    if (!wait)
      return 0;
    sched_yield();
  }
}

static void release(void) { __atomic_store_n(&writer, 0, __ATOMIC_RELEASE); }

// dump writes the profile to path, to where the environment says if null.
static int dump(const char *path, int flags) {
  static char expanded[PATH_MAX_HERE];
  if (&raw_start[0] == &raw_stop[0])
    return 0;
  int saved = errno;
  if (!acquire(!(flags & QUIET)))
    return -1;
  int failed = -1;
  if (raw_stop - raw_start < HEADER_SIZE || load32(raw_start) != MAGIC) {
    errno = EINVAL;
    complain(flags, "No header at the start of section ", "__llvm_mipraw");
  } else if (path) {
    failed = replace(path, flags);
  } else {
    configure();
    if (!(flags & QUIET))
      config.images = count_images();
    const char *pattern = config.pattern;
    struct text t = {expanded, expanded + sizeof expanded, 0};
    put_expanded(&t, pattern);
    if (config.is_default && config.images > 1) {
      t.at -= sizeof ".mipraw" - 1;
      put_expanded(&t, "_%h.mipraw");
    }
    if (t.overflow) {
      errno = ENAMETOOLONG;
      complain(flags, "Failed to open ", expanded);
    } else {
      failed = replace(expanded, flags);
    }
  }
  release();
  errno = saved;
  return failed;
}

HIDDEN void __llvm_dump_mip_profile(void) { dump(0, 0); }

HIDDEN int __llvm_dump_mip_profile_with_filename(const char *filename) { return dump(filename, 0); }

HIDDEN void *__llvm_mip_profile_begin(void) { return raw_start; }

HIDDEN void *__llvm_mip_profile_end(void) { return raw_stop; }

// ---- When the image is loaded and unloaded ----

#ifndef PROFUSE_MIP_NO_DUMP

#define SIGNALS_MAX 8
static struct {
  int number;
  struct sigaction before;
} handled[SIGNALS_MAX];
static int handled_count;

static int is_fatal(int number) {
  return number != SIGUSR1 && number != SIGUSR2 && number != SIGCHLD && number != SIGCONT && number != SIGURG &&
         number != SIGWINCH;
}

// on_signal writes the profile and then does what would have happened without:
// the program's own handler runs, or the program ends. SIGUSR1 and SIGUSR2,
// which nobody sends by accident, do not end it.
static void on_signal(int number, siginfo_t *info, void *context) {
  int saved = errno;
  dump(0, QUIET);
  for (int i = 0; i < handled_count; i++) {
    if (handled[i].number != number)
      continue;
    struct sigaction *before = &handled[i].before;
    if (before->sa_flags & SA_SIGINFO) {
      before->sa_sigaction(number, info, context);
    } else if (before->sa_handler != SIG_DFL && before->sa_handler != SIG_IGN) {
      before->sa_handler(number);
    } else if (before->sa_handler == SIG_DFL && is_fatal(number)) {
      sigaction(number, before, 0);
      raise(number); // arrives when this handler returns
    }
  }
  errno = saved;
}

static int signal_number(const char *name, size_t length) {
  static const struct {
    char name[8];
    int number;
  } names[] = {{"USR1", SIGUSR1}, {"USR2", SIGUSR2}, {"HUP", SIGHUP},   {"INT", SIGINT},   {"TERM", SIGTERM},
               {"QUIT", SIGQUIT}, {"ABRT", SIGABRT}, {"ALRM", SIGALRM}, {"SEGV", SIGSEGV}, {"BUS", SIGBUS},
               {"FPE", SIGFPE},   {"ILL", SIGILL},   {"TRAP", SIGTRAP}, {"PIPE", SIGPIPE}, {"XCPU", SIGXCPU}};
  int n = 0;
  for (size_t i = 0; i < length && name[i] >= '0' && name[i] <= '9' && n < 1000; i++)
    n = 10 * n + (name[i] - '0');
  if (n)
    return n;
  if (length > 3 && memcmp(name, "SIG", 3) == 0)
    name += 3, length -= 3;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strlen(names[i].name) == length && memcmp(names[i].name, name, length) == 0)
      return names[i].number;
  return 0;
}

static void handle_signals(const char *list) {
  while (list && *list && handled_count < SIGNALS_MAX) {
    size_t length = strcspn(list, ",");
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    int number = signal_number(list, length);
    handled[handled_count].number = number;
    if (number && sigaction(number, &action, &handled[handled_count].before) == 0)
      handled_count++;
    else {
      errno = EINVAL;
      complain(0, "PROFUSE_MIP_DUMP_ON_SIGNAL: ", list);
    }
    list += length + (list[length] == ',');
  }
}

__attribute__((constructor(101))) static void loaded(void) {
  configure();
  if (!config.privileged)
    handle_signals(getenv("PROFUSE_MIP_DUMP_ON_SIGNAL"));
}

// A destructor and not atexit: it runs when a library is unloaded, too, and
// after the handlers that the program has registered. The number makes it the
// last of the image.
__attribute__((destructor(101))) static void unloaded(void) {
  // Handlers that have taken our place since stay.
  for (int i = handled_count; i-- > 0;) {
    struct sigaction now;
    if (sigaction(handled[i].number, 0, &now) == 0 && now.sa_flags & SA_SIGINFO && now.sa_sigaction == on_signal)
      sigaction(handled[i].number, &handled[i].before, 0);
  }
  if (!config.privileged)
    dump(0, 0);
}

#endif // PROFUSE_MIP_NO_DUMP

// ---- First calls ----

// Probes that count calls increment a counter that begins at 0xffffffff and
// come here when that gives 0: on the first call. The counter is incremented
// once more, so that memory has the number of calls, and the function gets the
// next rank. It gives 0 again after 2^32 calls; the counter is then put back a
// little, so that it stays near the end of its range.
#define PUT_BACK "0x10000000"

#if defined(__APPLE__)
#define SYMBOL(name) "_" name
#define GLOBAL(name) ".globl _" name "\n.private_extern _" name "\n"
#define FINISH(name)
#else
#define SYMBOL(name) name
#define GLOBAL(name) ".globl " name "\n.hidden " name "\n.type " name ",%function\n"
#define FINISH(name) ".size " name ",.-" name "\n"
#endif

#define FIRST "__profuse_mip_first"

HIDDEN __attribute__((used)) uint32_t __profuse_mip_rank;

#if defined(__x86_64__)
// Called by the third instruction of "incl record(%rip); jne; call": the
// displacement in the first tells the record. Registers are preserved.
__asm__(".text\n" GLOBAL(FIRST) SYMBOL(FIRST) ":\n"
        "  .cfi_startproc\n"
        "  pushq %rax\n"
        "  .cfi_adjust_cfa_offset 8\n"
        "  pushq %rcx\n"
        "  .cfi_adjust_cfa_offset 8\n"
        "  movq 16(%rsp), %rax\n"
        "  movslq -11(%rax), %rcx\n"
        "  leaq -7(%rax,%rcx), %rcx\n"
        "  cmpl $-1, 4(%rcx)\n"
        "  jne 1f\n"
        "  lock incl (%rcx)\n"
        "  movl $1, %eax\n"
        "  lock xaddl %eax, " SYMBOL("__profuse_mip_rank") "(%rip)\n"
        "  incl %eax\n"
        "  movl %eax, 4(%rcx)\n"
        "2:\n"
        "  popq %rcx\n"
        "  .cfi_adjust_cfa_offset -8\n"
        "  popq %rax\n"
        "  .cfi_adjust_cfa_offset -8\n"
        "  ret\n"
        "1:\n"
        "  .cfi_adjust_cfa_offset 16\n"
        "  lock subl $" PUT_BACK ", (%rcx)\n"
        "  jmp 2b\n"
        "  .cfi_endproc\n" FINISH(FIRST));
#elif defined(__aarch64__)
// x16 is the record, x17 the caller's link register. Everything else is
// preserved.
#ifdef __APPLE__
#define PAGE(symbol) SYMBOL(symbol) "@PAGE"
#define LOW(symbol) SYMBOL(symbol) "@PAGEOFF"
#else
#define PAGE(symbol) symbol
#define LOW(symbol) ":lo12:" symbol
#endif
__asm__(".text\n.p2align 2\n" GLOBAL(FIRST) SYMBOL(FIRST) ":\n"
        "  .cfi_startproc\n"
        "  .cfi_register x30, x17\n"
        "  hint #34\n"
        "  stp x0, x1, [sp, #-32]!\n"
        "  .cfi_adjust_cfa_offset 32\n"
        "  stp x2, x17, [sp, #16]\n"
        "  .cfi_offset x30, -8\n"
        "  ldr w0, [x16, #4]\n"
        "  cmn w0, #1\n"
        "  mov w1, #1\n"
        "  mov w2, #-" PUT_BACK "\n"
        "  csel w1, w1, w2, eq\n"
        "1: ldaxr w2, [x16]\n"
        "  add w2, w2, w1\n"
        "  stlxr w17, w2, [x16]\n"
        "  cbnz w17, 1b\n"
        "  cmp w1, #1\n"
        "  b.ne 3f\n"
        "  adrp x0, " PAGE("__profuse_mip_rank") "\n"
        "  add x0, x0, " LOW("__profuse_mip_rank") "\n"
        "2: ldaxr w1, [x0]\n"
        "  add w1, w1, #1\n"
        "  stlxr w2, w1, [x0]\n"
        "  cbnz w2, 2b\n"
        "  str w1, [x16, #4]\n"
        "3: mov x16, x30\n"
        "  ldp x2, x30, [sp, #16]\n"
        "  .cfi_restore x30\n"
        "  ldp x0, x1, [sp], #32\n"
        "  .cfi_adjust_cfa_offset -32\n"
        "  ret x16\n"
        "  .cfi_endproc\n" FINISH(FIRST));
#endif
