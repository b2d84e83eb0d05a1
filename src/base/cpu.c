#include "base/cpu.h"

#include <sched.h>
#include <stdatomic.h>

#include "base/process/machine.h"

int gf_cpu_count(void)
{
    cpu_set_t set;
    const int count = sched_getaffinity(0, sizeof set, &set) ? 1 : CPU_COUNT(&set);
    const double quota = gf_cgroup_limits()->processors;
    return quota > 0 && quota <= count - 1 ? (int)quota + (quota > (int)quota) : count;
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

bool gf_cpu_has(enum gf_cpu_level level)
{
#if GF_X86
    return gf_cpu_intrinsics_allowed() && __builtin_cpu_supports("ssse3") &&
           (level < GF_CPU_AVX2 ||
            (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))) &&
           (level < GF_CPU_AVX512 ||
            (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq"))) &&
           (level < GF_CPU_VNNI || __builtin_cpu_supports("avx512vnni")) &&
           (level < GF_CPU_VBMI || __builtin_cpu_supports("avx512vbmi"));
#else
    (void)level;
    return false;
#endif
}
