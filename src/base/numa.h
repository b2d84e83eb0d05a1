/* The placement of memory on a machine with several NUMA nodes (Best Practices Guide 9.4). */
#pragma once

#include <stddef.h>

#include "base/c_linkage.h"

GF_C_BEGIN

/* Returns the node of a PCI device ("0000:01:00.0"); -1 if there is only one node, or the node is
 * not known. */
int gf_numa_node(const char *pci_bus_id);
/* Requests that the kernel places the pages on the node, and moves pages that exist already. With a
 * node of -1 it does nothing. */
void gf_numa_prefer(void *pages, size_t size, int node);

GF_C_END
