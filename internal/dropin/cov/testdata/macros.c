#include "macros.h"

static int hits;
void hit(void) { ++hits; }

static int never(int x) {
  TWICE(x);
  return x ? 1 : 2;
}

int main(int argc, char **argv) {
  for (int i = 0; i < 1234; ++i) {
    TWICE(i % 7); TWICE(i % 5);
    if ((i % 3 == 0 && i % 5 == 0) || argc > 5) continue;
  }
  if (argc > 100) { never(3); CHECK(3); CHECK(4); }
#if 0
  skipped();
#endif
  return OR(argc > 50, clamp(argc) > 100) && clamp(hits) == 0;
}
