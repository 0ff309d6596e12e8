#define SMALLER(a, b) ((a) < (b) ? (a) : (b))
#define CHECK(x)                                                               \
  do {                                                                         \
    if (!(x)) {                                                                \
      fails++;                                                                 \
    }                                                                          \
  } while (0)
#define NESTED(x) CHECK(SMALLER(x, 3) == x)

static inline int inline_one(int x) { return x > 0 ? x : -x; }
static inline int never_called(int x) { return x ? 1 : 2; }
