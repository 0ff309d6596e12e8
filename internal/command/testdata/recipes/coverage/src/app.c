#include <stdlib.h>

int twice(int n);

static int login(int n) {
  return n > 0 ? n : -n;
}

static int search(int n) {
  if (n > 2)
    n = twice(n);
  return n;
}

int main(int argc, char **argv) {
  int n = atoi(argv[1]);
  return (argc > 2 ? search(n) : login(n)) < 0;
}
