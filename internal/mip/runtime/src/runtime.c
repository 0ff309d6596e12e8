// The runtime that can do everything.

#ifndef PROFUSE_MIP_FILE

// ---- Text ----

static uint32_t load32(const uint8_t *p) {
  uint32_t v;
  memcpy(&v, p, sizeof v);
  return v;
}

// A buffer for text. Text that does not fit is cut off; the system refuses paths of
// that length.
#define TEXT_MAX (4096 + 512)
static char path[TEXT_MAX], temporary[TEXT_MAX];
static char scratch[TEXT_MAX] __attribute__((aligned(8)));
static char *out, *out_end;

static SHARED void begin(char *text) { out = text, out_end = text + TEXT_MAX - 1; }

static SHARED void put(char c) {
  if (out != out_end)
    *out++ = c;
  *out = 0;
}

static SHARED void put_string(const char *s) {
  while (*s)
    put(*s++);
}

static SHARED void put_number(uint32_t v, uint32_t base, int digits) {
  if (--digits > 0 || v >= base)
    put_number(v / base, base, digits);
  v %= base;
  put((char)(v < 10 ? '0' + v : 'a' - 10 + v));
}

static SHARED void complain(const char *what, const char *which, long error) {
  begin(scratch);
  put_string("[MIPRuntime]: ");
  put_string(what);
  put_string(which);
  put_string(": ");
  put_string(strerror((int)-error));
  put('\n');
  if (sys_write(2, scratch, out - scratch)) {
    // The error cannot be reported.
  }
}

// ---- Names of files ----

// Set once, as early as possible, because the program may change its environment
// and its working directory.
static char pattern[TEXT_MAX], folder[4096]; // empty if not set or unknown
static char ready, privileged;               // set-user-id: do not trust the environment

// Set when the image is loaded and when a profile is written, except in a signal
// handler.
static int images; // instrumented images in the process

#ifdef __ELF__
// A note marks instrumented images, so that they find each other.
#define NOTE "__profuse_mip_note"
#define NOTE_TYPE 0x4d4950
__asm__(".pushsection .note.profuse.mip,\"a\",%note\n"
        ".p2align 2\n"
        ".globl " NOTE "\n.hidden " NOTE "\n" NOTE ":\n"
        ".long 8, 0, 0x4d4950\n"
        ".asciz \"profuse\"\n"
        ".popsection\n");
extern const ElfW(Nhdr) our_note __asm__(NOTE) HIDDEN;
static const ElfW(Nhdr) *build_id;
extern const ElfW(Ehdr) image_header __asm__("__ehdr_start") __attribute__((weak, visibility("hidden")));

// find_note returns the note of an image with the given type and a name that begins
// with the given characters, or null. It compares every word, because no other data
// has the same words.
static SHARED const ElfW(Nhdr) *find_note(const struct dl_phdr_info *image, uint32_t type, const char *name) {
  for (int i = 0; i < image->dlpi_phnum; i++) {
    const ElfW(Phdr) *h = &image->dlpi_phdr[i];
    const uint8_t *p = (const uint8_t *)(image->dlpi_addr + h->p_vaddr), *end = p + h->p_memsz - sizeof(ElfW(Nhdr)) - 4;
    if (h->p_type == PT_NOTE)
      for (; p <= end; p += 4)
        if (load32(p + 8) == type && load32(p + 12) == load32((const uint8_t *)name))
          return (const ElfW(Nhdr) *)p;
  }
  return 0;
}

static int count_image(struct dl_phdr_info *image, size_t size, void *arg) {
  (void)size, (void)arg;
  const ElfW(Nhdr) *n = find_note(image, NOTE_TYPE, "prof");
  if (n)
    images++;
  if (n == &our_note)
    build_id = find_note(image, NT_GNU_BUILD_ID, "GNU");
  return 0;
}

static void look_around(void) {
  images = 0;
  dl_iterate_phdr(count_image, 0);
}

static void put_build_id(void) {
  if (!build_id)
    return;
  put('_');
  const uint8_t *p = (const uint8_t *)(build_id + 1) + 4;
  for (uint32_t i = 0; i < build_id->n_descsz; i++)
    put_number(p[i], 16, 2);
}
#else
static void look_around(void) { images = 1; }
static void put_build_id(void) {}
#endif

static void put_expanded(const char *s) {
  uint32_t hash = load32(raw_start + AT_MODULE_HASH);
  for (; *s; s++) {
    if (*s == '%') {
      switch (*++s) {
      case 'h':
        put_number(hash & 0xffff, 16, 4);
        continue;
      case 'm':
        put_number(hash, 16, 8);
        put_build_id();
        continue;
      case 'p':
        put_number((uint32_t)sys_getpid(), 10, 1);
        continue;
      case '%':
        break;
      default: // not ours
        s--;
      }
    }
    put(*s);
  }
}

// put_path appends the given name, or the one from the environment.
static void put_path(const char *given) {
  begin(path);
  if (given) {
    put_string(given);
    return;
  }
  const char *s = pattern;
  if (!*s)
    s = images > 1 ? "default_%h.mipraw" : "default.mipraw";
  if (*s != '/' && *folder == '/') {
    put_string(folder);
    put('/');
  }
  put_expanded(s);
}

static SHARED void configure(void) {
  if (ready)
    return;
  ready = 1;
#ifdef __linux__
  privileged = getauxval(AT_SECURE) != 0;
#else
  privileged = (char)issetugid();
#endif
  const char *name = privileged ? 0 : getenv("LLVM_MIP_PROFILE_FILENAME");
  if (name) {
    begin(pattern);
    put_string(name);
  }
  (void)sys_getcwd(folder, sizeof folder);
  look_around();
}

// ---- Writing ----

static SHARED long write_all(long fd, const void *from, size_t n) {
  for (const char *p = from; n;) {
    long done = sys_write(fd, p, n);
    if (done == -EINTR)
      continue;
    if (done < 0)
      return done;
    p += done, n -= (size_t)done;
  }
  return 0;
}

#ifndef PROFUSE_MIP_COVERAGE
// settle copies pairs of count and timestamp. It completes pairs that another
// thread has not finished: that thread has counted the first call of a function but
// not yet ranked it, or has reached the end of the counter's range.
static void settle(uint32_t *to, const uint32_t *from, size_t n) {
  for (; n >= 8; to += 2, from += 2, n -= 8) {
    uint32_t count = from[0], rank = from[1];
    if (rank == UNTOUCHED)
      count = UNTOUCHED;
    else if (count == UNTOUCHED)
      count--;
    to[0] = count, to[1] = rank;
  }
}
#endif

#ifdef PROFUSE_MIP_RUNTIME_BUFFER
static long write_calls(long fd); // in callgraph.c
#endif

static long write_records(long fd) {
#ifdef PROFUSE_MIP_COVERAGE
  return write_all(fd, raw_start, (size_t)(raw_stop - raw_start));
#else
  const uint8_t *p = raw_start, *pairs = raw_stop;
  uint32_t type = load32(p + AT_PROFILE_TYPE);
#ifdef PROFUSE_MIP_RUNTIME_BUFFER
  if (type & RETURN_ADDRESS)
    return write_calls(fd);
#endif
  if ((type & (CALL_COUNT | BLOCK_COVERAGE)) == CALL_COUNT) // otherwise only the map has the places of the pairs
    pairs = p + HEADER_SIZE;
  long failed = write_all(fd, p, (size_t)(pairs - p));
  for (size_t n; !failed && pairs < raw_stop; pairs += n) {
    n = (size_t)(raw_stop - pairs) < 4096 ? (size_t)(raw_stop - pairs) : 4096;
    settle((uint32_t *)scratch, (const uint32_t *)pairs, n);
    failed = write_all(fd, scratch, n);
  }
  return failed;
#endif
}

enum { QUIET = 1 }; // in signal handlers

// The process that is writing, 0 for none. One thread at a time uses the static
// buffers. A forked child does not wait for a thread of its parent.
static int writer;

// dump writes the profile to the given file, or if that is null, to the one that
// the environment names. It writes a temporary file and renames it, so that a file
// of that name is always complete.
static int dump(const char *given, int flags) {
  const long size = raw_stop - raw_start;
  if (size == 0)
    return 0;
  int me = (int)sys_getpid();
  while (__atomic_exchange_n(&writer, me, __ATOMIC_ACQUIRE) == me) {
    if (flags & QUIET)
      return -1;
    sys_yield();
  }
  configure();
  if (!(flags & QUIET))
    look_around();
  const char *what = "No header in section ", *which = "__llvm_mipraw";
  long failed = -EINVAL;
  if (size >= HEADER_SIZE && gather() && load32(raw_start) == MAGIC) {
    put_path(given);
    which = path;
    begin(temporary);
    put_string(path);
    put_string(".tmp");
    put_number((uint32_t)me, 10, 1);
    const int create = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC;
    file_status st;
    long fd = -1;
    // Write directly to devices, pipes and links.
    if (sys_lstat(path, st) != 0 || S_ISREG(mode_of(st))) {
      sys_unlink(temporary);
      fd = sys_open(temporary, create | O_EXCL);
    }
    int beside = fd >= 0;
    if (!beside)
      fd = sys_open(path, create);
    what = "Failed to open ", failed = fd;
    if (fd >= 0) {
      what = "Failed to write to ", failed = write_records(fd);
      long closed = sys_close(fd);
      if (!failed)
        failed = closed;
      if (beside && !failed)
        failed = sys_rename(temporary, path);
      sys_unlink(temporary); // fails if it was renamed to path
    }
  }
  if (failed && !(flags & QUIET))
    complain(what, which, failed);
  __atomic_store_n(&writer, 0, __ATOMIC_RELEASE);
  return failed ? -1 : 0;
}

HIDDEN void __llvm_dump_mip_profile(void) { dump(0, 0); }

HIDDEN int __llvm_dump_mip_profile_with_filename(const char *filename) { return dump(filename, 0); }

HIDDEN void *__llvm_mip_profile_begin(void) { return gather(), raw_start; }

HIDDEN void *__llvm_mip_profile_end(void) { return raw_stop; }

// ---- When the image is loaded and unloaded ----

#ifndef PROFUSE_MIP_NO_DUMP

#define ON_SIGNAL "PROFUSE_MIP_DUMP_ON_SIGNAL"

#ifdef PROFUSE_MIP_SIGNALS
// The previous actions of signals, by number.
#define SIGNALS 65
static struct sigaction before[SIGNALS];
static char any_taken;

// Programs continue after these.
#define BIT(number) (1ull << (number))
#define HARMLESS (BIT(SIGUSR1) | BIT(SIGUSR2) | BIT(SIGCHLD) | BIT(SIGCONT) | BIT(SIGURG) | BIT(SIGWINCH))

// on_signal writes the profile and then takes the previous action: it calls the
// program's own handler, or the program ends. SIGUSR1 and SIGUSR2 do not end the
// program, because nobody sends them by accident.
static void on_signal(int number, siginfo_t *info, void *context) {
  dump(0, QUIET);
  struct sigaction *b = &before[number];
  if (b->sa_handler == SIG_DFL) {
    if (!(HARMLESS >> number & 1)) {
      sigaction(number, b, 0);
      sys_kill(sys_getpid(), number); // arrives when this handler returns
    }
  } else if (b->sa_handler != SIG_IGN) {
    // The system passes three arguments to handlers with one, too.
    b->sa_sigaction(number, info, context);
  }
}

// The names of signals by number, from 1.
#define NAME(a, b, c, d) ((uint32_t)(a) << 24 | (b) << 16 | (c) << 8 | (d))
static const uint32_t names[] = {
    NAME(0, 'H', 'U', 'P'),   NAME(0, 'I', 'N', 'T'),   NAME('Q', 'U', 'I', 'T'), NAME(0, 'I', 'L', 'L'),
    NAME('T', 'R', 'A', 'P'), NAME('A', 'B', 'R', 'T'),
#ifdef __linux__
    NAME(0, 'B', 'U', 'S'),   NAME(0, 'F', 'P', 'E'),   NAME('K', 'I', 'L', 'L'), NAME('U', 'S', 'R', '1'),
    NAME('S', 'E', 'G', 'V'), NAME('U', 'S', 'R', '2'), NAME('P', 'I', 'P', 'E'), NAME('A', 'L', 'R', 'M'),
    NAME('T', 'E', 'R', 'M'),
#else // macOS and the BSDs
    0,                        NAME(0, 'F', 'P', 'E'),   NAME('K', 'I', 'L', 'L'), NAME(0, 'B', 'U', 'S'),
    NAME('S', 'E', 'G', 'V'), 0,                        NAME('P', 'I', 'P', 'E'), NAME('A', 'L', 'R', 'M'),
    NAME('T', 'E', 'R', 'M'), 0, 0, 0, 0, 0, 0, 0, 0,   NAME('X', 'C', 'P', 'U'),
    0, 0, 0, 0, 0,            NAME('U', 'S', 'R', '1'), NAME('U', 'S', 'R', '2'),
#endif
};

static void handle_signals(const char *list) {
  static struct sigaction action; // zero but for these
  action.sa_sigaction = on_signal, action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  for (const char *s = list; s && *s; s = list += *list == ',') {
    if (load32((const uint8_t *)s) << 8 == load32((const uint8_t *)"SIG") << 8)
      list += 3;
    uint64_t name = 0;
    uint32_t number = 0;
    const int is_name = *list > '9';
    for (; *list && *list != ','; list++) {
      number = 10 * number + (uint32_t)(*list - '0');
      name = name << 8 | (uint8_t)*list;
    }
    if (name == NAME('X', 'C', 'P', 'U'))
      number = SIGXCPU;
    else if (is_name)
      for (number = sizeof names / sizeof *names; number > 0 && names[number - 1] != name; number--)
        ;
    if (number < SIGNALS && sigaction((int)number, &action, &before[number]) == 0)
      any_taken = 1;
    else
      complain(ON_SIGNAL ": ", s, -EINVAL);
  }
}
#endif

__attribute__((constructor(101))) static void loaded(void) {
  configure();
  if (privileged)
    return;
  const char *list = getenv(ON_SIGNAL);
#ifdef PROFUSE_MIP_SIGNALS
  handle_signals(list);
#else
  if (list)
    complain(ON_SIGNAL, ": not linked with -fmachine-profile-signals", -ENOSYS);
#endif
}

// A destructor, unlike an atexit handler, also runs when a library is unloaded, and
// after the handlers that the program has registered. The priority makes it the last
// of the image.
__attribute__((destructor(101))) static void unloaded(void) {
#ifdef PROFUSE_MIP_SIGNALS
  // Handlers installed since then stay.
  for (int i = 1; any_taken && i < SIGNALS; i++) {
    struct sigaction now;
    if (sigaction(i, 0, &now) == 0 && now.sa_sigaction == on_signal)
      sigaction(i, &before[i], 0);
  }
#endif
  if (!privileged)
    dump(0, 0);
}

#endif // PROFUSE_MIP_NO_DUMP

// ---- First calls ----

#ifndef PROFUSE_MIP_COVERAGE
// Probes that count calls increment a counter that starts at 0xffffffff, and call
// this code when it becomes 0, on the first call. This code increments the counter
// once more, so that memory has the number of calls, and gives the function the next
// rank. The counter becomes 0 again after 2^32 calls; it is then reduced a little, so
// that it stays near the end of its range.
#define PUT_BACK "0x10000000"

#define FIRST "__profuse_mip_first"

HIDDEN __attribute__((used)) uint32_t __profuse_mip_rank;

#if defined(__x86_64__)
// Called by the third instruction of "incl record(%rip); jne; call"; the
// displacement in the first gives the record. It preserves registers.
__asm__(".text\n" GLOBAL(FIRST) SYMBOL(FIRST) ":\n"
        "  pushq %rax\n"
        "  pushq %rcx\n"
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
        "  popq %rax\n"
        "  ret\n"
        "1:\n"
        "  lock subl $" PUT_BACK ", (%rcx)\n"
        "  jmp 2b\n"
        FINISH(FIRST));
#elif defined(__aarch64__)
// x16 is the record, x17 the caller's link register. It preserves all other
// registers.
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
#endif // PROFUSE_MIP_COVERAGE
#endif // PROFUSE_MIP_FILE
