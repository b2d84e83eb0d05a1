/* CUDA's numbers of devices. They differ from the program's numbers if the program has hidden
 * devices from CUDA, because the driver starts every device that it sees. The library hides
 * nothing. */
#pragma once

#include "base/c_linkage.h"

GF_C_BEGIN

/* Tells that `device` is the only one, of `count` devices, that CUDA sees in this process. The
 * device keeps its number everywhere but in calls of CUDA. No device may have been started yet. */
void gf_device_see_only(int device, int count);
/* Returns CUDA's number of the device; -1: CUDA does not see the device. */
int gf_device_ordinal(int device);
/* Returns the number of devices of which CUDA sees `seen`. */
int gf_device_count_of(int seen);

GF_C_END
