/* Large transfers between memory and a file by several threads. A single thread copies to and from
 * the page cache at a fraction of the memory's bandwidth. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { GF_PIECES_MOST = 16 };

/* One thread's part of a transfer. */
struct gf_piece {
    int fd;
    unsigned char *data;       /* where bytes that are read go */
    const unsigned char *from; /* the bytes to be written; NULL: the piece is read from the file */
    size_t size, got;
    int64_t offset;
    int failed; /* errno; 0: all bytes were transferred, or the file ended */
};

struct gf_crew; /* the threads of an open file, started by the first transfer that needs them */
void gf_crew_free(struct gf_crew *crew); /* does nothing with NULL */
/* Cuts a transfer into at most `threads` pieces, calls run(piece) for each on a thread of its own,
 * and returns their number. Transfers that run at the same time share the processors. *crew is NULL
 * before the first call and is freed by the caller; only one thread at a time may use it. */
int gf_crew_run(struct gf_crew **crew, struct gf_piece whole, int threads, void *(*run)(void *),
                struct gf_piece piece[GF_PIECES_MOST]);
/* Returns the number of bytes before the first incomplete piece; -1 with errno if an error leaves
 * none. */
ssize_t gf_crew_join(const struct gf_piece *piece, int pieces);

/* Reads like pread(), but returns fewer bytes than `size` only at the end of the file or before an
 * error. At most `threads` threads read at the same time. */
ssize_t gf_transfer_read(struct gf_crew **crew, int fd, void *data, size_t size, int64_t offset,
                         int threads);

/* Allocates the bytes of a file ahead of the thread that writes it. */

struct gf_reservation;

/* Starts threads, some of `threads`, that allocate the bytes of a file from `offset` on while it is
 * written: for a file in memory (tmpfs) allocating pages takes longer than copying to them. The
 * file has its final size at once. Nothing is reserved if the file system cannot do that; write()
 * then reports a full disk. Returns NULL when out of memory. */
struct gf_reservation *gf_reservation_begin(int fd, int64_t offset, int64_t size, int threads);
/* Writes bytes to a file in memory by at most `threads` threads through a mapping, whose pages are
 * allocated first; several write() calls would wait for each other. Returns false if this does not
 * work: the caller has to call write(), which continues after the last bytes written. */
bool gf_reservation_write(struct gf_reservation *reservation, const void *data, size_t size,
                          int64_t offset, int threads);
/* Ends the threads and truncates the file to its `written` bytes. Does nothing with NULL. */
void gf_reservation_end(struct gf_reservation *reservation, int64_t written);
