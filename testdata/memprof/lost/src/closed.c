// Opens and closes a library that allocates.
#include <dlfcn.h>
#include <stdlib.h>

static void *mine(int n) { return malloc(n); }

int main(void) {
  void *library = dlopen("./library.so", RTLD_NOW);
  void *(*through)(int, void *(*)(int)) = (void *(*)(int, void *(*)(int)))dlsym(library, "through");
  free(through(5000, 0));
  free(through(700, mine));
  return dlclose(library);
}
