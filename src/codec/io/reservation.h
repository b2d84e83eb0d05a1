/* The bytes of a file that is being written, allocated ahead of its writer. */
#ifndef GF_CODEC_IO_RESERVATION_H
#define GF_CODEC_IO_RESERVATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gf_reservation;

/* A thread begins to allocate the bytes of a file that is being written from `offset` on: a file in
 * memory takes longer to get its pages than to be written, however many threads ask for them. It has
 * its whole size from now on. Where the file system cannot, nothing is reserved; a full disk is the
 * writer's to find. NULL: there is no thread. */
struct gf_reservation *gf_reservation_begin(int fd, int64_t offset, int64_t size);
/* Writes bytes to a file in memory, when their place is allocated, by at most `threads` threads: each
 * write() shuts out the others, but not what goes through a mapping. False: it is for write() to
 * write them, from where the last one ended. */
bool gf_reservation_write(struct gf_reservation *reservation, const void *data, size_t size,
                          int64_t offset, int threads);
/* Ends the thread; what was reserved beyond the `written` bytes of the file is given back. NULL is
 * nothing. */
void gf_reservation_end(struct gf_reservation *reservation, int64_t written);

#endif
