#include <stdio.h>
#include "list.h"

static int is_letter(int c) { return c >= 'a' && c <= 'z'; }

int unused(struct list *l) {
  return count(l, 0) + 1;
}

int main(int argc, char **argv) {
  struct list *l = 0;
  for (int i = 1; i < argc; i++) {
    if (is_letter(argv[i][0]))
      l = push(l, argv[i]);
    else
      printf("no word: %s\n", argv[i]);
  }
  printf("%d words, %d long\n", count(l, 0), count(l, 4));
  release(l);
  return 0;
}
