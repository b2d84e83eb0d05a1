/* Allocates the bytes of a file that is being written, ahead of the thread that writes. */
#ifndef GF_CODEC_IO_RESERVATION_H
#define GF_CODEC_IO_RESERVATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gf_reservation;

/* Starts threads, some of `threads`, that allocate the bytes of a file from `offset` on while it is
 * written: for a file in memory (tmpfs) allocating pages takes longer than copying to them. The
 * file has its final size at once. Nothing is reserved where the file system cannot do that;
 * write() then reports a full disk. NULL when out of memory. */
struct gf_reservation *gf_reservation_begin(int fd, int64_t offset, int64_t size, int threads);
/* Writes bytes to a file in memory by at most `threads` threads through a mapping, whose pages are
 * allocated first; several write() calls would wait for each other. False where this does not work:
 * the caller has to call write(), which continues behind the last bytes written. */
bool gf_reservation_write(struct gf_reservation *reservation, const void *data, size_t size,
                          int64_t offset, int threads);
/* Ends the threads and truncates the file to its `written` bytes. Does nothing with NULL. */
void gf_reservation_end(struct gf_reservation *reservation, int64_t written);

#endif
