#include <stdio.h>
#include <stdlib.h>

static int rare(int n) { return n * 3 + 1; }
static int often(int n) { return n / 2; }

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 27, steps = 0;
  for (; n != 1; steps++)
    n = n % 2 ? rare(n) : often(n);
  printf("%d\n", steps);
}
