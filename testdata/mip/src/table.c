// helper is here, too: two functions of one name.
static int helper(int x) { return x + 100; }

int table(int n) {
  int sum = 0;
  for (int i = 0; i < n; i++)
    if (i % 2) sum += helper(i);
  return sum;
}

int unused(int n) { return helper(n) * 2; }
