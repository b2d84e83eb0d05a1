/* Large buffers: pages that come directly from the kernel, and arenas, which cut chunks into
 * pieces. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/host_device.h"

GF_C_BEGIN

/* Pages come directly from the kernel. They use memory only where they are written, and are huge if
 * the system has huge pages: CUDA registers these in an eighth of the time that cudaHostAlloc
 * takes. */
void *gf_pages_alloc(size_t size); /* zeroed; NULL when out of memory */
/* The same for a buffer of which little is written, here and there: its pages are small. */
void *gf_pages_alloc_sparse(size_t size);
/* Makes the kernel provide all pages now, which clears them, with several threads for a large
 * buffer: this is most of the time that pinning takes. Contents do not change. */
void gf_pages_populate(void *pages, size_t size);
/* Makes the kernel provide at once the whole pages of a buffer that is about to be written, which
 * is faster than a page fault for each. Does nothing if the last page is there already. */
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
void gf_pages_ahead_end(struct gf_pages_ahead *ahead); /* ends nothing if `ahead` is all zeros */
void gf_pages_free(void *pages, size_t size);

GF_C_END

/* An allocator for memory that is slow to allocate, such as a device's. It cuts a few large chunks
 * into pieces. It never writes to that memory, which the host may not be able to access. Several
 * threads may use an arena. */
GF_C_BEGIN

enum { GF_ARENA_ALIGNMENT = 512 }; /* the alignment of pieces and of chunks, in bytes */

struct gf_arena_chunk;

struct gf_arena {
    void *(*take)(void *context, size_t size); /* returns NULL if no memory is left */
    void (*give)(void *context, void *memory);
    void *context;
    /* The sizes in bytes of the first chunk and of the largest. Between them, each new chunk is
     * twice as large as all earlier chunks together. A piece of at least half of `most` gets memory
     * of its own. If both are 0, every piece does. */
    size_t least, most;
    pthread_mutex_t lock; /* guards the members below */
    struct gf_arena_chunk *chunk;
    size_t held, used; /* bytes of all chunks, and bytes of their pieces that are in use */
};

#define GF_ARENA_INITIAL(take_, give_, context_, least_, most_) \
    { \
        take_, give_, context_, least_, most_, PTHREAD_MUTEX_INITIALIZER, NULL, 0, 0 \
    }

/* Returns memory with undefined contents; NULL if no memory is left. */
void *gf_arena_alloc(struct gf_arena *arena, size_t size);
void gf_arena_free(struct gf_arena *arena, void *memory); /* `memory` may be NULL */
/* Gives back the chunks of which no piece is in use. */
void gf_arena_trim(struct gf_arena *arena);
/* Returns the number of bytes that the arena has taken but that no piece uses. *held becomes the
 * number of all bytes that it has taken. */
size_t gf_arena_idle(struct gf_arena *arena, size_t *held);

GF_C_END
