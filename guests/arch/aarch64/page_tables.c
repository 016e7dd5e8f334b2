// Runs before the MMU: position independent, addresses are physical ones.
#include "arch.h"

#define PAGE_BYTES 4096ul
#define LARGE_PAGE_BYTES (2ul << 20)
#define HUGE_PAGE_BYTES (1ul << 30)
#define TABLE_ENTRIES 512

#define ENTRY_BLOCK 1ul
#define ENTRY_TABLE 3ul
#define ENTRY_PAGE 3ul
#define ATTRIBUTE_DEVICE (1ul << 2)
#define USER_ACCESS (1ul << 6)
#define READ_ONLY (1ul << 7)
#define INNER_SHAREABLE (3ul << 8)
#define ACCESSED (1ul << 10)
#define KERNEL_NO_EXECUTE (1ul << 53)
#define USER_NO_EXECUTE (1ul << 54)

typedef u64 page_table[TABLE_ENTRIES];

__attribute__((aligned(4096))) page_table start_root_table;
__attribute__((aligned(4096))) page_table kernel_root_table;
__attribute__((aligned(4096))) page_table user_root_table;
__attribute__((aligned(4096))) static page_table start_table;
__attribute__((aligned(4096))) static page_table kernel_table;
__attribute__((aligned(4096))) static page_table image_table;
__attribute__((aligned(4096))) static page_table user_upper_table;
__attribute__((aligned(4096))) static page_table user_middle_table;
__attribute__((aligned(4096))) static page_table user_text_table;
__attribute__((aligned(4096))) static page_table user_stacks_table;

extern u8 __image_end[], __user_load[], __user_load_end[];

static size_t index_at(u64 address, unsigned level) { return address >> (12 + 9 * level) & (TABLE_ENTRIES - 1); }

void build_page_tables(void);

void build_page_tables(void) {
  const u64 memory = INNER_SHAREABLE | ACCESSED;
  for (u64 pa = KERNEL_PHYSICAL; pa < (u64)__image_end; pa += LARGE_PAGE_BYTES)
    image_table[index_at(pa, 1)] = pa | memory | USER_NO_EXECUTE | ENTRY_BLOCK;
  kernel_table[index_at(0, 2)] = ACCESSED | ATTRIBUTE_DEVICE | KERNEL_NO_EXECUTE | USER_NO_EXECUTE | ENTRY_BLOCK;
  kernel_table[index_at(KERNEL_PHYSICAL, 2)] = (u64)image_table | ENTRY_TABLE;
  kernel_root_table[0] = (u64)kernel_table | ENTRY_TABLE;

  for (u64 offset = 0; offset < (u64)(__user_load_end - __user_load); offset += PAGE_BYTES)
    user_text_table[index_at(USER_TEXT_VA + offset, 0)] =
        ((u64)__user_load + offset) | memory | USER_ACCESS | READ_ONLY | KERNEL_NO_EXECUTE | ENTRY_PAGE;
  for (u64 offset = 0; offset < sizeof user_stacks; offset += PAGE_BYTES)
    user_stacks_table[index_at(USER_STACKS_VA + offset, 0)] =
        ((u64)user_stacks + offset) | memory | USER_ACCESS | KERNEL_NO_EXECUTE | USER_NO_EXECUTE | ENTRY_PAGE;
  user_middle_table[index_at(USER_TEXT_VA, 1)] = (u64)user_text_table | ENTRY_TABLE;
  user_middle_table[index_at(USER_STACKS_VA, 1)] = (u64)user_stacks_table | ENTRY_TABLE;
  user_upper_table[0] = (u64)user_middle_table | ENTRY_TABLE;
  user_root_table[0] = (u64)user_upper_table | ENTRY_TABLE;

  start_table[index_at(KERNEL_PHYSICAL, 2)] = (KERNEL_PHYSICAL & ~(HUGE_PAGE_BYTES - 1)) | memory | ENTRY_BLOCK;
  start_root_table[0] = (u64)start_table | ENTRY_TABLE;
}
