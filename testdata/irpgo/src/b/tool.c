// The other one: see ../a/tool.c.
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) static int clamp(int x) { return x > 100 ? 100 : x; }

__attribute__((noinline)) static int step(int x) {
  int digits = 0;
  while (x) {
    digits += x % 10;
    x /= 10;
  }
  return digits;
}

int main(int argc, char **argv) {
  int n = 0, limit = argc > 1 ? atoi(argv[1]) : 500;
  for (int x = 1; x < limit; x += 1 + step(x))
    n += clamp(x);
  printf("%d\n", n);
  return 0;
}
