// Runs before the MMU: position independent (medany), addresses are physical ones.
#include "arch.h"

#define PAGE_BYTES 4096ul
#define LARGE_PAGE_BYTES (2ul << 20)
#define TABLE_ENTRIES 512

#define PTE_VALID 1ul
#define PTE_READ 2ul
#define PTE_WRITE 4ul
#define PTE_EXECUTE 8ul
#define PTE_USER 16ul
#define PTE_ACCESSED_DIRTY 0xc0ul

typedef u64 page_table[TABLE_ENTRIES];

__attribute__((aligned(4096))) page_table start_root_table;
__attribute__((aligned(4096))) page_table root_table;
__attribute__((aligned(4096))) static page_table kernel_table;
__attribute__((aligned(4096))) static page_table user_middle_table;
__attribute__((aligned(4096))) static page_table user_text_table;
__attribute__((aligned(4096))) static page_table user_stacks_table;

extern u8 __image_start[], __image_end[], __user_load[], __user_load_end[];

static u64 leaf(u64 physical, u64 flags) { return physical >> 12 << 10 | flags | PTE_ACCESSED_DIRTY | PTE_VALID; }
static u64 branch(const page_table table) { return (u64)table >> 12 << 10 | PTE_VALID; }
static size_t index_at(u64 address, unsigned level) { return address >> (12 + 9 * level) & (TABLE_ENTRIES - 1); }

void build_page_tables(void);

void build_page_tables(void) {
  const u64 image_va = KERNEL_PHYSICAL + KERNEL_OFFSET;
  const u64 all = PTE_READ | PTE_WRITE | PTE_EXECUTE;
  // The large page that the image starts in also holds the firmware's end; nobody touches that.
  for (u64 pa = KERNEL_PHYSICAL; pa < (u64)__image_end; pa += LARGE_PAGE_BYTES) kernel_table[index_at(pa, 1)] = leaf(pa, all);
  root_table[index_at(image_va, 2)] = branch(kernel_table);
  root_table[index_at(DEVICES_VA, 2)] = leaf(0, PTE_READ | PTE_WRITE);

  for (u64 offset = 0; offset < (u64)(__user_load_end - __user_load); offset += PAGE_BYTES)
    user_text_table[index_at(USER_TEXT_VA + offset, 0)] = leaf((u64)__user_load + offset, PTE_READ | PTE_EXECUTE | PTE_USER);
  for (u64 offset = 0; offset < sizeof user_stacks; offset += PAGE_BYTES)
    user_stacks_table[index_at(USER_STACKS_VA + offset, 0)] = leaf((u64)user_stacks + offset, PTE_READ | PTE_WRITE | PTE_USER);
  user_middle_table[index_at(USER_TEXT_VA, 1)] = branch(user_text_table);
  user_middle_table[index_at(USER_STACKS_VA, 1)] = branch(user_stacks_table);
  root_table[index_at(USER_TEXT_VA, 2)] = branch(user_middle_table);

  start_root_table[index_at(image_va, 2)] = branch(kernel_table);
  start_root_table[index_at(KERNEL_PHYSICAL, 2)] = leaf(KERNEL_PHYSICAL & ~((1ul << 30) - 1), all);
}
