// Compiled for every target. A test finds addresses by the global labels, and line numbers by the MARK comments.

__attribute__((always_inline)) static inline int innermost(int x) {
  __asm__ volatile(".globl spot_inlined\nspot_inlined:\n\tnop" ::: "memory");  // MARK innermost
  return x + 1;
}

__attribute__((always_inline)) static inline int middle(int x) {
  return innermost(x) * 3;  // MARK middle
}

__attribute__((noinline)) int outer(int x) {  // MARK outer_start
  return middle(x) - 7;                       // MARK outer
}

__attribute__((noinline)) int leaf(int x) {
  __asm__ volatile(".globl spot_leaf\nspot_leaf:\n\tnop" ::: "memory");  // MARK leaf
  return x ^ 5;
}

// The label is not at the function's start: what comes before it sets up the frame.
__attribute__((noinline)) int with_frame(int x) {
  int sum = outer(x);
  __asm__ volatile(".globl spot_body\nspot_body:\n\tnop" ::: "memory");  // MARK body
  return sum + leaf(x);
}

int _start(void) { return with_frame(1) + with_frame(2); }
