// The final page tables, built while the start table of start.S is in force: all addresses are the final ones.
#include "arch.h"

#define PAGE_BYTES 4096ul
#define LARGE_PAGE_BYTES (2ul << 20)
#define TABLE_ENTRIES 512

#define PTE_PRESENT 1ul
#define PTE_WRITE 2ul
#define PTE_USER 4ul
#define PTE_UNCACHED 0x10ul
#define PTE_LARGE 0x80ul

#define DEVICES_BEGIN 0xfec00000ul
#define DEVICES_END 0xff000000ul

typedef u64 page_table[TABLE_ENTRIES];

__attribute__((aligned(4096))) page_table root_table;
__attribute__((aligned(4096))) static page_table kernel_upper_table;
__attribute__((aligned(4096))) static page_table kernel_table;
__attribute__((aligned(4096))) static page_table devices_table;
__attribute__((aligned(4096))) static page_table user_upper_table;
__attribute__((aligned(4096))) static page_table user_middle_table;
__attribute__((aligned(4096))) static page_table user_text_table;
__attribute__((aligned(4096))) static page_table user_stacks_table;

extern u8 __image_end[], __user_load[], __user_load_end[];

static u64 physical(const void* address) { return (u64)address - KERNEL_OFFSET; }
static u64 branch(const page_table table) { return physical(table) | PTE_PRESENT | PTE_WRITE | PTE_USER; }
static size_t index_at(u64 address, unsigned level) { return address >> (12 + 9 * level) & (TABLE_ENTRIES - 1); }

void build_page_tables(void);

void build_page_tables(void) {
  const u64 large = PTE_PRESENT | PTE_WRITE | PTE_LARGE;
  for (u64 pa = 0; pa < physical(__image_end); pa += LARGE_PAGE_BYTES)
    kernel_table[index_at(KERNEL_OFFSET + pa, 1)] = pa | large;
  for (u64 pa = DEVICES_BEGIN; pa < DEVICES_END; pa += LARGE_PAGE_BYTES)
    devices_table[index_at(DEVICES_OFFSET + pa, 1)] = pa | large | PTE_UNCACHED;
  kernel_upper_table[index_at(KERNEL_OFFSET, 2)] = branch(kernel_table);
  kernel_upper_table[index_at(DEVICES_OFFSET + DEVICES_BEGIN, 2)] = branch(devices_table);
  root_table[index_at(KERNEL_OFFSET, 3)] = branch(kernel_upper_table);

  for (u64 offset = 0; offset < (u64)(__user_load_end - __user_load); offset += PAGE_BYTES)
    user_text_table[index_at(USER_TEXT_VA + offset, 0)] = physical(__user_load + offset) | PTE_PRESENT | PTE_USER;
  for (u64 offset = 0; offset < sizeof user_stacks; offset += PAGE_BYTES)
    user_stacks_table[index_at(USER_STACKS_VA + offset, 0)] =
        physical((u8*)user_stacks + offset) | PTE_PRESENT | PTE_WRITE | PTE_USER;
  user_middle_table[index_at(USER_TEXT_VA, 1)] = branch(user_text_table);
  user_middle_table[index_at(USER_STACKS_VA, 1)] = branch(user_stacks_table);
  user_upper_table[0] = branch(user_middle_table);
  root_table[0] = branch(user_upper_table);
}
