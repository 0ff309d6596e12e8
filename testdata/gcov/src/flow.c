/* Loops, switches, jumps and calls that do not return, with several statements on a line. */
#include <setjmp.h>
#include <stdlib.h>

#include "pick.h"

static jmp_buf back;

static int loops(int n) {
  int sum = 0;
  for (int i = 0; i < n; i++) for (int k = 0; k < i; k++) { if (k == 3) continue; sum += k; }
  while (n-- > 0) { do { sum++; } while (sum % 7); if (sum > 500) break; }
  return sum;
}

static int choose(int x) {
  switch (x % 5) {
  case 0: return 1;
  case 1: case 2: x += 3; /* fall through */
  case 3: return x > 4 ? x < 9 ? 2 : 3 : x && x != 2 || x == 3;
  default: break;
  }
  goto out;
again: x -= 3;
out: if (x > 2) goto again;
  return x;
}

static void leave(int x) {
  if (x > 2) longjmp(back, x);
  if (x < 0) exit(3);
}

static int never(int x) { return x ? never(x - 1) : 0; }

int twice(int a) { return a * 2; } int thrice(int a) { return a > 1 ? a * 3 : a; }

int main(int argc, char **argv) {
  int total = loops(12);
  for (int i = 0; i < 20; i++)
    total += choose(i) + PICK(i, 3) + pick(i);
  if (setjmp(back) == 0) {
    leave(argc);
    leave(argc + 2);
  } else {
    total++;
  }
  if (argc > 7)
    total += never(argc);
  return twice(thrice(total)) == atoi(argv[0]);
}
