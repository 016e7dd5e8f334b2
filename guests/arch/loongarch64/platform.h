// Control registers, for this folder.
#pragma once

#include "arch.h"

#define CSR_READ(number)                                              \
  ({                                                                  \
    u64 csr_value;                                                    \
    __asm__ volatile("csrrd %0, %1" : "=r"(csr_value) : "i"(number)); \
    csr_value;                                                        \
  })

#define CSR_WRITE(number, value)                                                 \
  do {                                                                           \
    u64 csr_value = (value);                                                     \
    __asm__ volatile("csrwr %0, %1" : "+r"(csr_value) : "i"(number) : "memory"); \
  } while (0)

// tlb.c: the translations of this CPU, all there before they are needed.
void tlb_init(void);
