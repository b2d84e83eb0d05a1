/* Large transfers between memory and a file by several threads: one thread copies from and to the
 * page cache at a fraction of what memory gives. */
#ifndef GF_CODEC_IO_TRANSFER_H
#define GF_CODEC_IO_TRANSFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct gf_crew; /* threads of an open file, which transfers start when they need them */
void gf_crew_free(struct gf_crew *crew); /* NULL is nothing */

/* Reads as pread() does, but fewer bytes than `size` only at the end of the file or before an
 * error. At most `threads` threads read side by side; transfers that run at the same time share the
 * processors. *crew, NULL at first, is the caller's to free; one thread at a time uses it. */
ssize_t gf_transfer_read(struct gf_crew **crew, int fd, void *data, size_t size, int64_t offset,
                         int threads);

struct gf_reservation;

/* A thread begins to allocate the bytes of a file that is being written from `offset` on, ahead of
 * the writer: a file in memory takes longer to get its pages than to be written. Without a thread,
 * or where the file system cannot, nothing is reserved; a full disk is the writer's to find. */
struct gf_reservation *gf_reservation_begin(int fd, int64_t offset, int64_t size);
/* Writes bytes at an offset whose place is allocated already, by at most `threads` threads. A file
 * in memory alone: there, each write() shuts out the others, but not what goes through a mapping,
 * and no page of it can be missing any more. False: nothing is written. */
bool gf_reservation_write(struct gf_reservation *reservation, const void *data, size_t size,
                          int64_t offset, int threads);
/* Ends the thread; what was reserved and lies beyond the end of the file is given back. NULL is
 * nothing. */
void gf_reservation_end(struct gf_reservation *reservation);

#endif
