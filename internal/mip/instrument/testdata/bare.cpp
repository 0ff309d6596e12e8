// Code for targets without headers: nothing is included.
extern "C" int printf(const char *, ...);
extern "C" void abort();

struct Guard {
  int *p;
  ~Guard() { ++*p; }
};

template <class T> __attribute__((noinline)) T largest(const T *v, int n) {
  T m = v[0];
  for (int i = 1; i < n; i++)
    if (m < v[i]) m = v[i];
  return m;
}

__attribute__((noinline)) static int risky(int x) {
  if (x > 3) throw x;
  return x;
}

int guarded(int x) {
  int count = 0;
  try {
    Guard g{&count};
    risky(x);
    risky(x + 1);
  } catch (int i) {
    count += i;
  }
  return count;
}

int choose(int x) {
  switch (x) {
  case 0: return 3;
  case 1: return printf("one");
  case 2: return 12;
  case 3: printf("three"); /* fall through */
  case 4: return 99;
  case 5: printf("five"); return 4;
  case 9: return guarded(x);
  case 11: return -x;
  default: return 0;
  }
}

__attribute__((noinline)) int spin(volatile int *p) {
  for (;;)
    if (*p) return *p;
}

int unused(int x) { return x ? choose(x) : 0; }

int main(int argc, char **) {
  int v[] = {argc, 2, 3};
  double d[] = {1.0, (double)argc};
  return choose(argc) + largest(v, 3) + (int)largest(d, 2) + spin(&argc);
}
