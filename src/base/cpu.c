#include "base/cpu.h"

#include <sched.h>
#include <stdatomic.h>

int gf_cpu_count(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) ? 1 : CPU_COUNT(&set);
}

static atomic_bool intrinsics_are_off;

void gf_cpu_allow_intrinsics(bool allowed)
{
    atomic_store(&intrinsics_are_off, !allowed);
}

bool gf_cpu_intrinsics_allowed(void)
{
    return !atomic_load(&intrinsics_are_off);
}
