/* Large copies between memory and a file by several threads, and space that is allocated
 * ahead of a writer. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/cpu.h"
#include "base/threads/ordered.h"
#include "codec/io/open_files.h"

enum {
    PIECE_BYTES = 1 << 20,
    READERS_MOST = 8 /* more threads are no faster: they wait for locks of the page cache */
};

/* Threads that copy pieces, in addition to the calling one. They live as long as the file is
 * open, since starting them for each band would take half as long as its copy. */
struct gf_crew {
    struct gf_ordered *ordered;
    void (*run)(struct gf_piece *piece);
    /* The pieces of the present copy; piece[0] is item `first` of `ordered`. */
    struct gf_piece *piece;
    int first;
};

static enum gf_status do_piece(void *context, int thread, int item, struct gf_error *error)
{
    const struct gf_crew *const crew = context;
    crew->run(&crew->piece[item - crew->first]);
    return GF_OK;
}

static struct gf_crew *crew_new(void)
{
    struct gf_crew *const crew = calloc(1, sizeof *crew);
    const struct gf_ordered_setup setup = {.call = do_piece,
                                           .context = crew,
                                           .threads = GF_PIECES_MOST,
                                           .helps = true,
                                           .slots = GF_PIECES_MOST};
    if (!crew || !gf_ordered_open(&setup, &crew->ordered, NULL))
        return crew;
    free(crew);
    return NULL;
}

void gf_crew_free(struct gf_crew *crew)
{
    if (crew)
        gf_ordered_close(crew->ordered);
    free(crew);
}

static atomic_int copies;

/* Returns into how many pieces a copy of `size` bytes is cut. */
static int count_pieces(size_t size, int threads)
{
    const int share = gf_cpu_count() / (atomic_load(&copies) + 1);
    size_t count = threads < share ? (size_t)threads : (size_t)share;
    count = count < GF_PIECES_MOST ? count : GF_PIECES_MOST;
    count = count < size / PIECE_BYTES ? count : size / PIECE_BYTES;
    return count ? (int)count : 1;
}

/* Cuts a copy into at most `threads` pieces, runs run(piece) for each in its own thread, the
 * calling one among them, and returns the number of pieces. Copies that run at the same time share
 * the processors. *crew is NULL before the first call and is freed by the caller; only one thread
 * at a time may use it. */
static int crew_run(struct gf_crew **crew, struct gf_piece whole, int threads,
                    void (*run)(struct gf_piece *piece), struct gf_piece piece[GF_PIECES_MOST])
{
    int count = count_pieces(whole.size, threads);
    if (count > 1 && !*crew)
        *crew = crew_new();
    count = *crew ? count : 1;
    for (int i = 0; i < count; i++) {
        const size_t first = whole.size / (size_t)count * (size_t)i;
        piece[i] = whole;
        piece[i].data += first;
        if (whole.from)
            piece[i].from += first;
        piece[i].offset += (int64_t)first;
        piece[i].size = (i + 1 < count ? first + whole.size / (size_t)count : whole.size) - first;
    }
    if (count == 1) {
        run(&piece[0]);
        return 1;
    }
    struct gf_crew *const own = *crew;
    own->run = run;
    own->piece = piece;
    atomic_fetch_add(&copies, 1);
    for (int i = 0; i < count; i++)
        gf_ordered_submit(own->ordered);
    (void)!gf_ordered_finish(own->ordered, NULL); /* each piece keeps its own errno in `failed` */
    atomic_fetch_sub(&copies, 1);
    own->first += count;
    return count;
}

/* Returns the number of bytes copied without a gap: those up to the end of the first incomplete
 * piece; -1 with errno if an error leaves none. */
static ssize_t crew_join(const struct gf_piece *piece, int pieces)
{
    size_t got = 0;
    for (int i = 0; i < pieces; i++) {
        got += piece[i].got;
        if (piece[i].got == piece[i].size)
            continue;
        errno = piece[i].failed;
        return got || !piece[i].failed ? (ssize_t)got : -1;
    }
    return (ssize_t)got;
}

static void read_piece(struct gf_piece *piece)
{
    while (piece->got < piece->size) {
        const ssize_t n = pread(piece->fd, piece->data + piece->got, piece->size - piece->got,
                                piece->offset + (int64_t)piece->got);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            piece->failed = errno;
        if (n <= 0)
            break;
        piece->got += (size_t)n;
    }
}

ssize_t gf_crew_read(struct gf_crew **crew, int fd, void *data, size_t size, int64_t offset,
                     int threads)
{
    struct gf_piece piece[GF_PIECES_MOST];
    const struct gf_piece whole = {.fd = fd, .data = data, .size = size, .offset = offset};
    const int pieces =
        crew_run(crew, whole, threads < READERS_MOST ? threads : READERS_MOST, read_piece, piece);
    return crew_join(piece, pieces);
}

enum {
    MAPPED_FROM_BYTES = 4 << 20,
    STEP_BYTES = 512 << 10,
    /* The most threads that allocate pages. One machine took 34 ms for a file with one, 32 ms with
     * two, 27 ms with four. */
    AHEAD_MOST = 4,
    TMPFS = 0x01021994
};

/* madvise() takes this value from Linux 5.14 on. Older kernels refuse it; the file is then written
 * by write(). */
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

struct gf_reservation {
    int fd;
    /* Offsets in the file: all pages from `base`, a page's start, to `end` are reserved. */
    int64_t base, end;
    /* The mapping from `base` on of a file in tmpfs; NULL: the file is on a disk. */
    unsigned char *mapped;
    _Atomic int64_t next; /* the offset from which on nothing is allocated yet */
    int threads;
    pthread_t thread[AHEAD_MOST];
    struct gf_crew *crew;
};

/* Allocates the next STEP_BYTES bytes of the file. Returns false if none are left. */
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

/* Maps the bytes of a file in memory (tmpfs). Pages of a mapping are allocated by several threads
 * at the same time, whereas calls of fallocate() and write() wait for each other while pages are
 * cleared. */
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
    /* With fewer than 8 threads the copying threads allocate the pages that they need. */
    const int share = threads / 8 * 2, most = share < AHEAD_MOST ? share : AHEAD_MOST;
    const int wanted = reservation->mapped ? most : 1;
    while (reservation->threads < wanted &&
           !pthread_create(&reservation->thread[reservation->threads], NULL, allocate_ahead,
                           reservation))
        reservation->threads++;
    return reservation;
}

/* Copies a piece to the mapping. Each thread then removes its part of the mapping from the page
 * table, because a single munmap() at the end takes as long as the copies of eight threads. */
static void copy_piece(struct gf_piece *piece)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), at = (uintptr_t)piece->data,
                    before = at % page, first = (at + page - 1) / page * page,
                    end = (at + piece->size) / page * page;
    if (madvise(piece->data - before, piece->size + before, MADV_POPULATE_WRITE)) {
        piece->failed = errno;
        return;
    }
    memcpy(piece->data, piece->from, piece->size);
    piece->got = piece->size;
    if (first < end)
        (void)madvise(piece->data + (first - at), end - first, MADV_DONTNEED);
}

/* Tells the allocating threads that they need not allocate the bytes before `end` any more. */
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
    const int pieces = crew_run(
        &reservation->crew,
        (struct gf_piece){
            .data = reservation->mapped + (offset - reservation->base), .from = data, .size = size},
        threads, copy_piece, piece);
    /* The file's offset moves behind these bytes, where a later write() begins. */
    return crew_join(piece, pieces) == (ssize_t)size &&
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
