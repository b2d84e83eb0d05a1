/* Memory that is slow to get, such as a device's, in a few large chunks that are cut into pieces.
 * Nothing is written into the memory itself, which may be out of the host's reach. Several threads
 * may use an arena. */
#ifndef GF_BASE_ARENA_H
#define GF_BASE_ARENA_H

#include <pthread.h>
#include <stddef.h>

#include "base/c_linkage.h"

GF_C_BEGIN

enum { GF_ARENA_ALIGNMENT = 512 }; /* the alignment of pieces and of chunks, in bytes */

struct gf_arena_chunk;

struct gf_arena {
    void *(*take)(void *context, size_t size); /* NULL where there is no memory left */
    void (*give)(void *context, void *memory);
    void *context;
    /* The sizes of the first chunk and of the largest; between them each chunk is as large as all
     * before it together. A piece of half a largest chunk or more gets memory of its own. 0: every
     * piece gets memory of its own. */
    size_t least, most;
    pthread_mutex_t lock; /* guards the members below */
    struct gf_arena_chunk *chunk;
    size_t held, used; /* bytes of all chunks, and of the pieces that are in use */
};

#define GF_ARENA_INITIAL(take_, give_, context_, least_, most_) \
    { \
        take_, give_, context_, least_, most_, PTHREAD_MUTEX_INITIALIZER, NULL, 0, 0 \
    }

/* Returns memory with undefined contents; NULL where there is no memory left. */
void *gf_arena_alloc(struct gf_arena *arena, size_t size);
void gf_arena_free(struct gf_arena *arena, void *memory); /* NULL: nothing happens */
/* Gives back the chunks of which no piece is in use. */
void gf_arena_trim(struct gf_arena *arena);
/* Returns how many of the arena's bytes are not in use; *held becomes the number of all its
 * bytes. */
size_t gf_arena_idle(struct gf_arena *arena, size_t *held);

GF_C_END
#endif
