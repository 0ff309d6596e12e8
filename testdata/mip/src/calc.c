// A small calculator: some functions run, some never do.
#include <stdio.h>
#include <stdlib.h>

static int helper(int x) { return x * 3; }

int add(int a, int b) { return a + b; }

int pick(int op, int a) {
  switch (op) {
  case 0: return add(a, 1);
  case 1: return helper(a);
  case 2: return a - 2;
  case 3: return a ^ 5;
  default: return -1;
  }
}

int never(int a) {
  if (a > 3) return add(a, a);
  return 7;
}

int table(int n);

int main(int argc, char **argv) {
  int sum = 0;
  for (int i = 1; i < argc; i++) sum = pick(atoi(argv[i]), sum);
  sum += table(argc);
  printf("%d\n", sum);
  return 0;
}
