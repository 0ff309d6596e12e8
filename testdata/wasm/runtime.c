// What an embedder links with an instrumented program in place of LLVM's runtime: profile writes a raw profile into
// memory. -DVERSION=8 is for LLVM 14 to 17, -DVERSION=10 for LLVM 19 to 22.
typedef unsigned long long u64;
typedef unsigned int u32;
typedef unsigned short u16;

struct data { // one function, struct __llvm_profile_data
  u64 name, hash;
  u32 counters;
#if VERSION >= 9
  u32 bitmap;
#endif
  u32 function, values, numCounters;
  u16 sites[VERSION >= 10 ? 3 : 2];
#if VERSION >= 9
  u32 bitmapBytes;
#endif
} __attribute__((aligned(8)));

#define SECTION(type, name) extern __attribute__((weak)) type __start___llvm_prf_##name[], __stop___llvm_prf_##name[]
SECTION(struct data, data);
SECTION(char, cnts);
SECTION(char, bits);
SECTION(char, names);

int __llvm_profile_runtime;
extern u64 __llvm_profile_raw_version __attribute__((weak)); // of IR-level instrumentation
void __llvm_profile_register_function(void *data) {}          // before LLVM 20
void __llvm_profile_register_names_function(void *names, u64 size) {}
void __llvm_profile_instrument_target(u64 value, void *data, u32 site) {}
void __llvm_profile_instrument_memop(u64 value, void *data, u32 site) {}

static char buffer[1 << 12], *end;

static void put(const void *from, u32 size) {
  for (u32 i = 0; i < size; i++)
    *end++ = ((const char *)from)[i];
}
static void put64(u64 value) { put(&value, sizeof value); }
static void pad(u32 size) {
  while (size++ % 8)
    *end++ = 0;
}

char *profile(void) {
  char *data = (char *)__start___llvm_prf_data, *cnts = __start___llvm_prf_cnts, *bits = __start___llvm_prf_bits, *names = __start___llvm_prf_names;
  u32 records = __stop___llvm_prf_data - __start___llvm_prf_data, counters = __stop___llvm_prf_cnts - cnts;
  u32 bitmap = __stop___llvm_prf_bits - bits, namesSize = __stop___llvm_prf_names - names;
  end = buffer;
  put64(0xff6c70726f665281); // "\xfflprofR\x81" of programs with addresses of 32 bits
  put64(&__llvm_profile_raw_version ? __llvm_profile_raw_version : VERSION);
  put64(0); // size of the binary ids
  put64(records);
  put64(0); // padding before the counters
  put64(counters / 8);
  put64(-counters & 7);
#if VERSION >= 9
  put64(bitmap);
  put64(-bitmap & 7);
#endif
  put64(namesSize);
  put64((u32)(cnts - data));
#if VERSION >= 9
  put64((u32)(bits - data));
#endif
  put64((u32)names);
#if VERSION >= 10
  put64(0); // vtables
  put64(0); // size of their names
#endif
  put64(VERSION >= 10 ? 2 : 1); // the last kind of values
  put(data, records * sizeof(struct data));
  put(cnts, counters);
  pad(counters);
#if VERSION >= 9
  put(bits, bitmap);
  pad(bitmap);
#endif
  put(names, namesSize);
  pad(namesSize);
  return buffer;
}
char *profileEnd(void) { return end; }

int run(void) {
  int main(int, char **);
  return main(0, 0);
}
