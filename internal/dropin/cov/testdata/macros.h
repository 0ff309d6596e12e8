#define OR(a, b) ((a) || (b))
#define CHECK(x)                                                               \
  do {                                                                         \
    if (OR((x) > 3, (x) < 1))                                                  \
      hit();                                                                   \
  } while (0)
#define TWICE(x) CHECK(x); CHECK((x) + 1)
#define MAX(a, b) ((a) > (b) ? (a) : (b))
void hit(void);
static inline int clamp(int v) { return MAX(MAX(v, 1), v > 9 ? 9 : 2); }
