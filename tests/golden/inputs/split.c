/* Functions that instructions are hard to list of: one in two parts, as compilers make them where a branch is cold, and one that is
   larger than most. */

int sink;

__attribute__((cold, noinline)) void complain(int x) { sink += x; }

__attribute__((noinline)) int in_two_parts(int x) {
  if (x < 0) {
    complain(x);
    sink *= 7;
    complain(sink);
    return -1;
  }
  return x + sink;
}

__attribute__((noinline)) int between(int x) { return x * 3 + sink; }

__attribute__((noinline)) void large(void) {
  sink++;
  __asm__ volatile(
      ".nops 102400\n"
      "far_block: nop\n");
  sink++;
}

void start_kernel(void) {
  in_two_parts(sink);
  between(sink);
  large();
}
