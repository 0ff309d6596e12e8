// gcc lets callers keep values in registers that a local function does not
// use, although the calling convention would allow it to: every register but
// those the probes may use has to survive.
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) static int leaf(int *p, int i) { return p[i] * 3; }
__attribute__((noinline)) static double leafd(double *p, int i) { return p[i] * 3; }

__attribute__((noinline)) int many(int *p, int a, int b, int c, int d, int e, int g, int h) {
  int s = 0;
  for (int i = 0; i < a; i++) {
    s += leaf(p, i) + a * b + c * d + e * g + h;
    s ^= b + c + d + e + g + h;
    p[i] = s * b - c * d;
  }
  return s;
}

__attribute__((noinline)) double manyd(double *p, int a, double b, double c, double d) {
  double s = 0;
  for (int i = 0; i < a; i++) {
    s += leafd(p, i) + a * b + c * d;
    p[i] = s * b - c * d;
  }
  return s;
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 0, p[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  double d[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  printf("%d %g\n", many(p, n, 2, 3, 4, 5, 6, 7), manyd(d, n, 2, 3, 4));
  return 0;
}
