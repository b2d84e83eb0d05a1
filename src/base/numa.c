#include "base/numa.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

/* These constants have the values of linux/mempolicy.h. */
enum { MPOL_PREFERRED = 1, MPOL_MF_MOVE = 2 };
enum { NODES_MOST = 64 };

static int read_number(const char *path)
{
    int value = -1;
    FILE *const file = fopen(path, "re");
    if (file && fscanf(file, "%d", &value) != 1)
        value = -1;
    if (file)
        fclose(file);
    return value;
}

int gf_numa_node(const char *pci_bus_id)
{
    char path[96];
    if (access("/sys/devices/system/node/node1", F_OK))
        return -1;
    snprintf(path, sizeof path, "/sys/bus/pci/devices/%.32s/numa_node", pci_bus_id);
    /* The driver writes A to F in upper case, the kernel in lower case. */
    for (char *at = path; *at; at++)
        *at = (char)tolower((unsigned char)*at);
    return read_number(path);
}

void gf_numa_prefer(void *pages, size_t size, int node)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t begin = ((uintptr_t)pages + page - 1) / page * page;
    const uintptr_t end = ((uintptr_t)pages + size) / page * page;
    if (node < 0 || node >= NODES_MOST || begin >= end)
        return;
    const unsigned long mask = 1ul << node;
    /* A failure is not reported: copies are then slower, and the picture is the same. */
    (void)syscall(SYS_mbind, begin, end - begin, MPOL_PREFERRED, &mask,
                  (unsigned long)NODES_MOST + 1, MPOL_MF_MOVE);
}
