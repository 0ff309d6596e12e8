// Compiled without instrumentation, linked with the runtime: a profile that
// has a header and nothing else.
int __llvm_profile_write_file(void);
int main(void) { return __llvm_profile_write_file(); }
