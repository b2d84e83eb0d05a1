#include "codec/io/transfer.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/cpu.h"

enum {
    THREADS_MOST = 8,
    PIECE_BYTES = 1 << 20,
    MAPPED_FROM_BYTES = 256 << 10,
    RESERVED_BYTES = 2 << 20,
    TMPFS = 0x01021994
};

/* ---- pieces ---- */

/* Of a transfer, for one thread. */
struct piece {
    int fd;
    unsigned char *data;       /* where the bytes go */
    const unsigned char *from; /* or come from; NULL: the file */
    size_t size, got;
    int64_t offset;
    int failed; /* errno; 0: the end of the file, or all is there */
    pthread_t thread;
};

static atomic_int transfers;

/* Cuts the transfer into pieces, and does them side by side. Returns their number. */
static int run_pieces(struct piece whole, int threads, void *(*run)(void *),
                      struct piece piece[THREADS_MOST])
{
    bool started[THREADS_MOST] = {false};
    const int share = gf_cpu_count() / (atomic_fetch_add(&transfers, 1) + 1);
    size_t count = threads < share ? (size_t)threads : (size_t)share;
    count = count < THREADS_MOST ? count : THREADS_MOST;
    count = count < whole.size / PIECE_BYTES ? count : whole.size / PIECE_BYTES;
    count = count ? count : 1;
    for (size_t i = 0; i < count; i++) {
        const size_t first = whole.size / count * i;
        piece[i] = whole;
        piece[i].data += first;
        if (whole.from)
            piece[i].from += first;
        piece[i].offset += (int64_t)first;
        piece[i].size = (i + 1 < count ? whole.size / count * (i + 1) : whole.size) - first;
        if (i)
            started[i] = !pthread_create(&piece[i].thread, NULL, run, &piece[i]);
    }
    for (size_t i = 0; i < count; i++) {
        if (started[i])
            pthread_join(piece[i].thread, NULL);
        else
            run(&piece[i]);
    }
    atomic_fetch_sub(&transfers, 1);
    return (int)count;
}

/* ---- reading ---- */

static void *read_piece(void *argument)
{
    struct piece *const piece = argument;
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
    return NULL;
}

/* What lies before the first gap. */
static ssize_t join_pieces(const struct piece *piece, int pieces)
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

ssize_t gf_transfer_read(int fd, void *data, size_t size, int64_t offset, int threads)
{
    struct piece piece[THREADS_MOST];
    const struct piece whole = {.fd = fd, .data = data, .size = size, .offset = offset};
    const int pieces = run_pieces(whole, threads, read_piece, piece);
    return join_pieces(piece, pieces);
}

/* ---- reserving ---- */

enum { RESERVERS_MOST = 16 };

struct gf_reservation {
    int fd;
    int64_t offset, end;
    unsigned char *mapped; /* a file in memory, from its first byte; else NULL */
    size_t mapped_bytes;
    int reservers;
    pthread_t reserver[RESERVERS_MOST];
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t changed;
    bool ending, failed;
    size_t pieces, next; /* of RESERVED_BYTES of the file each */
    unsigned char *done; /* [pieces] */
};

static bool reserve_piece(const struct gf_reservation *reservation, size_t piece)
{
    const int64_t first = (int64_t)piece * RESERVED_BYTES, after = first + RESERVED_BYTES,
                  end = after < reservation->end ? after : reservation->end;
    if (reservation->mapped)
        return !madvise(reservation->mapped + first, (size_t)(end - first), MADV_POPULATE_WRITE);
    const int64_t begin = first > reservation->offset ? first : reservation->offset;
    return !fallocate(reservation->fd, FALLOC_FL_KEEP_SIZE, begin, end - begin);
}

static void *reserve(void *argument)
{
    struct gf_reservation *const reservation = argument;
    pthread_mutex_lock(&reservation->lock);
    while (!reservation->ending && !reservation->failed &&
           reservation->next < reservation->pieces) {
        const size_t piece = reservation->next++;
        pthread_mutex_unlock(&reservation->lock);
        const bool done = reserve_piece(reservation, piece);
        pthread_mutex_lock(&reservation->lock);
        reservation->done[piece] = done;
        reservation->failed |= !done;
        pthread_cond_broadcast(&reservation->changed);
    }
    pthread_mutex_unlock(&reservation->lock);
    return NULL;
}

/* The pages of a file in memory come through a mapping, which several threads may fill at a time;
 * fallocate() shuts out others, and leaves the mapping's entries to whoever writes. The file must
 * have its size for that. */
static int trial_reservers(void)
{
    const char *const text = getenv("GF_TRIAL_RESERVERS");
    return text ? atoi(text) : 0;
}

static void map_file(struct gf_reservation *reservation)
{
    struct statfs system;
    if (!trial_reservers() || fstatfs(reservation->fd, &system) || system.f_type != TMPFS ||
        ftruncate(reservation->fd, reservation->end))
        return;
    void *const mapped = mmap(NULL, (size_t)reservation->end, PROT_READ | PROT_WRITE, MAP_SHARED,
                              reservation->fd, 0);
    if (mapped == MAP_FAILED)
        return;
    reservation->mapped = mapped;
    reservation->mapped_bytes = (size_t)reservation->end;
}

struct gf_reservation *gf_reservation_begin(int fd, int64_t offset, int64_t size, int threads)
{
    struct gf_reservation *const reservation = calloc(1, sizeof *reservation);
    if (!reservation)
        return NULL;
    reservation->fd = fd;
    reservation->offset = offset;
    reservation->end = offset + size;
    reservation->next = (size_t)(offset / RESERVED_BYTES);
    reservation->pieces = (size_t)((reservation->end + RESERVED_BYTES - 1) / RESERVED_BYTES);
    reservation->done = calloc(reservation->pieces, 1);
    pthread_mutex_init(&reservation->lock, NULL);
    pthread_cond_init(&reservation->changed, NULL);
    if (reservation->done)
        map_file(reservation);
    const int most = reservation->mapped ? trial_reservers() : 1;
    while (
        reservation->done && reservation->reservers < most && reservation->reservers < threads &&
        !pthread_create(&reservation->reserver[reservation->reservers], NULL, reserve, reservation))
        reservation->reservers++;
    if (reservation->reservers)
        return reservation;
    gf_reservation_end(reservation, offset);
    return NULL;
}

/* Waits until the place is there; false if it cannot be had. */
static bool wait_for_place(struct gf_reservation *reservation, int64_t offset, int64_t end)
{
    bool there = true;
    pthread_mutex_lock(&reservation->lock);
    for (size_t i = (size_t)(offset / RESERVED_BYTES); there && (int64_t)i * RESERVED_BYTES < end;
         i++) {
        while (!reservation->done[i] && !reservation->failed)
            pthread_cond_wait(&reservation->changed, &reservation->lock);
        there = reservation->done[i];
    }
    pthread_mutex_unlock(&reservation->lock);
    return there;
}

/* The mapping's entries go at once, by each thread for its own, since munmap() takes long for
 * many. */
static void *copy_piece(void *argument)
{
    struct piece *const piece = argument;
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), at = (uintptr_t)piece->data,
                    first = (at + page - 1) / page * page, end = (at + piece->size) / page * page;
    memcpy(piece->data, piece->from, piece->size);
    if (first < end)
        (void)madvise(piece->data + (first - at), end - first, MADV_DONTNEED);
    return NULL;
}

static bool write_through_own_mapping(struct gf_reservation *reservation, const void *data,
                                      size_t size, int64_t offset, int threads)
{
    struct piece piece[THREADS_MOST];
    struct statfs system;
    const int64_t end = offset + (int64_t)size, before = offset % sysconf(_SC_PAGESIZE);
    if (!reservation || size < (4 << 20) || end > reservation->end ||
        fstatfs(reservation->fd, &system) || system.f_type != TMPFS)
        return false;
    bool there = true;
    pthread_mutex_lock(&reservation->lock);
    for (size_t i = (size_t)(offset / RESERVED_BYTES); (int64_t)i * RESERVED_BYTES < end; i++)
        there &= reservation->done[i];
    pthread_mutex_unlock(&reservation->lock);
    if (!there || ftruncate(reservation->fd, end))
        return false;
    unsigned char *const mapped = mmap(NULL, size + (size_t)before, PROT_READ | PROT_WRITE,
                                       MAP_SHARED, reservation->fd, offset - before);
    if (mapped == MAP_FAILED)
        return false;
    run_pieces((struct piece){.data = mapped + before, .from = data, .size = size}, threads,
               copy_piece, piece);
    munmap(mapped, size + (size_t)before);
    return lseek(reservation->fd, end, SEEK_SET) == end;
}

bool gf_reservation_write(struct gf_reservation *reservation, const void *data, size_t size,
                          int64_t offset, int threads)
{
    struct piece piece[THREADS_MOST];
    if (!trial_reservers())
        return write_through_own_mapping(reservation, data, size, offset, threads);
    const int64_t end = offset + (int64_t)size;
    if (!reservation || !reservation->mapped || size < MAPPED_FROM_BYTES ||
        end > reservation->end || !wait_for_place(reservation, offset, end))
        return false; /* the write to come begins where the last one ended */
    run_pieces((struct piece){.data = reservation->mapped + offset, .from = data, .size = size},
               threads, copy_piece, piece);
    return lseek(reservation->fd, end, SEEK_SET) == end;
}

void gf_reservation_end(struct gf_reservation *reservation, int64_t written)
{
    if (!reservation)
        return;
    pthread_mutex_lock(&reservation->lock);
    reservation->ending = true;
    pthread_mutex_unlock(&reservation->lock);
    for (int i = 0; i < reservation->reservers; i++)
        pthread_join(reservation->reserver[i], NULL);
    if (reservation->mapped)
        munmap(reservation->mapped, reservation->mapped_bytes);
    if (written < reservation->end)
        (void)!ftruncate(reservation->fd, written);
    pthread_cond_destroy(&reservation->changed);
    pthread_mutex_destroy(&reservation->lock);
    free(reservation->done);
    free(reservation);
}
