/* Large transfers between memory and a file by several threads: one copies from and to the page
 * cache at a fraction of what memory gives. */
#ifndef GF_CODEC_IO_TRANSFER_H
#define GF_CODEC_IO_TRANSFER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { GF_PIECES_MOST = 16 };

/* Of a transfer, for one thread. */
struct gf_piece {
    int fd;
    unsigned char *data;       /* where the bytes go */
    const unsigned char *from; /* or come from; NULL: the file */
    size_t size, got;
    int64_t offset;
    int failed; /* errno; 0: the end of the file, or all is there */
};

struct gf_crew; /* threads of an open file, which transfers start when they need them */
void gf_crew_free(struct gf_crew *crew); /* NULL is nothing */
/* Cuts the transfer into pieces, at most `threads`, does them side by side by run(piece), and
 * returns their number. Transfers that run at the same time share the processors. *crew, NULL at
 * first, is the caller's to free; one thread at a time uses it. */
int gf_crew_run(struct gf_crew **crew, struct gf_piece whole, int threads, void *(*run)(void *),
                struct gf_piece piece[GF_PIECES_MOST]);
/* The bytes before the first gap; -1 with errno where an error leaves none. */
ssize_t gf_crew_join(const struct gf_piece *piece, int pieces);

/* Reads as pread() does, but fewer bytes than `size` only at the end of the file or before an
 * error. At most `threads` threads read side by side. */
ssize_t gf_transfer_read(struct gf_crew **crew, int fd, void *data, size_t size, int64_t offset,
                         int threads);

#endif
