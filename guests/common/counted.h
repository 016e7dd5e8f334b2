// Functions of common/counted.S: an exact number of instructions for each call.
#pragma once

#include "arch.h"

void share_10(u64 iterations);
void share_20(u64 iterations);
void share_30(u64 iterations);
void share_40(u64 iterations);
void recurse_bottom(u64 iterations);
void leaf_without_frame(u64 iterations);
void hostile_cycle(u64 iterations, u64 frame_pointer);
void hostile_unaligned(u64 iterations, u64 frame_pointer);
void hostile_mmio(u64 iterations, u64 frame_pointer);
void hostile_unmapped(u64 iterations, u64 frame_pointer);
