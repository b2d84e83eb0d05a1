/* Large buffers straight from the kernel: page-aligned, touched only when written, huge pages where
 * the system has them (they register with CUDA at an eighth of cudaHostAlloc's time). */
#ifndef GF_BASE_PAGES_H
#define GF_BASE_PAGES_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

void *gf_pages_alloc(size_t size); /* zeroed; NULL when there is none */
/* Has the kernel give the pages now, by several threads where there are many: clearing them takes
 * most of the time of pinning. What they hold stays. */
void gf_pages_populate(void *pages, size_t size);
void gf_pages_free(void *pages, size_t size);

#ifdef __cplusplus
}
#endif
#endif
