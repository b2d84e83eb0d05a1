/* The GPUs that the user lets CUDA see, found without starting the driver: the driver starts every
 * GPU that it sees, which takes 0.2 s for each GPU more. */
#ifndef GF_SERVER_VISIBLE_H
#define GF_SERVER_VISIBLE_H

#include <stdbool.h>

/* Returns how many GPUs CUDA would find, by the kernel's list of GPUs and CUDA_VISIBLE_DEVICES. 0:
 * only the driver can tell, as where GPUs are divided (MIG). */
int gf_visible_count(void);

/* Hides all GPUs but this one from CUDA, which must not have started, and tells so to
 * base/device_ordinal.h. False, and nothing is changed, where this cannot be done. */
bool gf_visible_hide_others(int device);

#define GF_VISIBLE_VARIABLE "CUDA_VISIBLE_DEVICES"
/* The user's value of the variable, even if this process has changed the variable; NULL: not set.
 */
const char *gf_visible_variable(void);

/* The folder in which /proc and /dev are looked for: "", unless a test sets it. */
extern const char *gf_visible_root;

#endif
