/* Bytes that go out. */
#ifndef GF_CODEC_IO_OUTPUT_H
#define GF_CODEC_IO_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpufilter/status.h"

/* An output that appears complete or not at all. (output.c) Bytes go to a temporary file in the
 * target's folder (unnamed where the file system can), renamed over the target by commit; standard
 * output is spooled likewise and copied out by commit. Permissions of an existing target are kept;
 * a symbolic link is followed; a target that is no regular file (/dev/null, a FIFO) is written by
 * commit. */
struct gf_output;
/* What commit does beside, both off by default. */
struct gf_output_manner {
    bool
        no_clobber; /* a file that is there is an error, also one that appears at the last moment */
    bool sync;      /* the file and its folder are on the disk when commit returns */
};
void gf_output_set_manner(struct gf_output *output, struct gf_output_manner manner);
int64_t gf_output_size(const struct gf_output *output); /* bytes written so far */
enum gf_status gf_output_open(const char *path, struct gf_output **output,
                              struct gf_error *error) GF_CHECKED;
/* An output in memory; the name is for messages. */
enum gf_status gf_output_open_memory(const char *name, struct gf_output **output,
                                     struct gf_error *error) GF_CHECKED;
/* After commit: what was written to memory, for the caller to free. */
void *gf_output_take(struct gf_output *output, size_t *size);
/* The path behind symbolic links, also where nothing is there yet; malloc. NULL with errno. */
char *gf_output_resolve(const char *path);
const char *gf_output_name(const struct gf_output *output);
enum gf_status gf_output_write(struct gf_output *output, const void *data, size_t size,
                               struct gf_error *error) GF_CHECKED;
/* Starts over: drops what was written. */
enum gf_status gf_output_rewind(struct gf_output *output, struct gf_error *error) GF_CHECKED;
enum gf_status gf_output_commit(struct gf_output *output, struct gf_error *error) GF_CHECKED;
void gf_output_close(struct gf_output *output); /* abandons what was not committed */

#endif
