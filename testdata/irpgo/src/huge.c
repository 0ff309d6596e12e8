// Counters no program reaches by running: set through the profile runtime.
// 2^56 and above make LLVM 16 and later warn; two runs merged saturate.
#include <stdint.h>

uint64_t *__llvm_profile_begin_counters(void);
uint64_t *__llvm_profile_end_counters(void);

int one(void) { return 1; }
int two(int x) { return x ? one() : 2; }
int three(int x) {
  int n = 0;
  while (x--)
    n += two(x);
  return n;
}

int main(void) {
  static const uint64_t values[] = {
      UINT64_C(1) << 56,       (UINT64_C(1) << 56) + 1, UINT64_C(1) << 63,
      UINT64_MAX - 3,          1000,                    0,
      UINT64_C(1) << 62,       7,
  };
  unsigned i = 0;
  three(3);
  for (uint64_t *c = __llvm_profile_begin_counters();
       c < __llvm_profile_end_counters(); c++)
    *c = values[i++ % (sizeof values / sizeof *values)];
  return 0;
}
