/* Large buffers that come directly from the kernel. They are aligned to pages, use memory only
 * where they are written, and are in huge pages if the system has such pages: CUDA registers huge
 * pages in an eighth of the time that cudaHostAlloc takes. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/c_linkage.h"

GF_C_BEGIN

void *gf_pages_alloc(size_t size); /* zeroed; NULL when out of memory */
/* Makes the kernel provide all pages now. The contents do not change. Several threads share a large
 * buffer, since clearing the pages takes most of the time of pinning them. */
void gf_pages_populate(void *pages, size_t size);
/* Makes the kernel provide the whole pages of any memory that is about to be written, which takes
 * it less time than one page after another. Does nothing if the last one is there already. */
void gf_pages_expect(void *memory, size_t size);
/* Calls gf_pages_populate() for a large buffer on another thread. Meanwhile the caller may already
 * write to the buffer. gf_pages_ahead_end() waits for the thread; call it before
 * gf_pages_free(). */
struct gf_pages_ahead {
    pthread_t thread;
    void *pages;
    size_t size;
    bool started;
};
void gf_pages_ahead_begin(struct gf_pages_ahead *ahead, void *pages, size_t size);
void gf_pages_ahead_end(struct gf_pages_ahead *ahead); /* does nothing if `ahead` is all zeros */
void gf_pages_free(void *pages, size_t size);

GF_C_END
