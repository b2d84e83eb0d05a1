/* The CUDA devices of this machine, and a test of the filters on them. */
#ifndef GPUFILTER_DEVICE_H
#define GPUFILTER_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "gpufilter/status.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gf_device_info {
    int index;
    char name[64];
    int major, minor, multiprocessors; /* the first two: compute capability */
    int code_architecture; /* the architecture whose machine code the library's kernels use on this
                            * device: 90 for sm_90 */
    uint64_t memory_bytes, l2_bytes;
    int copy_engines;
    int driver_version, runtime_version; /* versions of CUDA: 13000 is 13.0 */
    double memory_bandwidth; /* bytes/s, from the memory's clock and bus width; 0: not known */
    bool ecc;
    char pci_bus_id[16]; /* the device's address on the PCI bus: "0000:01:00.0" */
    int numa_node;       /* the NUMA node of the device; -1: there is only one, or it is not
                          * known */
};

/* Returns the number of devices. Unless `why` is NULL, *why becomes the reason why there are none,
 * or "" if there are some. */
GF_API int gf_device_count(const char **why);

/* Describes device number `index`. Returns GF_ERROR_UNAVAILABLE if there is no such device. */
GF_API enum gf_status gf_device_describe(int index, struct gf_device_info *info,
                                         struct gf_error *error) GF_CHECKED;

/* Finds the architecture of the machine code that the device would run, 90 for sm_90, and whether
 * the library contains this code; otherwise the driver compiles it from PTX. The call starts the
 * device, which takes up to a second. */
GF_API enum gf_status gf_device_code(int index, int *architecture, bool *built_in,
                                     struct gf_error *error) GF_CHECKED;

/* The numbers of cases of a self-test. */
struct gf_selftest_counts {
    int passed, failed, skipped;
};
/* Compares every filter, variant, size and depth on every device with the CPU backend, with guard
 * bytes around every buffer. `filters` is a list of filters to test, separated by commas; NULL or
 * "" means all. small_only tests only small pictures, which takes a minute instead of several.
 * `line` is called in this thread once for each case. Returns GF_ERROR_DIFFERENT if a case failed;
 * the counts are set even then. */
GF_API enum gf_status gf_selftest(bool small_only, const char *filters,
                                  void (*line)(void *context, const char *text), void *context,
                                  struct gf_selftest_counts *counts,
                                  struct gf_error *error) GF_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
