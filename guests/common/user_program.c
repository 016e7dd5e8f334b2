// The only code that runs in user mode. It is linked at a user address and must not call or read anything of the kernel's.
#include "arch.h"
#include "user.h"

void user_program(u64 iterations);

void user_program(u64 iterations) {
  u64 mixed = 1;
  while (iterations) {
    for (u64 i = 0; i < iterations; i++) {
      mixed = mixed * 6364136223846793005ul + 1442695040888963407ul;
      __asm__ volatile("" : "+r"(mixed));
    }
    iterations = arch_user_syscall(SYSCALL_STEP, iterations);
  }
  arch_user_syscall(SYSCALL_EXIT, 0);
}
