// Decisions with two to twelve conditions (MC/DC bitmaps of 1 to 16 bytes), some
// of them never evaluated.
#include <stdio.h>
#include <stdlib.h>

static int both(int a, int b) { return a && b; }

static int six(int a, int b, int c, int d, int e, int f) {
  if ((a && (b || c)) || (d && (e || f)))
    return 1;
  return 0;
}

static int every_pair(unsigned x) {
  return (x & 1 || x & 2) && (x & 4 || x & 8) && (x & 16 || x & 32) &&
         (x & 64 || x & 128) && (x & 256 || x & 512) &&
         (x & 1024 || x & 2048);
}

static int leap(int y) { return (y % 4 == 0 && y % 100 != 0) || y % 400 == 0; }

static int two_decisions(int a, int b, int c) {
  int n = 0;
  if (a > 0 || b > 0)
    n++;
  while (n < 3 && (c || b))
    n++;
  return n;
}

int never(int a, int b) { return a || b; }

static int no_decision(int a) { return a + 1; }

int main(int argc, char **argv) {
  int rounds = argc > 1 ? atoi(argv[1]) : 8, n = 0;
  for (int i = 0; i < rounds; i++) {
    n += both(i & 1, i & 2);
    n += six(i & 1, i & 2, i & 4, i & 8, i & 16, i & 32);
    n += every_pair((unsigned)i * 2654435761u >> 18);
    n += leap(1896 + i);
    n += two_decisions(i - 3, i & 1, i & 2);
    n += no_decision(i);
  }
  printf("%d\n", n);
  return 0;
}
