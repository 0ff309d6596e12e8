// Functions with loops, a switch, a macro, conditions, calls through pointers, and one that does not run.
#include <string.h>

#define CLAMP(x, most) ((x) > (most) ? (most) : (x))

static int classify(int n) {
  switch (n % 4) {
  case 0:
    return 10;
  case 1:
    return 11;
  default:
    return n < 0 ? -1 : 12;
  }
}

static int decide(int a, int b, int c) {
  if ((a && b) || c)
    return 1;
  return 0;
}

int never(int n) {
  while (n > 1)
    n /= 2;
  return n;
}

unsigned long long large(int times) {
  unsigned long long sum = 0;
  for (int i = 0; i < times; i++)
    sum += CLAMP(i, 70000);
  return sum;
}

static int twice(int n) { return 2 * n; }
static int minus(int n) { return -n; }
static int (*const steps[])(int) = {twice, minus, twice};

char copy[16];

static int walk(int n) {
  int sum = 0;
  for (int i = 0; i < n; i++) {
    sum += steps[i % 3](i);
    memcpy(copy, "walk", 1 + (unsigned)sum % 4);
  }
  return sum + copy[0];
}

int main(int argc, char **argv) {
  int sum = 0;
  for (int i = 0; i < 23; i++)
    sum += classify(i);
  for (int i = 0; i < 7; i++)
    sum += decide(i & 1, i & 2, i & 4);
  sum += walk(20);
  if (argc > 3)
    sum += never(argc);
  return large(100000) == 0 || sum == 0;
}
