// First calls and samples in ARM and Thumb-2 code.

#if defined(__arm__) && !defined(__aarch64__) && !defined(PROFUSE_MIP_COVERAGE)
#ifdef __thumb__
#define INSTRUCTION_SET ".thumb\n.thumb_func\n"
#define ADD_PC(reg) "add " reg ", pc\n"
#define PC_OFFSET "4"
#else
#define INSTRUCTION_SET ".arm\n"
#define ADD_PC(reg) "add " reg ", pc, " reg "\n"
#define PC_OFFSET "8"
#endif

// r0 is the record, r1 the function's link register. The helper returns with that
// value in lr and preserves all other registers except r0.
__asm__(".text\n.syntax unified\n.p2align 2\n" GLOBAL(FIRST) INSTRUCTION_SET FIRST ":\n"
        "  push {r2, r3, r12, lr}\n"
        "  ldr r2, [r0, #4]\n"
        "  cmn r2, #1\n"
        "  ite eq\n"
        "  moveq r2, #1\n"
        "  movne r2, #-" PUT_BACK "\n"
        "1: ldrex r3, [r0]\n"
        "  add r3, r3, r2\n"
        "  strex r12, r3, [r0]\n"
        "  cmp r12, #0\n"
        "  bne 1b\n"
        "  cmp r2, #1\n"
        "  bne 3f\n"
        "  movw r12, #:lower16:(__profuse_mip_rank-(4f+" PC_OFFSET "))\n"
        "  movt r12, #:upper16:(__profuse_mip_rank-(4f+" PC_OFFSET "))\n"
        "4: " ADD_PC("r12")
        "2: ldrex r3, [r12]\n"
        "  add r3, r3, #1\n"
        "  strex r2, r3, [r12]\n"
        "  cmp r2, #0\n"
        "  bne 2b\n"
        "  str r3, [r0, #4]\n"
        "3: pop {r2, r3, r12}\n"
        "  mov lr, r1\n"
        "  ldr pc, [sp], #4\n" FINISH(FIRST));

#ifdef PROFUSE_MIP_RUNTIME_BUFFER
__asm__(".text\n.syntax unified\n.p2align 2\n" GLOBAL(SAMPLE) INSTRUCTION_SET SAMPLE ":\n"
        "  push {r0, r1, r2, r3, r12, lr}\n"
        "  bic r1, r1, #1\n" // the bit of Thumb code
        "  bl __profuse_mip_edge\n"
        "  pop {r0, r1, r2, r3, r12}\n"
        "  mov lr, r1\n"
        "  ldr pc, [sp], #4\n" FINISH(SAMPLE));
#endif
#endif
