/* The state of open inputs and outputs, which only the files that implement input.h and output.h
 * use; and large copies between memory and a file by several threads: a single thread copies to and
 * from the page cache at a fraction of the memory's bandwidth. */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

#include "base/fail.h"
#include "codec/io/input.h"
#include "codec/io/output.h"

enum { GF_PIECES_MOST = 16 };

/* One thread's part of a copy. */
struct gf_piece {
    int fd;
    unsigned char *data;       /* bytes read from the file go here */
    const unsigned char *from; /* bytes to be written to the file; NULL: the piece is read */
    size_t size, got;
    int64_t offset;
    int failed; /* errno of a failure; 0: all bytes were copied, or the file ended */
};

struct gf_crew; /* the copying threads of an open file, started by the first copy that needs them */
void gf_crew_free(struct gf_crew *crew); /* does nothing with NULL */

/* Reads like pread(), but returns fewer bytes than `size` only at the end of the file or before an
 * error. At most `threads` threads read at the same time. */
ssize_t gf_crew_read(struct gf_crew **crew, int fd, void *data, size_t size, int64_t offset,
                     int threads);

/* Threads that allocate the bytes of a file ahead of the thread that writes it. */

struct gf_reservation;

/* Starts a part of `threads` threads, which allocate the bytes of a file from `offset` on while it
 * is written: for a file in memory (tmpfs) allocating pages takes longer than copying to them. The
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

/* struct gf_input is the state of an open input. */

/* The first read reads only as much as headers need. Later bytes can then be read directly to the
 * memory in which they are decoded. */
enum {
    GF_INPUT_BUFFER_BYTES = 256 << 10,
    GF_INPUT_FIRST_BYTES = 32 << 10,
    GF_INPUT_GIVEN_BACK_MOST = 64 << 10
};

struct gf_input {
    char *name;
    int fd;
    struct gf_pages pages;
    int threads;                 /* number of threads that may read at the same time; 0 is one */
    struct gf_crew *crew;        /* the threads that read beside the calling one; NULL: none yet */
    const unsigned char *memory; /* the caller's bytes; NULL: the bytes are read from fd */
    /* The caller's function for a stream's bytes; NULL: they are read from fd. */
    const struct gf_reader *reader;
    bool regular, opened; /* regular: a file or memory; opened: fd has to be closed */
    bool at_end;
    bool narrowed;     /* bytes of the file after `size` do not belong to the input */
    bool headers_only; /* no pixels will be read */
    bool coefficients; /* a JPEG is read as coefficients */
    bool windowed;     /* the caller will choose a window */
    /* Offset in a regular file at which the input begins; not 0 where bytes before it were already
     * read, maybe by another process. */
    int64_t base;
    int64_t size;       /* size of a regular file in bytes; else -1 */
    int64_t position;   /* offset of the next byte that is not in the buffer yet */
    int spool;          /* the unnamed file with the stream's bytes so far; -1: none are kept */
    int64_t spool_base; /* offset at which the stream's bytes begin in the spool file */
    int64_t spooled;
    bool is_timed; /* `times` are known */
    struct timespec times[2];
    int spool_errno;   /* errno of the failure that ended the keeping of bytes; 0: none */
    bool lost;         /* bytes were taken from the stream that could not be kept */
    bool given_back;   /* the buffer begins with the bytes of gf_input_give_back */
    size_t first, end; /* the part of the buffer that is not read yet */
    struct gf_said said;
    unsigned char buffer[GF_INPUT_BUFFER_BYTES + GF_INPUT_GIVEN_BACK_MOST];
};

/* Sets *error to the text of errno and the input's name, and returns its status. */
enum gf_status gf_input_fail(const struct gf_input *input, struct gf_error *error);
/* Appends bytes that have been read to the spool file, if the input's bytes are to be kept. */
void gf_input_keep(struct gf_input *input, const void *data, size_t size);
/* Reads the bytes after the buffer's bytes; bytes of a stream are kept if they must be. *got is 0
 * at the end. */
enum gf_status gf_input_read_next(struct gf_input *input, void *data, size_t size, size_t *got,
                                  struct gf_error *error) GF_CHECKED;

/* struct gf_output is the state of an open output. */

/* An output in memory needs its buffer for small pieces alone. */
enum { GF_OUTPUT_BUFFER_BYTES = 1 << 20, GF_OUTPUT_SMALL_BUFFER_BYTES = 16 << 10 };

/* A folder of files, which is made under a temporary name. */
struct gf_folder {
    struct gf_temporary temporary;
    char *target;
    int fd;
    uint64_t bytes; /* of all files */
};

struct gf_output {
    char *name;   /* the name in the caller's words, for messages */
    char *target; /* the file to replace, with symbolic links resolved; NULL: there is none */
    struct gf_temporary temporary;
    int fd;
    bool to_stdout, exists;
    bool in_memory;
    bool foreign;          /* another process puts the file in its place */
    unsigned char *memory; /* an output in memory: its bytes, of which there are `written` */
    size_t capacity;
    bool borrowed; /* `memory` belongs to the caller and is not freed */
    bool failed;   /* a write failed, so that commit fails too */
    bool is_timed; /* the file gets `times` */
    struct timespec times[2];
    struct gf_output_options options;
    struct gf_folder *folder;           /* NULL: the output has none */
    struct gf_reservation *reservation; /* disk space allocated ahead; NULL: none */
    int threads;                        /* number of threads that may write at the same time */
    int64_t written;                    /* bytes written, without those still in the buffer */
    size_t held, buffer_bytes;
    unsigned char buffer[];
};

/* Renames the folder to its target, and removes the folder that it replaces. */
enum gf_status gf_folder_commit(struct gf_output *output, struct gf_error *error) GF_CHECKED;
void gf_folder_close(struct gf_output *output); /* removes a folder that was not committed */

/* Returns the number of bytes written so far, also to the folder. */
static inline int64_t gf_output_bytes(const struct gf_output *output)
{
    return output->written + (int64_t)output->held +
           (output->folder ? (int64_t)output->folder->bytes : 0);
}

/* Whether `more` bytes are over the limit of the output. */
static inline bool gf_output_is_full(const struct gf_output *output, uint64_t more)
{
    const uint64_t most = output->options.max_bytes,
                   size = output->options.bytes_before + (uint64_t)gf_output_bytes(output);
    return most && (size > most || more > most - size);
}

static inline enum gf_status gf_output_check_room(struct gf_output *output, uint64_t more,
                                                  struct gf_error *error)
{
    if (!gf_output_is_full(output, more))
        return GF_OK;
    output->failed = true;
    return gf_fail(error, GF_ERROR_UNFIT, "%s: is over options.max_output_bytes=%llu%s",
                   output->name, (unsigned long long)output->options.max_bytes,
                   output->options.bytes_before ? " with the input's pictures before it" : "");
}

static inline enum gf_status gf_output_fail_exists(const struct gf_output *output,
                                                   struct gf_error *error)
{
    return gf_fail(error, GF_ERROR_OUTPUT, "%s: is there already (options.no_clobber)",
                   output->name);
}

/* Sets *error to the text of errno and the output's name, and returns its status. */
static inline enum gf_status gf_output_fail(const struct gf_output *output, struct gf_error *error)
{
    return gf_fail(error, gf_status_of_name(GF_ERROR_UNFIT, GF_ERROR_OUTPUT), "%s: %s",
                   output->name, strerror(errno));
}

/* Does what gf_output_fail() does for an errno that concerns the folder of the output's file: the
 * folder refuses a new file or its name. */
static inline enum gf_status gf_output_fail_folder(const struct gf_output *output,
                                                   struct gf_error *error)
{
    if (errno == EBUSY)
        return gf_fail(error, GF_ERROR_OUTPUT,
                       "%s: is mounted by itself, and cannot be replaced: mount its folder, or "
                       "name another file",
                       output->name);
    if (errno == EACCES || errno == EPERM || errno == EROFS)
        return gf_fail(error, GF_ERROR_OUTPUT,
                       "%s: its folder takes no new file: %s (an output is a new file beside the "
                       "one that it replaces; name it in another folder)",
                       output->name, strerror(errno));
    return gf_output_fail(output, error);
}
