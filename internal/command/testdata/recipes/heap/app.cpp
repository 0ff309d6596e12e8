#include <cstdio>
#include <cstdlib>
#include <cstring>

__attribute__((noinline)) static char *make(size_t size) { return new char[size]; }

int main() {
  char *table = make(1 << 16); // read all the time
  char *rare = make(1 << 16);  // written once
  memset(rare, 1, 1 << 16);
  unsigned sum = 0;
  for (unsigned i = 0; i < 1 << 20; i++) {
    table[i & 0xffff] += i;
    sum += table[(i * 7) & 0xffff];
  }
  printf("%u\n", sum + rare[5]);
  delete[] table;
  delete[] rare;
}
