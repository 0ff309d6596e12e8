// Functions that call others between branches, and always get their answer.
#include <stdio.h>
#include <stdlib.h>

static int half(int x) {
  if (x % 2)
    puts("odd");
  else
    x++;
  return x / 2;
}

static int twice(int x) {
  puts("twice");
  if (x > 2)
    x++;
  puts("done");
  return x * 2;
}

int (*later)(int) = twice;

int loop(int x) {
  while (x > 0) {
    if (later(x) > 4)
      printf("%d ", x);
    x -= half(3);
  }
  return x;
}

int main(int argc, char **argv) {
  int x = argc > 1 ? atoi(argv[1]) : 0;
  if (x > 5) {
    printf("%d\n", half(x));
    x = twice(x);
  }
  printf("%d\n", half(x));
  return x == 3 ? loop(x) : 0;
}
