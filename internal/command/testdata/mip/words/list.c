#include <stdlib.h>
#include <string.h>
#include "list.h"

struct list *push(struct list *l, const char *word) {
  struct list *n = malloc(sizeof *n);
  if (!n)
    abort();
  n->next = l;
  n->word = word;
  return n;
}

int count(const struct list *l, unsigned longer) {
  int n = 0;
  for (; l; l = l->next)
    if (strlen(l->word) > longer)
      n++;
  return n;
}

void release(struct list *l) {
  while (l) {
    struct list *next = l->next;
    free(l);
    l = next;
  }
}
