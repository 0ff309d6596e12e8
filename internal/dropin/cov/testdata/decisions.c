#define BOTH(a, b) ((a) && (b))

static int three(int a, int b, int c) { return (a && b) || c; }

static int nested(int a, int b, int c, int d) {
  if (a && (b || (c && d)))
    return 1;
  return BOTH(a || b, c) || !d;
}

static int constants(int a) {
  return (a && 1) || (0 && a);
}

static int never(int a, int b) { return a && b; }

int main(int argc, char **argv) {
  int n = 0;
  for (int i = 0; i < 16; i++) {
    n += nested(i & 1, i & 2, i & 4, i & 8) + constants(i);
    if (i < 3)
      n += three(i & 1, i & 2, argc > 3);
  }
  if (argc > 5 && n > 2)
    n += never(argc, n);
  return n == 0;
}
