#include "comdat.h"
int main(int argc, char **) {
  Thing *t = new Thing;
  int r = shared(argc) + local(argc) + second(argc) + t->get();
  delete t;
  std::printf("%d\n", r);
}
