// The instrumented shared library of host.c: its profile is a file of its own.
int plugin_score(int x);

static int square(int x) { return x * x; }

int plugin_score(int x) {
  int n = 0;
  while (x > 0) {
    n += square(x & 7);
    x >>= 3;
  }
  return n;
}
