// See shapes1.c.
extern int table[];
int helper(int, int);
int helper3(int, int);

int third(int n) {
  int sum = 0;
  for (int i = 0; i < n; i++)
    sum += helper3(table[i] * 3, n + 11) ^ i;
  return sum + 1001;
}

int other(int a) { return helper(a, 1) + helper(a, 2) + helper(a, 3); }
