/* Finds the GPUs that the user lets CUDA see, without starting the driver. The driver starts every
 * GPU that it sees, which takes 0.2 s for each further GPU. */
#pragma once

#include <stdbool.h>

/* Returns how many GPUs CUDA would find, by the kernel's list of GPUs and CUDA_VISIBLE_DEVICES. 0:
 * only the driver can tell, for example because GPUs are divided (MIG). */
int gf_visible_count(void);

/* Hides all GPUs but this one from CUDA, which must not have started, and reports that to
 * base/device_ordinal.h. Returns false, and changes nothing, if this cannot be done. */
bool gf_visible_hide_others(int device);

#define GF_VISIBLE_VARIABLE "CUDA_VISIBLE_DEVICES"
/* Returns the user's value of CUDA_VISIBLE_DEVICES, even if this process has changed the variable;
 * NULL: not set. */
const char *gf_visible_variable(void);

/* The folder in which /proc and /dev are read: "", unless a test sets it. */
extern const char *gf_visible_root;
