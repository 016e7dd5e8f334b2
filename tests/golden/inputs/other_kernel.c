/* Another kernel, linked at the same place: its code must not be taken for that of kernel.c. */
int state;
__attribute__((noinline)) int other_leaf(int x) { return state = x * 41 + 17; }
__attribute__((noinline)) int other_middle(int x) { return other_leaf(x ^ 0x5a5a) - other_leaf(x + 9) * 7; }
int other_start(int x) { return other_middle(x) ^ other_middle(x * 5) ^ other_leaf(state); }
