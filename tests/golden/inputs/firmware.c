/* A second image, linked elsewhere: what runs below the kernel. */
__attribute__((noinline)) int firmware_call(int x) { return x * 3; }
int firmware_entry(int x) { return firmware_call(x) + 1; }
