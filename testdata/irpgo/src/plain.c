// Compiled without instrumentation, linked with the runtime: a profile that
// has a header, a build id and nothing else.
int main(void) { return 0; }
