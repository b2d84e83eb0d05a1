/* The bytes of a file that is being written, allocated ahead of its writer. */
#ifndef GF_CODEC_IO_RESERVATION_H
#define GF_CODEC_IO_RESERVATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gf_reservation;

/* Threads, of `threads` that there are, begin to allocate the bytes of a file that is being written
 * from `offset` on: a file in memory takes longer to get its pages than to be written. It has its
 * whole size from now on. Where the file system cannot, nothing is reserved; a full disk is the
 * writer's to find. NULL: there is no memory. */
struct gf_reservation *gf_reservation_begin(int fd, int64_t offset, int64_t size, int threads);
/* Writes bytes to a file in memory by at most `threads` threads: each write() shuts out the others,
 * but not what goes through a mapping, whose pages are allocated first. False: it is for write() to
 * write them, from where the last one ended. */
bool gf_reservation_write(struct gf_reservation *reservation, const void *data, size_t size,
                          int64_t offset, int threads);
/* Ends the threads; what was reserved beyond the `written` bytes of the file is given back. NULL is
 * nothing. */
void gf_reservation_end(struct gf_reservation *reservation, int64_t written);

#endif
