/* An allocator for memory that is slow to allocate, such as a device's. It cuts a few large chunks
 * into pieces. It never writes to that memory, which the host may not be able to access. Several
 * threads may use an arena. */
#pragma once

#include <pthread.h>
#include <stddef.h>

#include "base/c_linkage.h"

GF_C_BEGIN

enum { GF_ARENA_ALIGNMENT = 512 }; /* the alignment of pieces and of chunks, in bytes */

struct gf_arena_chunk;

struct gf_arena {
    void *(*take)(void *context, size_t size); /* returns NULL if no memory is left */
    void (*give)(void *context, void *memory);
    void *context;
    /* The sizes of the first chunk and of the largest. Between them, each chunk is twice as large
     * as all earlier chunks together. A piece of at least half the largest chunk gets memory of its
     * own. 0: every piece gets memory of its own. */
    size_t least, most;
    pthread_mutex_t lock; /* guards the members below */
    struct gf_arena_chunk *chunk;
    size_t held, used; /* bytes of all chunks, and of the pieces that are in use */
};

#define GF_ARENA_INITIAL(take_, give_, context_, least_, most_) \
    { \
        take_, give_, context_, least_, most_, PTHREAD_MUTEX_INITIALIZER, NULL, 0, 0 \
    }

/* Returns memory with undefined contents; NULL if no memory is left. */
void *gf_arena_alloc(struct gf_arena *arena, size_t size);
void gf_arena_free(struct gf_arena *arena, void *memory); /* `memory` may be NULL */
/* Frees the chunks without a used piece. */
void gf_arena_trim(struct gf_arena *arena);
/* Returns the number of the arena's unused bytes. *held becomes the number of all its bytes. */
size_t gf_arena_idle(struct gf_arena *arena, size_t *held);

GF_C_END
