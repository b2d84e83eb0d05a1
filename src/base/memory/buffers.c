/* Takes large buffers from the kernel, and cuts chunks of slow memory into pieces. */
#include "base/memory/buffers.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/threads/ordered.h"

enum { HUGE_PAGE = 2 << 20 };

/* Maps pages. The kernel gets the advice for `large` bytes or more; a refusal only takes more
 * memory, or makes access slower. */
static void *map(size_t size, size_t large, int advice)
{
    void *const pages = mmap(NULL, size ? size : 1, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED)
        return NULL;
    if (size >= large)
        (void)madvise(pages, size, advice);
    return pages;
}

void *gf_pages_alloc_sparse(size_t size)
{
    return map(size, HUGE_PAGE, MADV_NOHUGEPAGE);
}

void *gf_pages_alloc(size_t size)
{
    return map(size, 2 * (size_t)HUGE_PAGE, MADV_HUGEPAGE);
}

/* Linux has had MADV_POPULATE_WRITE since 5.14. An older kernel refuses it and provides pages when
 * they are touched. */
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

struct populating {
    char *pages;
    size_t size, part; /* bytes of all pages, and of each part, the last of which may be smaller */
};

static enum gf_status populate_part(void *context, int thread, int part, struct gf_error *error)
{
    const struct populating *const all = context;
    const size_t at = (size_t)part * all->part, left = all->size - at;
    (void)thread;
    (void)error;
    (void)madvise(all->pages + at, left < all->part ? left : all->part, MADV_POPULATE_WRITE);
    return GF_OK;
}

enum { PART_LEAST = 8 << 20 }; /* smaller parts take less time than starting a thread */

void gf_pages_populate(void *pages, size_t size)
{
    enum { PARTS_MAX = 8, ALIGNMENT = HUGE_PAGE };
    const size_t wanted = size / PART_LEAST, count = wanted < PARTS_MAX ? wanted : PARTS_MAX;
    if (!count)
        return;
    const size_t part = (size / count + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    struct populating all = {.pages = pages, .size = size, .part = part};
    const int parts = (int)((size + part - 1) / part);
    /* A failure only makes the first access slower. */
    (void)!gf_ordered_run(parts, parts, populate_part, &all, NULL);
}

void gf_pages_expect(void *memory, size_t size)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t before = (page - (uintptr_t)memory % page) % page;
    const size_t bytes = size > before ? (size - before) / page * page : 0;
    char *const first = (char *)memory + before;
    unsigned char there;
    if (bytes && !mincore(first + bytes - page, page, &there) && !(there & 1))
        (void)madvise(first, bytes, MADV_POPULATE_WRITE);
}

static void *populate_ahead(void *argument)
{
    const struct gf_pages_ahead *const ahead = argument;
    (void)madvise(ahead->pages, ahead->size, MADV_POPULATE_WRITE);
    return NULL;
}

void gf_pages_ahead_begin(struct gf_pages_ahead *ahead, void *pages, size_t size)
{
    *ahead = (struct gf_pages_ahead){.pages = pages, .size = size};
    if (size >= PART_LEAST)
        ahead->started = !pthread_create(&ahead->thread, NULL, populate_ahead, ahead);
}

void gf_pages_ahead_end(struct gf_pages_ahead *ahead)
{
    if (ahead->started)
        pthread_join(ahead->thread, NULL);
    ahead->started = false;
}

void gf_pages_free(void *pages, size_t size)
{
    if (pages)
        munmap(pages, size ? size : 1);
}

/* A part of a chunk. The parts cover the chunk, in the order of their addresses. No two adjacent
 * parts are both free. */
struct piece {
    struct piece *before, *behind;
    char *data;
    size_t size;
    bool used;
};

struct gf_arena_chunk {
    struct gf_arena_chunk *next;
    char *data;
    size_t size;
    struct piece *first;
    bool own; /* the chunk was taken for one piece, which was too large for the usual chunks */
};

static size_t rounded(size_t size)
{
    const size_t whole = size ? size : 1;
    return (whole + GF_ARENA_ALIGNMENT - 1) / GF_ARENA_ALIGNMENT * GF_ARENA_ALIGNMENT;
}

static void drop_chunk(struct gf_arena *arena, struct gf_arena_chunk **link)
{
    struct gf_arena_chunk *const chunk = *link;
    *link = chunk->next;
    arena->held -= chunk->size;
    arena->give(arena->context, chunk->data);
    free(chunk->first);
    free(chunk);
}

static bool is_idle(const struct gf_arena_chunk *chunk)
{
    return !chunk->first->used && !chunk->first->behind;
}

static void drop_idle_chunks(struct gf_arena *arena)
{
    for (struct gf_arena_chunk **link = &arena->chunk; *link;) {
        if (is_idle(*link))
            drop_chunk(arena, link);
        else
            link = &(*link)->next;
    }
}

static struct piece *add_chunk(struct gf_arena *arena, size_t size, bool own)
{
    struct gf_arena_chunk *const chunk = calloc(1, sizeof *chunk);
    struct piece *const piece = calloc(1, sizeof *piece);
    void *const data = chunk && piece ? arena->take(arena->context, size) : NULL;
    if (!data) {
        free(chunk);
        free(piece);
        return NULL;
    }
    *piece = (struct piece){.data = data, .size = size};
    *chunk = (struct gf_arena_chunk){
        .next = arena->chunk, .data = data, .size = size, .first = piece, .own = own};
    arena->chunk = chunk;
    arena->held += size;
    return piece;
}

/* Takes a new chunk for a piece. It tries the usual size, then the exact size of the piece, then
 * both again after giving back the chunks that nothing uses. */
static struct piece *new_chunk(struct gf_arena *arena, size_t size)
{
    size_t usual = 2 * arena->held > arena->least ? 2 * arena->held : arena->least;
    usual = usual < arena->most ? usual : arena->most;
    const bool cuts = rounded(size) <= usual && size < arena->most / 2;
    struct piece *piece = cuts ? add_chunk(arena, usual, false) : NULL;
    if (!piece)
        piece = add_chunk(arena, size, true);
    if (!piece) {
        drop_idle_chunks(arena);
        piece = add_chunk(arena, size, true);
    }
    return piece;
}

/* Returns the smallest free piece that is large enough. */
static struct piece *find_free(const struct gf_arena *arena, size_t size)
{
    struct piece *best = NULL;
    for (const struct gf_arena_chunk *chunk = arena->chunk; chunk; chunk = chunk->next) {
        for (struct piece *piece = chunk->first; piece; piece = piece->behind) {
            if (!piece->used && piece->size >= size && (!best || piece->size < best->size))
                best = piece;
        }
    }
    return best;
}

/* Cuts the bytes beyond `size` off the piece's end, as a free piece. If there is no memory to
 * describe the free piece, the piece keeps the bytes. */
static void cut(struct piece *piece, size_t size)
{
    struct piece *const rest = piece->size > size ? calloc(1, sizeof *rest) : NULL;
    if (!rest)
        return;
    *rest = (struct piece){.before = piece,
                           .behind = piece->behind,
                           .data = piece->data + size,
                           .size = piece->size - size};
    if (rest->behind)
        rest->behind->before = rest;
    piece->behind = rest;
    piece->size = size;
}

/* Joins the piece with the one behind it. */
static void join(struct piece *piece)
{
    struct piece *const behind = piece->behind;
    piece->size += behind->size;
    piece->behind = behind->behind;
    if (piece->behind)
        piece->behind->before = piece;
    free(behind);
}

void *gf_arena_alloc(struct gf_arena *arena, size_t size)
{
    const size_t whole = rounded(size);
    if (whole < size)
        return NULL;
    pthread_mutex_lock(&arena->lock);
    struct piece *piece = find_free(arena, whole);
    if (!piece)
        piece = new_chunk(arena, size ? size : 1);
    if (piece) {
        cut(piece, whole);
        piece->used = true;
        arena->used += piece->size;
    }
    void *const data = piece ? piece->data : NULL;
    pthread_mutex_unlock(&arena->lock);
    return data;
}

static struct piece *find_used(struct gf_arena_chunk *chunk, const char *data)
{
    struct piece *piece = chunk->first;
    while (piece && piece->data != data)
        piece = piece->behind;
    return piece && piece->used ? piece : NULL;
}

static void release(struct gf_arena *arena, struct gf_arena_chunk **link, struct piece *piece)
{
    piece->used = false;
    arena->used -= piece->size;
    if (piece->behind && !piece->behind->used)
        join(piece);
    if (piece->before && !piece->before->used)
        join(piece->before);
    if (is_idle(*link) && (*link)->own)
        drop_chunk(arena, link);
}

void gf_arena_free(struct gf_arena *arena, void *memory)
{
    if (!memory)
        return;
    pthread_mutex_lock(&arena->lock);
    for (struct gf_arena_chunk **link = &arena->chunk; *link; link = &(*link)->next) {
        struct gf_arena_chunk *const chunk = *link;
        const char *const data = memory;
        struct piece *const piece =
            data >= chunk->data && data < chunk->data + chunk->size ? find_used(chunk, data) : NULL;
        if (!piece)
            continue;
        release(arena, link, piece);
        break;
    }
    pthread_mutex_unlock(&arena->lock);
}

void gf_arena_trim(struct gf_arena *arena)
{
    pthread_mutex_lock(&arena->lock);
    drop_idle_chunks(arena);
    pthread_mutex_unlock(&arena->lock);
}

size_t gf_arena_idle(struct gf_arena *arena, size_t *held)
{
    pthread_mutex_lock(&arena->lock);
    *held = arena->held;
    const size_t idle = arena->held - arena->used;
    pthread_mutex_unlock(&arena->lock);
    return idle;
}
