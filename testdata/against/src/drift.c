// A program whose later version (-DLATER) has a changed, a renamed, a new and a gone function.
int volatile sink;

__attribute__((noinline)) static int busy(int n) {
  int sum = 0;
  for (int i = 0; i < n; i++)
#ifdef LATER
    if (i & 1)
#endif
      sum += i & 3;
  return sum;
}

#ifdef LATER
#define pick choose
#endif
__attribute__((noinline)) static int pick(int n) {
  if (n > 3)
    return n > 90 ? busy(n) : 5;
  while (n < 3)
    n += sink + 1;
  return n;
}

#ifdef LATER
__attribute__((noinline)) int fresh(int n) { return n > 7 ? busy(n) : n; }
#else
__attribute__((noinline)) int retired(int n) { return n > 2 ? n : busy(n); }
#endif

__attribute__((noinline)) int steady(int n) { return n > 4 ? busy(n) : 3; }

int main(void) {
  for (int i = 0; i < 100; i++)
#ifdef LATER
    sink = steady(i) + pick(i) + fresh(i);
#else
    sink = steady(i) + pick(i) + retired(i);
#endif
  return 0;
}
