#include "comdat.h"
int second(int x) {
  Thing *t = new Thing;
  int r = shared(x + 1) + local(x - 1) + t->get();
  delete t;
  return r;
}
