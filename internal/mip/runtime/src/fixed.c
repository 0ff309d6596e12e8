// The small runtime, for programs that do not count calls: it writes to one file, whose
// name the build has chosen, and does it directly, so that a reader may see part of a
// profile. It obeys no environment. Programs may call __llvm_dump_mip_profile only.

#ifdef PROFUSE_MIP_FILE
// The failure's message ends with the name of the file.
static char message[] = "[MIPRuntime]: Failed to write to " PROFUSE_MIP_FILE;
#define NAME_AT (sizeof "[MIPRuntime]: Failed to write to " - 1)

HIDDEN void __llvm_dump_mip_profile(void) {
  char *const name = message + NAME_AT;
  const long size = raw_stop - raw_start;
  if (!size)
    return;
#ifdef __linux__
  if (getauxval(AT_SECURE))
    return;
#else
  if (issetugid())
    return;
#endif
#ifdef PROFUSE_MIP_PID
  uint32_t id = (uint32_t)sys_getpid();
  for (int i = 7; i-- > 0; id /= 10)
    name[PROFUSE_MIP_PID + i] = (char)('0' + id % 10);
#endif
  long fd = sys_open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC);
  if (fd < 0 || !gather() || sys_write(fd, raw_start, size) != size || sys_close(fd)) {
    message[sizeof message - 1] = '\n';
    if (sys_write(2, message, sizeof message)) {
      // The error cannot be reported.
    }
  }
}

#ifndef PROFUSE_MIP_NO_DUMP
// See runtime.c.
__attribute__((destructor(101))) static void unloaded(void) { __llvm_dump_mip_profile(); }
#endif
#endif // PROFUSE_MIP_FILE
