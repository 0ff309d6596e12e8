// Decisions with several conditions, also in macros.
#define BOTH(a, b) ((a) && (b))
#define ANY(a, b, c) (BOTH(a, b) || (c))

int plain(int a, int b, int c, int d) {
  if (a && (b || c) && d)
    return 1;
  return (a || b) && !(c && d) || 0;
}

int expanded(int a, int b, int c) { return ANY(a > 1, b < 3, c == 2) && (a || BOTH(b, c)); }

int constants(int a) {
  if (a && 1)
    return 2;
  if (0 || a)
    return 3;
  while (a > 0 && a < 10)
    a++;
  for (int i = 0; i < 3 && a; i++)
    a--;
  return a ? (a > 3 || a < -3) : 0;
}

int main(int argc, char **argv) {
  int s = 0;
  for (int i = 0; i < 16; i++)
    if (i % 3)
      s += plain(i & 1, i & 2, i & 4, i & 8);
  for (int i = 0; i < 6; i++)
    s += expanded(i, i & 1, i % 3);
  return s + constants(argc) + constants(0) > 1000;
}
