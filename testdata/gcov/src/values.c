/* Values for GCC's value profiling: divisors, sizes of copies, indirect calls; more of each than a list holds. */
#include <stdlib.h>
#include <string.h>

static int add(int a, int b) { return a + b; }
static int sub(int a, int b) { return a - b; }
static int mul(int a, int b) { return a * b; }

static int (*operations[])(int, int) = {add, sub, mul};

int divide(int a, int b) { return a / b + a % (b & ~1); }

int main(int argc, char **argv) {
  int run = argc > 1 ? atoi(argv[1]) : 1, total = 0;
  char from[64] = "text", to[64];
  for (int i = 0; i < 400 * run; i++) {
    total += operations[i % (run < 2 ? 2 : 3)](i, 3);
    total += divide(1000, run * 2 + i % (run == 1 ? 5 : run == 2 ? 20 : 60) + 2);
    memcpy(to, from, i % (run == 3 ? 50 : 8 * run) + 1);
    total += to[0];
  }
  return total == 1;
}
