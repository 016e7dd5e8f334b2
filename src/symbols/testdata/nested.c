// GNU C: a function inside a function, whose DIE stands inside its parent's.
int _start(int x) {
  __attribute__((noinline)) int nested(int y) {
    __asm__ volatile(".globl spot_nested\nspot_nested:\n\tnop" ::: "memory");  // MARK nested
    return x + y;
  }
  return nested(1) + nested(2);
}
