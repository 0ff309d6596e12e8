static inline int square(int x) { return x * x + 1; }

struct pair {
  int a, b;
};

__attribute__((noinline)) static int pairs(struct pair *p) {
  return square(p->a) - p->b;
}

int plain(int *values, int n) {
  int r = 0;
  for (int i = 0; i < n; i++) {
    struct pair p = {values[i], i};
    r += pairs(&p) + square(values[i]);
  }
  return r;
}
