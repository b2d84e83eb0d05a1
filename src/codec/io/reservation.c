#include "codec/io/reservation.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "codec/io/crew.h"

enum {
    MAPPED_FROM_BYTES = 4 << 20,
    STEP_BYTES = 1 << 20,
    WRITERS_MOST = 8, /* more take as long */
    TMPFS = 0x01021994
};

/* Linux has this since 5.14; an older kernel refuses it, and a page comes when it is touched. */
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

struct gf_reservation {
    int fd;
    int64_t base, end;     /* the bytes, from the page on in which they begin */
    unsigned char *mapped; /* those of a file in memory; NULL: it is on a disk */
    struct gf_crew *crew;
    pthread_t thread;
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t further;
    int64_t reserved; /* up to where */
    bool ending, ended;
};

/* Allocates bytes up to the end, or until it is told to end; a file system may refuse. */
static void *reserve(void *argument)
{
    struct gf_reservation *const reservation = argument;
    bool good = true;
    pthread_mutex_lock(&reservation->lock);
    while (good && !reservation->ending && reservation->reserved < reservation->end) {
        const int64_t at = reservation->reserved, left = reservation->end - at;
        const int64_t some = left < STEP_BYTES ? left : STEP_BYTES;
        pthread_mutex_unlock(&reservation->lock);
        good = !fallocate(reservation->fd, FALLOC_FL_KEEP_SIZE, at, some);
        pthread_mutex_lock(&reservation->lock);
        reservation->reserved += good ? some : 0;
        pthread_cond_signal(&reservation->further);
    }
    reservation->ended = true;
    pthread_cond_signal(&reservation->further);
    pthread_mutex_unlock(&reservation->lock);
    return NULL;
}

/* Waits until everything before `end` is allocated; false: it will not be. */
static bool wait_for(struct gf_reservation *reservation, int64_t end)
{
    pthread_mutex_lock(&reservation->lock);
    while (reservation->reserved < end && !reservation->ended)
        pthread_cond_wait(&reservation->further, &reservation->lock);
    const bool reserved = reservation->reserved >= end;
    pthread_mutex_unlock(&reservation->lock);
    return reserved;
}

/* Maps the bytes of a file in memory, which gets its size for that. */
static void map_file(struct gf_reservation *reservation, int64_t offset)
{
    const size_t bytes = (size_t)(reservation->end - reservation->base);
    struct statfs system;
    if (fstatfs(reservation->fd, &system) || system.f_type != TMPFS ||
        ftruncate(reservation->fd, reservation->end))
        return;
    void *const mapped =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, reservation->fd, reservation->base);
    if (mapped != MAP_FAILED)
        reservation->mapped = mapped;
    else
        (void)!ftruncate(reservation->fd, offset);
}

static void unmap_file(const struct gf_reservation *reservation, int64_t written)
{
    if (reservation->mapped)
        munmap(reservation->mapped, (size_t)(reservation->end - reservation->base));
    if (written < reservation->end) /* what lies beyond is given back, too */
        (void)!ftruncate(reservation->fd, written);
}

struct gf_reservation *gf_reservation_begin(int fd, int64_t offset, int64_t size)
{
    struct gf_reservation *const reservation = calloc(1, sizeof *reservation);
    if (!reservation)
        return NULL;
    reservation->fd = fd;
    reservation->base = offset - offset % sysconf(_SC_PAGESIZE);
    reservation->end = offset + size;
    reservation->reserved = offset;
    map_file(reservation, offset);
    pthread_mutex_init(&reservation->lock, NULL);
    pthread_cond_init(&reservation->further, NULL);
    if (!pthread_create(&reservation->thread, NULL, reserve, reservation))
        return reservation;
    unmap_file(reservation, offset);
    pthread_cond_destroy(&reservation->further);
    pthread_mutex_destroy(&reservation->lock);
    free(reservation);
    return NULL;
}

/* Pages that are allocated are still to be cleared and mapped, which populating does without a fault
 * for each, and which finds those that somebody has taken away. The mapping's entries go at once, by
 * each thread for its own: one thread's munmap() takes as long as the copies of eight. */
static void *copy_piece(void *argument)
{
    struct gf_piece *const piece = argument;
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), at = (uintptr_t)piece->data,
                    before = at % page, first = (at + page - 1) / page * page,
                    end = (at + piece->size) / page * page;
    if (madvise(piece->data - before, piece->size + before, MADV_POPULATE_WRITE) &&
        errno != EINVAL) {
        piece->failed = errno;
        return NULL;
    }
    memcpy(piece->data, piece->from, piece->size);
    piece->got = piece->size;
    if (first < end)
        (void)madvise(piece->data + (first - at), end - first, MADV_DONTNEED);
    return NULL;
}

bool gf_reservation_write(struct gf_reservation *reservation, const void *data, size_t size,
                          int64_t offset, int threads)
{
    struct gf_piece piece[GF_PIECES_MOST];
    const int64_t end = offset + (int64_t)size;
    if (!reservation || !reservation->mapped || size < MAPPED_FROM_BYTES ||
        !wait_for(reservation, end))
        return false;
    const struct gf_piece whole = {
        .data = reservation->mapped + (offset - reservation->base), .from = data, .size = size};
    const int pieces =
        gf_crew_run(&reservation->crew, whole, threads < WRITERS_MOST ? threads : WRITERS_MOST,
                    copy_piece, piece);
    /* The write to come begins where the last one ended. */
    return gf_crew_join(piece, pieces) == (ssize_t)size &&
           lseek(reservation->fd, end, SEEK_SET) == end;
}

void gf_reservation_end(struct gf_reservation *reservation, int64_t written)
{
    if (!reservation)
        return;
    pthread_mutex_lock(&reservation->lock);
    reservation->ending = true;
    pthread_mutex_unlock(&reservation->lock);
    pthread_join(reservation->thread, NULL);
    gf_crew_free(reservation->crew);
    unmap_file(reservation, written);
    pthread_cond_destroy(&reservation->further);
    pthread_mutex_destroy(&reservation->lock);
    free(reservation);
}
