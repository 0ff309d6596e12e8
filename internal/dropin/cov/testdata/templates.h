template <class T> T twice(T v) {
  if (v > 10) {
    return v;
  }
  return v + v;
}

template <class T, int N> struct Array {
  T data[N] = {};
  T &at(int i) { return i < N ? data[i] : data[0]; }
  int size() const { return N; }
};

struct Base {
  virtual ~Base() {}
  virtual int area() const { return 0; }
};

inline int helper(int x) { return x > 2 && x < 9 ? x : -x; }
