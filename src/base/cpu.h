/* The processors of this machine. */
#ifndef GF_BASE_CPU_H
#define GF_BASE_CPU_H

/* The number of processors that this process may run on. */
int gf_cpu_count(void);

#endif
