// The dynamic call graph: who called whom, from samples of return addresses.
// This part follows the rest of the runtime when PROFUSE_MIP_RUNTIME_BUFFER is
// defined, the number of bytes that call edges may take.
//
// The probe is the one for call counts, but counters are negative: each counts
// up to the next call to sample, and the probe calls this code when the counter
// reaches zero. Other calls cost no more than counting.
//
// The calls of a function are divided into windows. One call of each window,
// chosen at random, represents the window: its return address gets the length
// of the window as weight. The first windows have one call each, so the edges
// of rarely called functions are exact; later windows are longer. Every call
// has the same chance, so weights are proportional even if callers alternate in
// step with the windows. Random numbers depend on the function and the number
// of the call only, so equal runs write equal profiles.
//
// Two words precede each raw record:
//
//   u32 next  offset of the record of another function that was called, 1 at
//             the end of the list; 0 for functions not called yet
//   u32 due   the number of the call at which the counter becomes zero
//
// The number of calls is due + counter; the file has that number.

#ifdef PROFUSE_MIP_RUNTIME_BUFFER
#include <sys/mman.h>

#define WINDOWS_PER_LENGTH 64
#define LONGEST_WINDOW_BITS 8 // 256 calls

#define EDGES (PROFUSE_MIP_RUNTIME_BUFFER / 12)
#define PROBES_MAX 32u // slots tried for a key

#define NEXT -2
#define DUE -1
#define COUNT 0
#define RANK 1
#define LIST_END 1u

#if defined(__x86_64__) || !defined(__clang__)
#define GENERAL_REGISTERS __attribute__((target("general-regs-only")))
#else
#define GENERAL_REGISTERS // this code needs no others
#endif

// The edges, a hash table with open addressing. A key is callee << 32 | site,
// both relative to the raw section, or 0 in an empty slot. The site is 0 for
// callers outside the image.
static uint64_t edge_keys[EDGES];
static uint32_t edge_weights[EDGES];
static uint32_t dropped; // weight of calls that did not fit in the table
static uint32_t called = LIST_END; // first record of the list
static uintptr_t code_start, code_stop;

extern uint32_t __profuse_mip_rank;

static uint32_t mix(uint32_t h) {
  h ^= h >> 16, h *= 0x85ebca6bu;
  h ^= h >> 13, h *= 0xc2b2ae35u;
  return h ^ h >> 16;
}

GENERAL_REGISTERS static inline void add_saturating(uint32_t *to, uint32_t n) {
  if (__atomic_load_n(to, __ATOMIC_RELAXED) < 0xf0000000u)
    __atomic_fetch_add(to, n, __ATOMIC_RELAXED);
}

GENERAL_REGISTERS static inline void add_edge(uint32_t callee, uint32_t site, uint32_t weight) {
  uint64_t key = (uint64_t)callee << 32 | site;
  uint32_t h = mix(callee * 0x9e3779b1u ^ site);
  for (uint32_t i = 0; i < PROBES_MAX && i < EDGES; i++) {
    uint32_t at = (uint32_t)(((uint64_t)h * EDGES) >> 32) + i;
    at -= at >= EDGES ? EDGES : 0;
    uint64_t have = __atomic_load_n(&edge_keys[at], __ATOMIC_RELAXED);
    if (have == 0 && __atomic_compare_exchange_n(&edge_keys[at], &have, key, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
      have = key;
    if (have == key) {
      add_saturating(&edge_weights[at], weight);
      return;
    }
  }
  add_saturating(&dropped, weight);
}

// window finds the window of a call: its length as a power of two, returned,
// and the number of the call before it.
GENERAL_REGISTERS static inline int window(uint32_t call, uint32_t *before) {
  int bits = 31 - __builtin_clz((call - 1) / WINDOWS_PER_LENGTH + 1);
  if (bits > LONGEST_WINDOW_BITS)
    bits = LONGEST_WINDOW_BITS;
  uint32_t first = WINDOWS_PER_LENGTH * ((1u << bits) - 1);
  *before = first + (((call - 1 - first) >> bits) << bits);
  return bits;
}

// find_code finds the address range of the code of the image.
GENERAL_REGISTERS static void find_code(void) {
#ifdef __APPLE__
  extern uint8_t text_start[] __asm__("section$start$__TEXT$__text");
  extern uint8_t text_stop[] __asm__("section$end$__TEXT$__text");
  uintptr_t start = (uintptr_t)text_start, stop = (uintptr_t)text_stop;
#else
  // Without a loaded header, the range that the displacements of code can reach.
  const uintptr_t reach = 0x7fffffff, here = (uintptr_t)raw_start;
  uintptr_t start = here > reach ? here - reach : 0, stop = here + reach > here ? here + reach : UINTPTR_MAX - 1;
  if (&image_header) {
    uintptr_t at = (uintptr_t)&image_header, base = at;
    const ElfW(Phdr) *p = (const ElfW(Phdr) *)(at + image_header.e_phoff);
    for (int i = 0; i < image_header.e_phnum; i++)
      if (p[i].p_type == PT_LOAD && p[i].p_offset == 0)
        base = at - p[i].p_vaddr;
    start = UINTPTR_MAX, stop = 0;
    for (int i = 0; i < image_header.e_phnum; i++) {
      if (p[i].p_type != PT_LOAD || !(p[i].p_flags & PF_X))
        continue;
      uintptr_t from = base + p[i].p_vaddr, to = from + p[i].p_memsz;
      start = from < start ? from : start;
      stop = to > stop ? to : stop;
    }
  }
#endif
  code_start = start;
  __atomic_store_n(&code_stop, stop + 1, __ATOMIC_RELEASE); // the last instruction may be a call
}

// __profuse_mip_edge records the current call of a function whose counter has
// become zero, and sets the counter to become zero again in the next window.
GENERAL_REGISTERS HIDDEN __attribute__((used, noinline)) void __profuse_mip_edge(uint32_t *record, uintptr_t site) {
  if (!__atomic_load_n(&code_stop, __ATOMIC_ACQUIRE))
    find_code();
  uint32_t callee = (uint32_t)((uintptr_t)record - (uintptr_t)raw_start);
  uint32_t none = 0;
  if (__atomic_load_n(&record[NEXT], __ATOMIC_RELAXED) == 0 &&
      __atomic_compare_exchange_n(&record[NEXT], &none, LIST_END, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    record[RANK] = __atomic_add_fetch(&__profuse_mip_rank, 1, __ATOMIC_RELAXED);
    uint32_t head = __atomic_load_n(&called, __ATOMIC_RELAXED);
    do
      __atomic_store_n(&record[NEXT], head, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&called, &head, callee, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
  }
  uint32_t late = __atomic_load_n(&record[COUNT], __ATOMIC_RELAXED);
  uint32_t call = __atomic_load_n(&record[DUE], __ATOMIC_RELAXED) + late;
  if (late >> 31) // another thread was faster
    return;
  uint32_t before, put_back = 0;
  if (call >= 0xf0000000u) // keep the counter near the end of its range
    put_back = 0x10000000u;
  uint32_t length = 1u << window(call, &before);
  add_edge(callee, site >= code_start && site < code_stop ? (uint32_t)(site - (uintptr_t)raw_start) : 0, length);
  uint32_t next_before = before + length, unused;
  length = 1u << window(next_before + 1, &unused);
  uint32_t next = next_before + 1 + (mix(callee ^ next_before * 0x9e3779b1u) & (length - 1));
  uint32_t gap = next - call;
  __atomic_fetch_add(&record[DUE], late + gap - put_back, __ATOMIC_RELAXED);
  __atomic_fetch_sub(&record[COUNT], late + gap, __ATOMIC_RELAXED);
}

// ---- Writing ----

#define AT_FILE_TYPE 6
#define FILE_TYPE_RAW 1
#define FILE_TYPE_RET 2

static void store32(uint8_t *p, uint32_t v) { memcpy(p, &v, sizeof v); }

// write_edges writes a .mipret file behind the raw records, aligned to 8:
//
//   header  like that of the raw records, with another type
//   { u32 callee | u32 site | u32 weight }, the first two relative to the raw
//   section; site 0 is outside the image. The last record, with callee 0, has
//   the weight of the calls that did not fit in the table
static long write_edges(long fd) {
  static uint8_t chunk[12 * 256];
  size_t n = (size_t)(raw_start - raw_stop) & 7;
  memset(chunk, 0, n);
  memcpy(chunk + n, raw_start, HEADER_SIZE);
  chunk[n + AT_FILE_TYPE] ^= FILE_TYPE_RAW | FILE_TYPE_RET;
  n += HEADER_SIZE;
  for (uint32_t i = 0; i <= EDGES; i++) {
    uint64_t key = i < EDGES ? __atomic_load_n(&edge_keys[i], __ATOMIC_RELAXED) : 0;
    uint32_t weight = __atomic_load_n(i < EDGES ? &edge_weights[i] : &dropped, __ATOMIC_RELAXED);
    if (weight == 0 && i < EDGES)
      continue;
    if (n + 12 > sizeof chunk) {
      long failed = write_all(fd, chunk, n);
      if (failed)
        return failed;
      n = 0;
    }
    store32(chunk + n, (uint32_t)(key >> 32));
    store32(chunk + n + 4, (uint32_t)key);
    store32(chunk + n + 8, weight);
    n += 12;
  }
  return write_all(fd, chunk, n);
}

// write_calls writes the raw records with the numbers of calls, and the edges.
static long write_calls(long fd) {
  size_t size = (size_t)(raw_stop - raw_start);
  uint8_t *copy = mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
  if (copy == MAP_FAILED)
    return -ENOMEM;
  uint32_t at = __atomic_load_n(&called, __ATOMIC_ACQUIRE); // before the copy, so that the copy has the whole list
  memcpy(copy, raw_start, size);
  while (at != LIST_END) {
    uint8_t *record = copy + at;
    at = load32(record + 4 * NEXT);
    store32(record + 4 * COUNT, load32(record + 4 * DUE) + load32(record + 4 * COUNT));
    store32(record + 4 * DUE, 1), store32(record + 4 * NEXT, 0);
  }
  uint32_t *pairs = (uint32_t *)(copy + HEADER_SIZE);
  if (!(load32(copy + AT_PROFILE_TYPE) & BLOCK_COVERAGE))
    settle(pairs, pairs, size - HEADER_SIZE);
  long failed = write_all(fd, copy, size);
  munmap(copy, size);
  return failed ? failed : write_edges(fd);
}

// ---- What probes call ----

#define SAMPLE "__profuse_mip_sample"

#if defined(__x86_64__)
// Called by the third instruction of "incl record(%rip); js; call", as the
// first statement of a function, so the function's return address lies above the
// probe's. It preserves registers and uses no vector registers.
__asm__(".text\n" GLOBAL(SAMPLE) SYMBOL(SAMPLE) ":\n"
        "  .cfi_startproc\n"
        "  pushq %rax\n"
        "  pushq %rcx\n"
        "  pushq %rdx\n"
        "  pushq %rsi\n"
        "  pushq %rdi\n"
        "  pushq %r8\n"
        "  pushq %r9\n"
        "  pushq %r10\n"
        "  pushq %r11\n"
        "  .cfi_adjust_cfa_offset 72\n"
        "  movq 72(%rsp), %rax\n"
        "  movq 80(%rsp), %rsi\n"
        "  movslq -11(%rax), %rcx\n"
        "  leaq -7(%rax,%rcx), %rdi\n"
        "  subq $8, %rsp\n"
        "  .cfi_adjust_cfa_offset 8\n"
        "  call " SYMBOL("__profuse_mip_edge") "\n"
        "  addq $8, %rsp\n"
        "  .cfi_adjust_cfa_offset -8\n"
        "  popq %r11\n"
        "  popq %r10\n"
        "  popq %r9\n"
        "  popq %r8\n"
        "  popq %rdi\n"
        "  popq %rsi\n"
        "  popq %rdx\n"
        "  popq %rcx\n"
        "  popq %rax\n"
        "  .cfi_adjust_cfa_offset -72\n"
        "  ret\n"
        "  .cfi_endproc\n" FINISH(SAMPLE));
#elif defined(__aarch64__)
// x16 is the record, x17 the function's link register, which may be signed. It
// preserves all other registers, of the vector registers those of arguments.
__asm__(".text\n.p2align 2\n" GLOBAL(SAMPLE) SYMBOL(SAMPLE) ":\n"
        "  .cfi_startproc\n"
        "  .cfi_register x30, x17\n"
        "  hint #34\n"
        "  stp x17, x30, [sp, #-272]!\n"
        "  .cfi_adjust_cfa_offset 272\n"
        "  .cfi_offset x30, -272\n"
        "  stp x0, x1, [sp, #16]\n"
        "  stp x2, x3, [sp, #32]\n"
        "  stp x4, x5, [sp, #48]\n"
        "  stp x6, x7, [sp, #64]\n"
        "  stp x8, x9, [sp, #80]\n"
        "  stp x10, x11, [sp, #96]\n"
        "  stp x12, x13, [sp, #112]\n"
        "  stp x14, x15, [sp, #128]\n"
        "  stp q0, q1, [sp, #144]\n"
        "  stp q2, q3, [sp, #176]\n"
        "  stp q4, q5, [sp, #208]\n"
        "  stp q6, q7, [sp, #240]\n"
        "  mov x0, x16\n"
        "  mov x30, x17\n"
        "  hint #7\n" // strips the signature
        "  mov x1, x30\n"
        "  bl " SYMBOL("__profuse_mip_edge") "\n"
        "  ldp x0, x1, [sp, #16]\n"
        "  ldp x2, x3, [sp, #32]\n"
        "  ldp x4, x5, [sp, #48]\n"
        "  ldp x6, x7, [sp, #64]\n"
        "  ldp x8, x9, [sp, #80]\n"
        "  ldp x10, x11, [sp, #96]\n"
        "  ldp x12, x13, [sp, #112]\n"
        "  ldp x14, x15, [sp, #128]\n"
        "  ldp q0, q1, [sp, #144]\n"
        "  ldp q2, q3, [sp, #176]\n"
        "  ldp q4, q5, [sp, #208]\n"
        "  ldp q6, q7, [sp, #240]\n"
        "  ldp x30, x16, [sp], #272\n"
        "  .cfi_adjust_cfa_offset -272\n"
        "  .cfi_restore x30\n"
        "  ret x16\n"
        "  .cfi_endproc\n" FINISH(SAMPLE));
#endif

#endif // PROFUSE_MIP_RUNTIME_BUFFER
