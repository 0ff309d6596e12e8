#define BOTH(a, b) ((a) && (b))

static int twice(int x) { return x * 2; }

int pick(int a, int b) {
  if (BOTH(a, b > 1))
    return twice(a);
  return b || a > 2;
}

int unused(int x) { return x + 1; }

int main(int argc, char **argv) {
  int s = 0;
  for (int i = 0; i < 4; i++)
    s += pick(i, i % 3);
  return s;
}
