/* What this process may use of the machine: memory, by a budget and within its control group; the
 * NUMA node whose memory is near; CUDA devices. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/host_device.h"

/* A budget of bytes that several pipelines share. A caller that requests more than is left waits;
 * callers are served in the order in which they came. While no other caller holds memory, a request
 * of any size is granted, so that one large picture runs as it does without a budget. */
struct gf_memory_budget {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t limit, held;
    uint64_t share; /* the bytes that each user may keep while it works on no picture */
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
/* Returns whether a caller is waiting for memory of the budget. */
bool gf_memory_budget_is_awaited(struct gf_memory_budget *budget);

/* The limits that control groups (cgroups, version 1 and 2) set for this process. */
struct gf_cgroup_limits {
    uint64_t memory_bytes; /* UINT64_MAX: no limit */
    double processors;     /* the quota of processor time, in processors; 0: no limit */
};

/* Returns the lowest limits of the process's group and of its parents, as far as the process can
 * see them. `root` is put before the paths /proc and /sys: "", or a test's folder with copies of
 * them. */
struct gf_cgroup_limits gf_cgroup_limits_below(const char *root);
/* Returns the limits of this process, which are read at the first call only. */
const struct gf_cgroup_limits *gf_cgroup_limits(void);

/* The placement of memory on a machine with several NUMA nodes (Best Practices Guide 9.4). */
GF_C_BEGIN

/* Returns the NUMA node that is nearest to a PCI device ("0000:01:00.0"); -1 if there is only one
 * node, or the node is not known. */
int gf_numa_node(const char *pci_bus_id);
/* Requests that the kernel places the pages on the node, and moves pages that exist already. With a
 * node of -1 it does nothing. */
void gf_numa_prefer(void *pages, size_t size, int node);

GF_C_END

/* The driver starts every device that it sees, so that the program may hide devices from CUDA,
 * which then numbers the rest anew. These functions convert between the program's numbers and
 * CUDA's. The library hides nothing. */
GF_C_BEGIN

/* Tells that `device` is the only one, of `count` devices, that CUDA sees in this process. The
 * device keeps its number everywhere but in calls of CUDA. No device may have been started yet. */
void gf_device_see_only(int device, int count);
/* Returns CUDA's number of the device; -1: CUDA does not see the device. */
int gf_device_ordinal(int device);
/* Returns the number of the machine's devices, where CUDA sees `seen` of them. */
int gf_device_count_of(int seen);

GF_C_END
