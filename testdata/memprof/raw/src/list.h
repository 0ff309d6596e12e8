#pragma once

struct Node {
  char data[40];
  Node *next;
};

Node *make(int n);
void drop(Node *);

// Accesses the list unevenly, for the histogram.
inline __attribute__((always_inline)) int sum(Node *n) {
  int r = 0;
  for (Node *first = n; n; n = n->next)
    for (int i = 0; i < 40; i += n == first ? 1 : 8) r += n->data[i];
  return r;
}
