/* A budget of bytes that several pipelines share. A caller that requests more than is left waits;
 * callers are served in the order in which they came. While no other caller holds memory, a request
 * of any size is granted, so that one large picture runs as it does without a budget. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct gf_memory_budget {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t limit, held;
    uint64_t share; /* what each user may keep between two pictures */
    uint64_t next_ticket, serving;
};

/* Returns the bytes of memory that this process may use: the memory of the machine, or less if a
 * control group limits the process. */
uint64_t gf_memory_machine_bytes(void);
/* Return the default limits: the most memory for one picture, and the most memory for all pictures
 * that are in work at the same time. */
uint64_t gf_memory_picture_bytes(void);
uint64_t gf_memory_pictures_bytes(void);

void gf_memory_budget_open(struct gf_memory_budget *budget, uint64_t limit, int users);
void gf_memory_budget_close(struct gf_memory_budget *budget);
void gf_memory_budget_acquire(struct gf_memory_budget *budget, uint64_t bytes);
void gf_memory_budget_release(struct gf_memory_budget *budget, uint64_t bytes);
/* Returns whether a caller waits. */
bool gf_memory_budget_is_awaited(struct gf_memory_budget *budget);

/* The limits that control groups (cgroups, version 1 and 2) set for this process. */
struct gf_cgroup_limits {
    uint64_t memory_bytes; /* UINT64_MAX: no limit */
    double processors;     /* the quota of processor time, in processors; 0: no limit */
};

/* Returns the lowest limits of the process's group and of its parents, as far as the process can
 * see them. `root` precedes the paths /proc and /sys: it is "", or the folder of a test. */
struct gf_cgroup_limits gf_cgroup_limits_below(const char *root);
/* Returns the limits of this process, which are read once. */
const struct gf_cgroup_limits *gf_cgroup_limits(void);
