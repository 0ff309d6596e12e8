// Writes the sections of a profile to the file that LLVM_PROFILE_FILE names, as programs do for whose
// machine no profile runtime is at hand. InstrProfData.inc, of clang's own headers, has the fields.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "profile/InstrProfData.inc" // the magic numbers

int __llvm_profile_runtime; // keeps clang from asking for a runtime

enum {
#define VALUE_PROF_KIND(Enumerator, Value, Descr) Enumerator = Value,
#include "profile/InstrProfData.inc"
};

typedef void *IntPtrT;
typedef struct __attribute__((aligned(8))) {
#define INSTR_PROF_DATA(Type, LLVMType, Name, Initializer) Type Name;
#include "profile/InstrProfData.inc"
} Data;

typedef struct {
#define INSTR_PROF_RAW_HEADER(Type, Name, Initializer) Type Name;
#include "profile/InstrProfData.inc"
} Header;

#ifdef _WIN32
#define SECTION(type, name, begin, end)                              \
  static type begin __attribute__((section(name "$A"), used));       \
  static type end __attribute__((section(name "$Z"), used));
SECTION(Data, ".lprfd", before_data, data_end)
SECTION(uint64_t, ".lprfc", before_counters, counters_end)
SECTION(char, ".lprfb", before_bits, bits_end)
SECTION(const char, ".lprfn", before_names, names_end)
#define BEGIN(x) (&before_##x + 1)
#define END(x) (&x##_end)
#else
#define SECTION(type, name, x) \
  extern type __start___llvm_prf_##name[] __attribute__((weak, visibility("hidden"))); \
  extern type __stop___llvm_prf_##name[] __attribute__((weak, visibility("hidden")));
SECTION(Data, data, data)
SECTION(uint64_t, cnts, counters)
SECTION(char, bits, bits)
SECTION(char, names, names)
#define __start_data __start___llvm_prf_data
#define __stop_data __stop___llvm_prf_data
#define __start_counters __start___llvm_prf_cnts
#define __stop_counters __stop___llvm_prf_cnts
#define __start_bits __start___llvm_prf_bits
#define __stop_bits __stop___llvm_prf_bits
#define __start_names __start___llvm_prf_names
#define __stop_names __stop___llvm_prf_names
#define BEGIN(x) __start_##x
#define END(x) __stop_##x
#endif

extern uint64_t __llvm_profile_raw_version __attribute__((weak)); // of programs with IR instrumentation

static void put(FILE *f, const void *from, size_t size) {
  static const char zeros[8];
  fwrite(from, 1, size, f);
  fwrite(zeros, 1, -size & 7, f);
}

// A target is a value that a value site met: the address of a called function, or a size.
static struct {
  const Data *data;
  uint32_t site; // over all kinds
  uint64_t value, count;
} targets[64];
static size_t num_targets;

void __llvm_profile_instrument_target(uint64_t value, void *data, uint32_t site) {
  for (size_t i = 0; i < num_targets; i++)
    if (targets[i].data == data && targets[i].site == site && targets[i].value == value) {
      targets[i].count++;
      return;
    }
  if (num_targets < sizeof targets / sizeof *targets) {
    targets[num_targets].data = data;
    targets[num_targets].site = site;
    targets[num_targets].value = value;
    targets[num_targets++].count = 1;
  }
}

void __llvm_profile_instrument_memop(uint64_t value, void *data, uint32_t site) {
  __llvm_profile_instrument_target(value, data, site);
}

static uint8_t count_targets(const Data *data, uint32_t site) {
  uint8_t n = 0;
  for (size_t i = 0; i < num_targets; i++)
    n += targets[i].data == data && targets[i].site == site;
  return n;
}

// put_values writes the values of a record, if it has value sites. Each kind has the number of its sites, the
// number of values of each site, and the values with their counts.
static void put_values(FILE *f, const Data *data) {
  uint32_t head[2] = {sizeof head, 0}, site = 0;
  for (int kind = 0; kind <= IPVK_Last; kind++) {
    uint32_t sites = data->NumValueSites[kind], values = 0;
    for (uint32_t i = 0; i < sites; i++)
      values += count_targets(data, site + i);
    site += sites;
    if (sites > 0) {
      head[0] += 8 + ((sites + 7) & ~7u) + 16 * values;
      head[1]++;
    }
  }
  if (head[1] == 0)
    return;
  put(f, head, sizeof head);
  site = 0;
  for (uint32_t kind = 0; kind <= IPVK_Last; kind++) {
    uint32_t kind_head[2] = {kind, data->NumValueSites[kind]};
    uint8_t counts[256];
    for (uint32_t i = 0; i < kind_head[1]; i++)
      counts[i] = count_targets(data, site + i);
    if (kind_head[1] > 0) {
      put(f, kind_head, sizeof kind_head);
      put(f, counts, kind_head[1]);
    }
    for (uint32_t end = site + kind_head[1]; site < end; site++)
      for (size_t i = 0; i < num_targets; i++)
        if (targets[i].data == data && targets[i].site == site)
          put(f, &targets[i].value, 2 * sizeof(uint64_t));
  }
}

__attribute__((destructor)) static void write_profile(void) {
  const Data *data = BEGIN(data);
  const uint64_t *counters = BEGIN(counters);
  const char *bits = BEGIN(bits), *names = BEGIN(names);
  size_t data_size = (char *)END(data) - (char *)data, counters_size = (char *)END(counters) - (char *)counters;
  size_t bits_size = END(bits) - bits, names_size = END(names) - names;
#ifdef _WIN32
  while (names_size > 0 && names[0] == 0) // the linker aligns what objects add
    names++, names_size--;
#endif
  Header h = {0};
  h.Magic = sizeof(void *) == 8 ? INSTR_PROF_RAW_MAGIC_64 : INSTR_PROF_RAW_MAGIC_32;
  h.Version = &__llvm_profile_raw_version ? __llvm_profile_raw_version : INSTR_PROF_RAW_VERSION;
  h.NumData = data_size / sizeof(Data);
  h.NumCounters = counters_size / sizeof(uint64_t);
  h.NumBitmapBytes = bits_size;
  h.PaddingBytesAfterBitmapBytes = -bits_size & 7;
  h.NamesSize = names_size;
  h.CountersDelta = (uintptr_t)counters - (uintptr_t)data;
  h.BitmapDelta = (uintptr_t)bits - (uintptr_t)data;
#ifdef _WIN64 // where the differences in the records have 32 bits
  h.CountersDelta = (uint32_t)h.CountersDelta;
  h.BitmapDelta = (uint32_t)h.BitmapDelta;
#endif
  h.NamesDelta = (uintptr_t)names;
  h.ValueKindLast = IPVK_Last;
  FILE *f = fopen(getenv("LLVM_PROFILE_FILE"), "wb");
  put(f, &h, sizeof h);
  put(f, data, data_size);
  put(f, counters, counters_size);
  put(f, bits, bits_size);
  put(f, names, names_size);
  for (size_t i = 0; i < h.NumData; i++)
    put_values(f, &data[i]);
  fclose(f);
}
