#define PICK(x, n) ((x) % (n) == 0 ? 1 : (x) % (n) == 1 ? 2 : 3)

static inline int pick(int x) {
  int best = 0;
  for (int i = 0; i < x; i++)
    if (x % (i + 1) == 0) best = i;
  return best;
}
