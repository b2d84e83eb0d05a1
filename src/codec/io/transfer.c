#include "codec/io/transfer.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cpu.h"

enum {
    PIECE_BYTES = 1 << 20,
    READERS_MOST = 8 /* more threads are no faster: they wait for each other in the page cache */
};

/* Threads that transfer pieces, in addition to the calling one. They live as long as the file is
 * open, since starting them for each band would take half as long as its transfer. */
struct gf_crew {
    pthread_mutex_t lock;
    pthread_cond_t begun, ended;
    void *(*run)(void *);
    struct gf_piece *piece;
    int pieces, next, left; /* the number of pieces of a transfer, the next piece, the unfinished
                             * pieces */
    bool ending;
    int threads;
    pthread_t thread[GF_PIECES_MOST - 1];
};

/* Takes pieces and does them until none is left. The caller holds the lock. */
static void do_pieces(struct gf_crew *crew)
{
    while (crew->next < crew->pieces) {
        struct gf_piece *const piece = &crew->piece[crew->next++];
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

/* Returns the number of pieces of a transfer of that size. */
static int count_pieces(size_t size, int threads)
{
    const int share = gf_cpu_count() / (atomic_load(&transfers) + 1);
    size_t count = threads < share ? (size_t)threads : (size_t)share;
    count = count < GF_PIECES_MOST ? count : GF_PIECES_MOST;
    count = count < size / PIECE_BYTES ? count : size / PIECE_BYTES;
    return count ? (int)count : 1;
}

int gf_crew_run(struct gf_crew **crew, struct gf_piece whole, int threads, void *(*run)(void *),
                struct gf_piece piece[GF_PIECES_MOST])
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

ssize_t gf_crew_join(const struct gf_piece *piece, int pieces)
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

static void *read_piece(void *argument)
{
    struct gf_piece *const piece = argument;
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

ssize_t gf_transfer_read(struct gf_crew **crew, int fd, void *data, size_t size, int64_t offset,
                         int threads)
{
    struct gf_piece piece[GF_PIECES_MOST];
    const struct gf_piece whole = {.fd = fd, .data = data, .size = size, .offset = offset};
    const int pieces = gf_crew_run(crew, whole, threads < READERS_MOST ? threads : READERS_MOST,
                                   read_piece, piece);
    return gf_crew_join(piece, pieces);
}
