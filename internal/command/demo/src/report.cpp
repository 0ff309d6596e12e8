// Exercises: virtual calls (indirect call and vtable values), a vtable with
// internal linkage, templates, exceptions, file-local functions and static
// member functions. No standard headers: libstdc++ must not enter the profile.
#include "store.h"

// The same file-local name exists in store.c.
static unsigned mix(unsigned x) { return (x << 3) ^ (x >> 2); }

struct Overflow {
  unsigned at;
};

class Sink {
public:
  virtual ~Sink() {}
  virtual void add(unsigned v) = 0;
  virtual int total() const = 0;
};

template <typename T, unsigned Limit> class Sum : public Sink {
  T sum = 0;

public:
  void add(unsigned v) override {
    if (Limit && v > Limit)
      throw Overflow{v};
    sum += static_cast<T>(v);
  }
  int total() const override { return static_cast<int>(sum); }
};

namespace {
// Internal linkage: class, vtable and members.
class Peak : public Sink {
  unsigned peak = 0;

public:
  void add(unsigned v) override {
    if (v > peak)
      peak = v;
  }
  int total() const override { return static_cast<int>(peak); }
};

class Mixed : public Sink {
  unsigned acc = 1;

public:
  void add(unsigned v) override { acc = mix(acc + v); }
  int total() const override { return static_cast<int>(acc & 0xffff); }
};
} // namespace

template <typename Sinks> static Sink &pick(Sinks &s, unsigned kind) {
  switch (kind % 4) {
  case 0:
    return s.wide;
  case 1:
    return s.narrow;
  case 2:
    return s.peak;
  default:
    return s.mixed;
  }
}

struct AllSinks {
  Sum<long, 0> wide;
  Sum<unsigned char, 200> narrow;
  Peak peak;
  Mixed mixed;
};

__attribute__((noinline)) static void feed(Sink &s, const unsigned *values,
                                           unsigned n) {
  for (unsigned i = 0; i < n; i++)
    s.add(values[i]);
}

extern "C" int report_total(unsigned kind, const unsigned *values,
                            unsigned n) {
  AllSinks sinks;
  Sink &s = pick(sinks, kind);
  try {
    feed(s, values, n);
  } catch (const Overflow &o) {
    return -static_cast<int>(o.at);
  }
  return s.total();
}
