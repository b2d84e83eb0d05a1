/* Where memory lies on a machine of several NUMA nodes (Best Practices Guide 9.4). */
#ifndef GF_BASE_NUMA_H
#define GF_BASE_NUMA_H

#include <stddef.h>

#include "base/c_linkage.h"

GF_C_BEGIN

/* The node that a PCI device ("0000:01:00.0") is attached to; -1 where there is only one node, or
 * where it is not known. */
int gf_numa_node(const char *pci_bus_id);
/* Asks the kernel to place the pages on that node and to move those that exist already. A node of
 * -1 asks for nothing. */
void gf_numa_prefer(void *pages, size_t size, int node);

GF_C_END
#endif
