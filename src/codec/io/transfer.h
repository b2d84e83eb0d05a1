/* Large reads from a file by several threads. */
#ifndef GF_CODEC_IO_TRANSFER_H
#define GF_CODEC_IO_TRANSFER_H

#include "codec/io/crew.h"

/* Reads as pread() does, but fewer bytes than `size` only at the end of the file or before an
 * error. At most `threads` threads read side by side. *crew: as gf_crew_run() takes it. */
ssize_t gf_transfer_read(struct gf_crew **crew, int fd, void *data, size_t size, int64_t offset,
                         int threads);

#endif
