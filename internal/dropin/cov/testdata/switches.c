enum color { RED, GREEN, BLUE, NONE };

static int value(enum color c, int n) {
  switch (c) {
  case RED:
    n += 1;
    /* fall through */
  case GREEN:
    n += 2;
    break;
  case BLUE: {
    if (n > 2)
      goto out;
    return n;
  }
  default:
    n = n ? n : 1;
  }
  do
    n--;
  while (n > 3);
out:
  return n;
}

static int constant(void) {
  if (1)
    return 1;
  return 0;
}

static int unused(int a) {
  for (;;) {
    if (a--)
      break;
  }
  return a;
}

int main(void) {
  int sum = 0;
  for (int i = 0; i < 30000; i++)
    sum += value((enum color)(i % 3), i % 8);
  if (sizeof(long) == 4 && sum)
    sum = unused(sum);
  return sum == 0 || !constant();
}
