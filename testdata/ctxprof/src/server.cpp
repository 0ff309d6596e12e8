// A server with two kinds of requests. It collects its contextual profile and writes it as YAML.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#ifndef FUNCTION
#define FUNCTION __attribute__((noinline))
#endif
#define PLAIN __attribute__((no_profile_instrument_function)) // the runtime has a lock while it calls a writer

volatile uint64_t sink;

static FUNCTION void count(int n) {
  for (int i = 0; i < n; i++)
    sink = sink + i;
}

FUNCTION uint64_t depth(int n) { return n == 0 ? 0 : 1 + depth(n - 1); }

template <typename T> FUNCTION T twice(T v) {
  count(2);
  return v + v;
}

FUNCTION void odd(int n) { sink = twice(n) + depth(n % 4); }
FUNCTION void even(int n) { sink = twice(uint64_t(n)); }

typedef void (*handler)(int);
volatile handler handlers[] = {even, odd};

extern "C" FUNCTION void request(int n) { handlers[n % 2](n); }

extern "C" FUNCTION void status(int n) {
  if (n > 3)
    count(n);
  odd(n);
}

FUNCTION void setUp() {
  count(7);
  depth(3);
}

// What compiler-rt's runtime has: nodes are followed by counters and by a pointer to the first callee for each call site.
struct Node {
  uint64_t guid;
  Node *next;
  uint32_t counters, sites;
  PLAIN uint64_t *counter() { return (uint64_t *)(this + 1); }
  PLAIN Node **callees() { return (Node **)(counter() + counters); }
};

struct Writer {
  FILE *out;
  const char *indent = "";
  PLAIN Writer(FILE *out) : out(out) {}
  PLAIN virtual void startContextSection() { fprintf(out, "Contexts:\n"); }
  PLAIN virtual void writeContextual(Node &root, Node *unhandled, uint64_t total) {
    fprintf(out, "- Guid: %llu\n  TotalRootEntryCount: %llu\n", (unsigned long long)root.guid, (unsigned long long)total);
    numbers(2, root.counter(), root.counters);
    if (unhandled)
      fprintf(out, "  Unhandled:\n");
    for (; unhandled; unhandled = unhandled->next) {
      fprintf(out, "  - Guid: %llu\n", (unsigned long long)unhandled->guid);
      numbers(4, unhandled->counter(), unhandled->counters);
    }
    sites(2, root);
  }
  PLAIN virtual void endContextSection() {}
  PLAIN virtual void startFlatSection() { fprintf(out, "FlatProfiles:\n"); }
  PLAIN virtual void writeFlat(uint64_t guid, const uint64_t *counters, size_t n) {
    fprintf(out, "- Guid: %llu\n", (unsigned long long)guid);
    numbers(2, counters, n);
  }
  PLAIN virtual void endFlatSection() {}
  PLAIN virtual ~Writer() {}

  PLAIN void numbers(int indent, const uint64_t *list, size_t n) {
    fprintf(out, "%*sCounters: [", indent, "");
    for (size_t i = 0; i < n; i++)
      fprintf(out, "%s%llu", i ? ", " : "", (unsigned long long)list[i]);
    fprintf(out, "]\n");
  }
  PLAIN void sites(int indent, Node &node) {
    bool any = false;
    for (uint32_t i = 0; i < node.sites; i++)
      any = any || node.callees()[i];
    if (!any)
      return;
    fprintf(out, "%*sCallsites:\n", indent, "");
    for (uint32_t i = 0; i < node.sites; i++) {
      if (!node.callees()[i])
        fprintf(out, "%*s- []\n", indent, "");
      else
        fprintf(out, "%*s-\n", indent, "");
      for (Node *c = node.callees()[i]; c; c = c->next) {
        fprintf(out, "%*s- Guid: %llu\n", indent + 2, "", (unsigned long long)c->guid);
        numbers(indent + 4, c->counter(), c->counters);
        sites(indent + 4, *c);
      }
    }
  }
};

extern "C" {
bool __llvm_ctx_profile_start_collection(unsigned autodetect);
bool __llvm_ctx_profile_fetch(Writer &w);
}

PLAIN int main(int argc, char **argv) {
  int n = atoi(argv[1]);
  __llvm_ctx_profile_start_collection(0);
  setUp();
  for (int i = 0; i < n; i++)
    if (i % 5 == 0)
      status(i);
    else
      request(i);
  FILE *out = fopen(argv[2], "w");
  Writer w(out);
  __llvm_ctx_profile_fetch(w);
  fclose(out);
}
