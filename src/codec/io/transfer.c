#include "codec/io/transfer.h"

#include <errno.h>
#include <unistd.h>

enum { READERS_MOST = 8 }; /* more take as long: they meet in the page cache */

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
