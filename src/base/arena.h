/* Memory that is slow to get, such as a device's, in a few large chunks that are cut into pieces.
 * Nothing is written into the memory itself, which may be out of the host's reach. Several threads
 * may use an arena. */
#ifndef GF_BASE_ARENA_H
#define GF_BASE_ARENA_H

#include <pthread.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { GF_ARENA_ALIGNMENT = 512 }; /* of pieces, whose chunks are aligned to as much */

struct gf_arena_chunk;

struct gf_arena {
    void *(*take)(void *context, size_t size); /* NULL where there is no memory left */
    void (*give)(void *context, void *memory);
    void *context;
    /* The first chunk's size, and the largest; between them each is as large as all before it. A
     * piece of half a largest chunk or more has memory of its own. 0: all pieces have. */
    size_t least, most;
    pthread_mutex_t lock; /* guards what follows */
    struct gf_arena_chunk *chunk;
    size_t held, used; /* bytes of all chunks, and of the pieces that are in use */
};

#define GF_ARENA_INITIAL(take_, give_, context_, least_, most_) \
    { \
        take_, give_, context_, least_, most_, PTHREAD_MUTEX_INITIALIZER, NULL, 0, 0 \
    }

/* Undefined contents; NULL where there is no memory left. */
void *gf_arena_alloc(struct gf_arena *arena, size_t size);
void gf_arena_free(struct gf_arena *arena, void *memory); /* NULL: nothing happens */
/* Gives back the chunks of which no piece is in use. */
void gf_arena_trim(struct gf_arena *arena);
/* The bytes that are not in use, of those that are *held. */
size_t gf_arena_idle(struct gf_arena *arena, size_t *held);

#ifdef __cplusplus
}
#endif
#endif
