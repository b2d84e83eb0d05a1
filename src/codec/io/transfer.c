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
    THREADS_MOST = 16,
    READERS_MOST = 8, /* more take as long: they meet in the page cache */
    PIECE_BYTES = 1 << 20,
    MAPPED_FROM_BYTES = 4 << 20,
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
};

/* Threads that do pieces beside the calling one. They live as long as the file is open: starting
 * them for each band takes as long as half of its transfer. */
struct gf_crew {
    pthread_mutex_t lock;
    pthread_cond_t begun, ended;
    void *(*run)(void *);
    struct piece *piece;
    int pieces, next, left; /* of one transfer: all; the next to be taken; not ended */
    bool ending;
    int threads;
    pthread_t thread[THREADS_MOST - 1];
};

/* Does pieces until none is left to be taken. The caller holds the lock. */
static void do_pieces(struct gf_crew *crew)
{
    while (crew->next < crew->pieces) {
        struct piece *const piece = &crew->piece[crew->next++];
        pthread_mutex_unlock(&crew->lock);
        crew->run(piece);
        pthread_mutex_lock(&crew->lock);
        if (!--crew->left)
            pthread_cond_signal(&crew->ended);
    }
}

static void *crew_main(void *argument)
{
    struct gf_crew *const crew = argument;
    pthread_mutex_lock(&crew->lock);
    while (!crew->ending) {
        do_pieces(crew);
        pthread_cond_wait(&crew->begun, &crew->lock);
    }
    pthread_mutex_unlock(&crew->lock);
    return NULL;
}

static struct gf_crew *crew_new(void)
{
    struct gf_crew *const crew = calloc(1, sizeof *crew);
    if (!crew)
        return NULL;
    pthread_mutex_init(&crew->lock, NULL);
    pthread_cond_init(&crew->begun, NULL);
    pthread_cond_init(&crew->ended, NULL);
    return crew;
}

void gf_crew_free(struct gf_crew *crew)
{
    if (!crew)
        return;
    pthread_mutex_lock(&crew->lock);
    crew->ending = true;
    pthread_cond_broadcast(&crew->begun);
    pthread_mutex_unlock(&crew->lock);
    for (int i = 0; i < crew->threads; i++)
        pthread_join(crew->thread[i], NULL);
    pthread_cond_destroy(&crew->ended);
    pthread_cond_destroy(&crew->begun);
    pthread_mutex_destroy(&crew->lock);
    free(crew);
}

static atomic_int transfers;

/* How many pieces a transfer of that size is worth. */
static int count_pieces(size_t size, int threads)
{
    const int share = gf_cpu_count() / (atomic_load(&transfers) + 1);
    size_t count = threads < share ? (size_t)threads : (size_t)share;
    count = count < THREADS_MOST ? count : THREADS_MOST;
    count = count < size / PIECE_BYTES ? count : size / PIECE_BYTES;
    return count ? (int)count : 1;
}

/* Cuts the transfer into pieces, and does them side by side. Returns their number. */
static int run_pieces(struct gf_crew **crew, struct piece whole, int threads, void *(*run)(void *),
                      struct piece piece[THREADS_MOST])
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
    atomic_fetch_add(&transfers, 1);
    pthread_mutex_lock(&own->lock);
    own->run = run;
    own->piece = piece;
    own->pieces = own->left = count;
    own->next = 0;
    while (own->threads < count - 1 &&
           !pthread_create(&own->thread[own->threads], NULL, crew_main, own))
        own->threads++;
    pthread_cond_broadcast(&own->begun);
    do_pieces(own);
    while (own->left)
        pthread_cond_wait(&own->ended, &own->lock);
    pthread_mutex_unlock(&own->lock);
    atomic_fetch_sub(&transfers, 1);
    return count;
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

ssize_t gf_transfer_read(struct gf_crew **crew, int fd, void *data, size_t size, int64_t offset,
                         int threads)
{
    struct piece piece[THREADS_MOST];
    const struct piece whole = {.fd = fd, .data = data, .size = size, .offset = offset};
    const int pieces =
        run_pieces(crew, whole, threads < READERS_MOST ? threads : READERS_MOST, read_piece, piece);
    return join_pieces(piece, pieces);
}

/* ---- reserving ---- */

struct gf_reservation {
    int fd;
    int64_t offset, end;
    bool in_memory;
    _Atomic int64_t reserved; /* up to where */
    atomic_bool ending;
    pthread_t thread;
    struct gf_crew *crew;
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
        reservation->reserved = at;
    }
    return NULL;
}

struct gf_reservation *gf_reservation_begin(int fd, int64_t offset, int64_t size)
{
    struct gf_reservation *const reservation = malloc(sizeof *reservation);
    struct statfs system;
    if (!reservation)
        return NULL;
    reservation->in_memory = !fstatfs(fd, &system) && system.f_type == TMPFS;
    reservation->crew = NULL;
    reservation->fd = fd;
    reservation->offset = offset;
    reservation->end = offset + size;
    atomic_init(&reservation->ending, false);
    atomic_init(&reservation->reserved, offset);
    if (pthread_create(&reservation->thread, NULL, reserve, reservation)) {
        free(reservation);
        return NULL;
    }
    return reservation;
}

/* The mapping's entries go at once, by each thread for its own: one thread's munmap() takes as long
 * as the copies of eight. */
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

bool gf_reservation_write(struct gf_reservation *reservation, const void *data, size_t size,
                          int64_t offset, int threads)
{
    struct piece piece[THREADS_MOST];
    const int64_t end = offset + (int64_t)size, before = offset % sysconf(_SC_PAGESIZE);
    if (!reservation || !reservation->in_memory || size < MAPPED_FROM_BYTES ||
        reservation->reserved < end || ftruncate(reservation->fd, end))
        return false;
    unsigned char *const mapped = mmap(NULL, size + (size_t)before, PROT_READ | PROT_WRITE,
                                       MAP_SHARED, reservation->fd, offset - before);
    if (mapped == MAP_FAILED)
        return false; /* the write to come begins where the last one ended */
    run_pieces(&reservation->crew,
               (struct piece){.data = mapped + before, .from = data, .size = size}, threads,
               copy_piece, piece);
    munmap(mapped, size + (size_t)before);
    return lseek(reservation->fd, end, SEEK_SET) == end;
}

void gf_reservation_end(struct gf_reservation *reservation)
{
    struct stat file;
    if (!reservation)
        return;
    reservation->ending = true;
    pthread_join(reservation->thread, NULL);
    gf_crew_free(reservation->crew);
    if (!fstat(reservation->fd, &file) && file.st_size < reservation->end)
        (void)!ftruncate(reservation->fd, file.st_size);
    free(reservation);
}
