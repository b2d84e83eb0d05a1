/* Where memory lies on a machine of several NUMA nodes (Best Practices Guide 9.4). */
#ifndef GF_BASE_NUMA_H
#define GF_BASE_NUMA_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The node that a PCI device ("0000:01:00.0") hangs on; -1: there is only one, or it is not known.
 */
int gf_numa_node(const char *pci_bus_id);
/* Asks for the pages to lie on that node, and moves those that are there already; -1 asks for
 * nothing. */
void gf_numa_prefer(void *pages, size_t size, int node);

#ifdef __cplusplus
}
#endif
#endif
