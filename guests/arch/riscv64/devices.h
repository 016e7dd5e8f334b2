// Interrupts of devices: the machine's PLIC.
#pragma once

#include "types.h"

// The virtio slot whose interrupt is pending for this CPU; false: none, or another device's.
bool claim_device_irq(u32* slot);
