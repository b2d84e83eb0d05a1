/* Bytes that come in. */
#ifndef GF_CODEC_IO_INPUT_H
#define GF_CODEC_IO_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpufilter/status.h"

/* Bytes of an input, from a file or from standard input, readable again from the start. (input.c)
 */
struct gf_input;
/* keep: remember what a pipe gave, so that gf_input_rewind can start over. A directory, a missing
 * or an empty file is an error that names it. */
enum gf_status gf_input_open(const char *path, bool keep, struct gf_input **input,
                             struct gf_error *error) GF_CHECKED;
/* The bytes are the caller's and stay in their place; the name is for messages. */
enum gf_status gf_input_open_memory(const void *data, size_t size, const char *name,
                                    struct gf_input **input, struct gf_error *error) GF_CHECKED;
void gf_input_close(struct gf_input *input);
const char *gf_input_name(const struct gf_input *input); /* for messages: the path, or "stdin" */
/* Up to size bytes; fewer only at the end. An I/O error is an error, the end is not. */
enum gf_status gf_input_read(struct gf_input *input, void *data, size_t size, size_t *got,
                             struct gf_error *error) GF_CHECKED;
/* What is there without waiting for more, one byte at least; none at the end. */
enum gf_status gf_input_read_some(struct gf_input *input, void *data, size_t size, size_t *got,
                                  struct gf_error *error) GF_CHECKED;
/* The next bytes without consuming them, for recognising the format. */
enum gf_status gf_input_peek(struct gf_input *input, void *data, size_t size, size_t *got,
                             struct gf_error *error) GF_CHECKED;
enum gf_status gf_input_rewind(struct gf_input *input, struct gf_error *error) GF_CHECKED;
/* All bytes of a regular file from the start, of which there are gf_input_size; the next read goes
 * on where it was. */
enum gf_status gf_input_copy(struct gf_input *input, void *data, struct gf_error *error) GF_CHECKED;
/* Size of a regular file from the start on, else -1. */
int64_t gf_input_size(const struct gf_input *input);
/* The last bytes that were read, 64 KB at most, are to be read again. */
enum gf_status gf_input_give_back(struct gf_input *input, const void *data, size_t size,
                                  struct gf_error *error) GF_CHECKED;
/* The next byte is the first of another picture: gf_input_rewind comes back to here. */
void gf_input_start_here(struct gf_input *input);
bool gf_input_is_stream(const struct gf_input *input); /* no regular file */

#endif
