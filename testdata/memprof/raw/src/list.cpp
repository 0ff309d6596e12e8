#include "list.h"

static inline Node *push(Node *next) {
  Node *n = new Node();
  n->next = next;
  return n;
}

__attribute__((noinline)) Node *make(int n) {
  Node *head = nullptr;
  for (int i = 0; i < n; i++) head = push(head);
  return head;
}

__attribute__((noinline)) void drop(Node *n) {
  while (n) {
    Node *next = n->next;
    delete n;
    n = next;
  }
}
