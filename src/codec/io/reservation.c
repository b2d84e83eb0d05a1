#include "codec/io/reservation.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "codec/io/transfer.h"

enum {
    MAPPED_FROM_BYTES = 4 << 20,
    STEP_BYTES = 512 << 10,
    AHEAD_MOST = 4, /* threads; an H200's machine takes 34 ms with one, 32 with two, 27 with four */
    TMPFS = 0x01021994
};

/* Linux has this since 5.14; an older kernel refuses it, and write() remains. */
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

struct gf_reservation {
    int fd;
    int64_t base, end;     /* the bytes, from the page on in which they begin */
    unsigned char *mapped; /* those of a file in memory; NULL: it is on a disk */
    _Atomic int64_t next;  /* what the next thread allocates */
    int threads;
    pthread_t thread[AHEAD_MOST];
    struct gf_crew *crew;
};

/* A piece of what has not been allocated yet; false: there is none left. */
static bool allocate_piece(struct gf_reservation *reservation)
{
    const int64_t at = atomic_fetch_add(&reservation->next, STEP_BYTES);
    const int64_t left = reservation->end - at;
    const size_t some = left < STEP_BYTES ? (size_t)left : STEP_BYTES;
    if (left <= 0)
        return false;
    if (reservation->mapped)
        return !madvise(reservation->mapped + (at - reservation->base), some, MADV_POPULATE_WRITE);
    return !fallocate(reservation->fd, FALLOC_FL_KEEP_SIZE, at, (off_t)some);
}

static void *allocate_ahead(void *argument)
{
    while (allocate_piece(argument))
        ;
    return NULL;
}

/* Maps the bytes of a file in memory. Its pages come by faults, which several threads take side by
 * side: fallocate() and write() shut out one another for as long as a page is cleared. */
static void map_file(struct gf_reservation *reservation, int64_t size)
{
    const size_t bytes = (size_t)(reservation->end - reservation->base);
    struct statfs system;
    if (fstatfs(reservation->fd, &system) || system.f_type != TMPFS)
        return;
    if (ftruncate(reservation->fd, reservation->end))
        return;
    void *const mapped =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, reservation->fd, reservation->base);
    if (mapped != MAP_FAILED && !madvise(mapped, 1, MADV_POPULATE_WRITE)) {
        reservation->mapped = mapped;
        return;
    }
    if (mapped != MAP_FAILED)
        munmap(mapped, bytes);
    (void)!ftruncate(reservation->fd, reservation->end - size);
}

struct gf_reservation *gf_reservation_begin(int fd, int64_t offset, int64_t size, int threads)
{
    struct gf_reservation *const reservation = calloc(1, sizeof *reservation);
    if (!reservation)
        return NULL;
    reservation->fd = fd;
    reservation->base = offset - offset % sysconf(_SC_PAGESIZE);
    reservation->end = offset + size;
    map_file(reservation, size);
    atomic_init(&reservation->next, reservation->mapped ? reservation->base : offset);
    /* On few processors those that copy have enough to do with their own. */
    const int share = threads / 8 * 2, most = share < AHEAD_MOST ? share : AHEAD_MOST;
    const int wanted = reservation->mapped ? most : 1;
    while (reservation->threads < wanted &&
           !pthread_create(&reservation->thread[reservation->threads], NULL, allocate_ahead,
                           reservation))
        reservation->threads++;
    return reservation;
}

/* The mapping's entries go at once, by each thread for its own: one thread's munmap() takes as long
 * as the copies of eight. */
static void *copy_piece(void *argument)
{
    struct gf_piece *const piece = argument;
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), at = (uintptr_t)piece->data,
                    before = at % page, first = (at + page - 1) / page * page,
                    end = (at + piece->size) / page * page;
    if (madvise(piece->data - before, piece->size + before, MADV_POPULATE_WRITE)) {
        piece->failed = errno;
        return NULL;
    }
    memcpy(piece->data, piece->from, piece->size);
    piece->got = piece->size;
    if (first < end)
        (void)madvise(piece->data + (first - at), end - first, MADV_DONTNEED);
    return NULL;
}

/* Nobody needs to allocate before `end` any more. */
static void pass(struct gf_reservation *reservation, int64_t end)
{
    int64_t next = reservation->next;
    const int64_t pieces = (end - next + STEP_BYTES - 1) / STEP_BYTES;
    const int64_t to = next + pieces * STEP_BYTES;
    while (next < to && !atomic_compare_exchange_weak(&reservation->next, &next, to))
        ;
}

bool gf_reservation_write(struct gf_reservation *reservation, const void *data, size_t size,
                          int64_t offset, int threads)
{
    struct gf_piece piece[GF_PIECES_MOST];
    const int64_t end = offset + (int64_t)size;
    if (!reservation || !reservation->mapped || size < MAPPED_FROM_BYTES || end > reservation->end)
        return false;
    pass(reservation, end);
    const int pieces = gf_crew_run(
        &reservation->crew,
        (struct gf_piece){
            .data = reservation->mapped + (offset - reservation->base), .from = data, .size = size},
        threads, copy_piece, piece);
    /* The write to come begins where the last one ended. */
    return gf_crew_join(piece, pieces) == (ssize_t)size &&
           lseek(reservation->fd, end, SEEK_SET) == end;
}

void gf_reservation_end(struct gf_reservation *reservation, int64_t written)
{
    if (!reservation)
        return;
    reservation->next = reservation->end;
    for (int i = 0; i < reservation->threads; i++)
        pthread_join(reservation->thread[i], NULL);
    gf_crew_free(reservation->crew);
    if (reservation->mapped)
        munmap(reservation->mapped, (size_t)(reservation->end - reservation->base));
    if (written < reservation->end)
        (void)!ftruncate(reservation->fd, written);
    free(reservation);
}
