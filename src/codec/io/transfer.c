#include "codec/io/transfer.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cpu.h"

enum { THREADS_MOST = 8, PIECE_BYTES = 2 << 20, RESERVED_BYTES = 8 << 20 };

/* ---- reading ---- */

struct piece {
    int fd;
    unsigned char *data;
    size_t size, got;
    int64_t offset;
    int failed; /* errno; 0: the end of the file, or all is there */
    pthread_t thread;
};

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

static atomic_int transfers;

ssize_t gf_transfer_read(int fd, void *data, size_t size, int64_t offset, int threads)
{
    struct piece piece[THREADS_MOST];
    bool started[THREADS_MOST] = {false};
    const int share = gf_cpu_count() / (atomic_fetch_add(&transfers, 1) + 1);
    size_t count = threads < share ? (size_t)threads : (size_t)share;
    count = count < THREADS_MOST ? count : THREADS_MOST;
    count = count < size / PIECE_BYTES ? count : size / PIECE_BYTES;
    count = count ? count : 1;
    for (size_t i = 0; i < count; i++) {
        const size_t first = size / count * i, end = i + 1 < count ? size / count * (i + 1) : size;
        piece[i] = (struct piece){.fd = fd,
                                  .data = (unsigned char *)data + first,
                                  .size = end - first,
                                  .offset = offset + (int64_t)first};
        if (i)
            started[i] = !pthread_create(&piece[i].thread, NULL, read_piece, &piece[i]);
    }
    for (size_t i = 0; i < count; i++) {
        if (started[i])
            pthread_join(piece[i].thread, NULL);
        else
            read_piece(&piece[i]);
    }
    atomic_fetch_sub(&transfers, 1);
    return join_pieces(piece, (int)count);
}

/* ---- reserving ---- */

struct gf_reservation {
    int fd;
    int64_t offset, end;
    atomic_bool ending;
    pthread_t thread;
};

static void *reserve(void *argument)
{
    struct gf_reservation *const reservation = argument;
    for (int64_t at = reservation->offset; at < reservation->end && !reservation->ending;) {
        const int64_t left = reservation->end - at;
        const int64_t some = left < RESERVED_BYTES ? left : RESERVED_BYTES;
        if (fallocate(reservation->fd, FALLOC_FL_KEEP_SIZE, at, some))
            break;
        at += some;
    }
    return NULL;
}

struct gf_reservation *gf_reservation_begin(int fd, int64_t offset, int64_t size)
{
    struct gf_reservation *const reservation = malloc(sizeof *reservation);
    if (!reservation)
        return NULL;
    reservation->fd = fd;
    reservation->offset = offset;
    reservation->end = offset + size;
    atomic_init(&reservation->ending, false);
    if (pthread_create(&reservation->thread, NULL, reserve, reservation)) {
        free(reservation);
        return NULL;
    }
    return reservation;
}

void gf_reservation_end(struct gf_reservation *reservation)
{
    struct stat file;
    if (!reservation)
        return;
    reservation->ending = true;
    pthread_join(reservation->thread, NULL);
    if (!fstat(reservation->fd, &file) && file.st_size < reservation->end)
        (void)!ftruncate(reservation->fd, file.st_size);
    free(reservation);
}
