/* The processors of this machine. */
#ifndef GF_BASE_CPU_H
#define GF_BASE_CPU_H

#include <stdbool.h>

/* The number of processors that this process may run on. */
int gf_cpu_count(void);

/* Whether filters may choose their code of hand-written vector instructions. Without it their
 * portable C runs, which the compiler vectorizes as it can; the results are the same. The switch is
 * the whole process's: a comparison turns it off around some of its runs. */
void gf_cpu_allow_intrinsics(bool allowed);
bool gf_cpu_intrinsics_allowed(void);

#endif
