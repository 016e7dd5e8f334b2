/* The "kernel" of the golden captures: known functions, one inlined, one that text without symbol follows. */

int sink;

__attribute__((noinline)) int leaf(int x) {
  sink = x;
  return x + 1;
}

static inline __attribute__((always_inline)) int inlined(int x) { return leaf(x) + 3; }

__attribute__((noinline)) int middle(int x) { return inlined(x) * 2; }

__attribute__((noinline)) int recursive(int x) {
  if (x == 0) return middle(x) + 1;
  sink = recursive(x - 1); /* the store keeps the recursion from becoming a loop */
  return sink + 1;
}

__attribute__((noinline)) int idle_task(int x) { return leaf(x + 7) + 5; }

void start_kernel(void) {
  middle(1);
  recursive(3);
  idle_task(sink);
}

/* Assembly without CFI, as memcpy is in most kernels; and an entry label that a kernel puts where a return address would be. */
__asm__(
    ".text\n"
    ".globl asm_copy\n"
    ".type asm_copy, @function\n"
    "asm_copy:\n"
    "  addi a0, a0, 1\n"
    "  addi a0, a0, 1\n"
    "  ret\n"
    ".size asm_copy, . - asm_copy\n"
    ".globl ret_from_fork\n"
    ".type ret_from_fork, @function\n"
    "ret_from_fork:\n"
    "  addi a0, a0, 2\n"
    "  ret\n"
    ".size ret_from_fork, . - ret_from_fork\n"
    ".globl call_copy\n"
    ".type call_copy, @function\n"
    "call_copy:\n"
    "  call asm_copy\n"
    "  ret\n"
    ".size call_copy, . - call_copy\n"
    /* An exception entry; a function that ends with a call; and the one behind it, which an interrupt may meet at its start. */
    ".globl trap_entry\n"
    ".type trap_entry, @function\n"
    "trap_entry:\n"
    "  addi sp, sp, -16\n"
    "  call leaf\n"
    "  addi sp, sp, 16\n"
    "  sret\n"
    ".size trap_entry, . - trap_entry\n"
    ".globl gives_up\n"
    ".type gives_up, @function\n"
    "gives_up:\n"
    "  call asm_copy\n"
    ".size gives_up, . - gives_up\n"
    ".globl interrupted\n"
    ".type interrupted, @function\n"
    "interrupted:\n"
    "  addi a0, a0, 3\n"
    "  ret\n"
    ".size interrupted, . - interrupted\n"
    ".section .nameless, \"ax\", @progbits\n"
    "  nop\n"
    "  nop\n"
    "  nop\n"
    "  nop\n");
