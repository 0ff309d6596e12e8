// One of two programs that both have file-local functions named step (another
// body: same name, another hash) and clamp (the same body: same name and hash).
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) static int clamp(int x) { return x > 100 ? 100 : x; }

__attribute__((noinline)) static int step(int x) {
  return x % 2 ? 3 * x + 1 : x / 2;
}

int main(int argc, char **argv) {
  int n = 0;
  for (int x = argc > 1 ? atoi(argv[1]) : 27; x != 1; x = step(x))
    n += clamp(x);
  printf("%d\n", n);
  return 0;
}
