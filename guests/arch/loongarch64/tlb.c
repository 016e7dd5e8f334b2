// The few pages that no window maps: user mode's and the hostile stacks'. Each CPU keeps them all in its fully associative TLB,
// where nothing ever replaces them: a refill exception is an error.
#include "platform.h"

#define PAGE_BITS 12
#define PAGE_BYTES (1ul << PAGE_BITS)

#define ELO_VALID 1ul
#define ELO_DIRTY 2ul
#define ELO_USER 0xcul
#define ELO_CACHED 0x10ul
#define ELO_GLOBAL 0x40ul
#define ELO_NO_EXECUTE (1ul << 62)

// Behind the set-associative entries.
#define FIRST_INDEX 2048
#define LAST_INDEX (FIRST_INDEX + 63)

extern u8 __user_load[], __user_load_end[], __hostile_page[], refill_trap_vector[];

static u64 physical(const void* address) { return (u64)address - KERNEL_OFFSET; }

// A pair of pages at `address`; a half that is 0 is not mapped. Returns the next free index.
static u64 map_pair(u64 index, u64 address, u64 page_bits, u64 even, u64 odd) {
  if (index > LAST_INDEX) kernel_panic("too many pages for the TLB", index, address);
  CSR_WRITE(CSR_TLBIDX, index | page_bits << 24);
  CSR_WRITE(CSR_TLBEHI, address);
  // An entry is global only if both halves say so.
  CSR_WRITE(CSR_TLBELO0, even | ELO_GLOBAL);
  CSR_WRITE(CSR_TLBELO1, odd | ELO_GLOBAL);
  __asm__ volatile("tlbwr" : : : "memory");
  return index + 1;
}

static u64 map_user(u64 index, u64 address, const u8* begin, u64 bytes, u64 flags) {
  for (u64 offset = 0; offset < bytes; offset += 2 * PAGE_BYTES) {
    const u64 even = physical(begin + offset) | flags;
    const u64 odd = offset + PAGE_BYTES < bytes ? even + PAGE_BYTES : 0;
    index = map_pair(index, address + offset, PAGE_BITS, even, odd);
  }
  return index;
}

void tlb_init(void) {
  const u64 any = ELO_VALID | ELO_CACHED;
  CSR_WRITE(CSR_TLBRENTRY, physical(refill_trap_vector));
  CSR_WRITE(CSR_STLBPS, PAGE_BITS);
  CSR_WRITE(CSR_ASID, 0);
  __asm__ volatile("invtlb 0, $zero, $zero" : : : "memory");
  u64 index =
      map_pair(FIRST_INDEX, HOSTILE_PAGE_VA, HOSTILE_PAGE_BITS, physical(__hostile_page) | any | ELO_DIRTY | ELO_NO_EXECUTE, 0);
  index = map_user(index, USER_TEXT_VA, __user_load, (u64)(__user_load_end - __user_load), any | ELO_USER);
  map_user(index, USER_STACKS_VA, user_stacks[0], sizeof user_stacks, any | ELO_USER | ELO_DIRTY | ELO_NO_EXECUTE);
}
