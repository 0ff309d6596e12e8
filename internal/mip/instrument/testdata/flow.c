// Control flow of every kind that C has, driven by the arguments.
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern int other(int);

static int dup(int x) { return x * 3 + 1; }

static double sum(int n, ...) {
  va_list ap;
  double s = 0;
  va_start(ap, n);
  for (int i = 0; i < n; i++) s += va_arg(ap, double);
  va_end(ap);
  return s;
}

__attribute__((noinline)) int spin(volatile int *p) {
  for (;;) {
    if (*p) return *p;
    *p = 7;
  }
}

__attribute__((noinline)) int sum_to(int n) {
  int s = 0;
  do s += n; while (--n > 0);
  return s;
}

__attribute__((noinline)) int choose(int x) {
  switch (x) {
  case 0: return 3;
  case 1: return puts("one");
  case 2: return dup(x);
  case 3: puts("three"); /* fall through */
  case 4: return 99;
  case 5: puts("five"); return 4;
  case 9: return sum_to(x);
  case 11: return -x;
  default: return 0;
  }
}

__attribute__((noinline)) int threaded(const unsigned char *code) {
  static void *const labels[] = {&&stop, &&inc, &&dec, &&twice, &&hello};
  int acc = 0;
  goto *labels[*code++];
inc: acc++; goto *labels[*code++];
dec: acc--; goto *labels[*code++];
twice: acc *= 2; goto *labels[*code++];
hello: puts("hello"); goto *labels[*code++];
stop: return acc;
}

static jmp_buf env;
__attribute__((noinline)) void thrower(int x) {
  if (x > 2) longjmp(env, x);
  printf("not thrown %d\n", x);
}
__attribute__((noinline)) int catcher(int x) {
  volatile int state = 1;
  int r = setjmp(env);
  if (r) {
    printf("caught %d in state %d\n", r, state);
    return r;
  }
  state = 2;
  thrower(x);
  state = 3;
  if (x == 1) return -1;
  return 0;
}

__attribute__((noinline)) void leaver(int x) {
  int depth = 0;
  while (x > 0) {
    x -= 3;
    depth++;
  }
  if (depth > 3) {
    printf("leaving at %d\n", depth);
    exit(depth);
  }
  printf("staying at %d\n", depth);
}

__attribute__((noinline)) int logic(int a, int b, int c) {
  int r = 0;
  if (a && (b || c)) r |= 1;
  if ((a || b) && c) r |= 2;
  for (int i = 0; i < a; i++) {
    if (i == b) continue;
    if (i > c) break;
    r += i;
    for (int j = i; j; j >>= 1)
      if (j & 1) r ^= j;
  }
  return a > b ? r : b > c ? -r : r + 1;
}

__attribute__((noinline)) int compare(double a, double b) {
  if (a < b) return -1;
  if (a == b) return 0;
  if (a > b) return 1;
  return 2;
}

__attribute__((noinline)) static int never(int x) { return x ? puts("never") : 0; }

typedef int (*callback)(int);
__attribute__((noinline)) int apply(callback f, int x) { return f ? f(x) : x; }

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 0;
  volatile int flag = n & 1;
  printf("%d %d\n", spin(&flag), sum_to(n));
  for (int i = 0; i < n; i++) printf("choose %d\n", choose(i));
  static const unsigned char programs[][6] = {{1, 1, 3, 0}, {1, 4, 2, 0}, {0}};
  printf("threaded %d\n", threaded(programs[n % 3]));
  printf("catch %d\n", catcher(n));
  printf("sum %g\n", sum(3, 1.5, 2.5, (double)n));
  printf("logic %d\n", logic(n, n / 2, n - 3));
  printf("compare %d %d\n", compare(n, 3), compare(n, n ? n : 0.0 / 0.0));
  printf("other %d\n", other(n));
  printf("apply %d %d\n", apply(choose, n), apply(NULL, n));
  if (n == 1000) never(n);
  leaver(n * 2);
  return 0;
}
