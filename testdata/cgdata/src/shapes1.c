// Functions that are equal but for the function that they call, here and in shapes2.c.
extern int table[];
int helper(int, int);
int helper2(int, int);

int first(int n) {
  int sum = 0;
  for (int i = 0; i < n; i++)
    sum += helper(table[i] * 3, n + 11) ^ i;
  return sum + 1001;
}

int second(int n) {
  int sum = 0;
  for (int i = 0; i < n; i++)
    sum += helper2(table[i] * 3, n + 11) ^ i;
  return sum + 1001;
}

int alone(int a, int b) { return helper(a / b, b % 7) + table[a & 15]; }
