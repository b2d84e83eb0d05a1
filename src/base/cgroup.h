/* The limits that control groups (cgroups, version 1 and 2) set for this process. */
#ifndef GF_BASE_CGROUP_H
#define GF_BASE_CGROUP_H

#include <stdint.h>

struct gf_cgroup_limits {
    uint64_t memory_bytes; /* UINT64_MAX: no limit */
    double processors;     /* the quota of processor time, in processors; 0: no limit */
};

/* Returns the lowest limits of the process's group and of its parents, as far as the process can
 * see them. `root` precedes the paths /proc and /sys: it is "", or the folder of a test. */
struct gf_cgroup_limits gf_cgroup_limits_below(const char *root);
/* Returns the limits of this process, which are read once. */
const struct gf_cgroup_limits *gf_cgroup_limits(void);

#endif
