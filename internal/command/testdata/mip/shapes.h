// Functions that end up in others, and one that does not.
namespace shapes {

[[gnu::always_inline]] inline int square(int x) {
  return x * x;
}

[[gnu::noinline]] inline int negative(int x) {
  if (x < -100)
    return -1;
  return 0;
}

} // namespace shapes
