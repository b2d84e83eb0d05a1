/* Files of plain samples behind a short header, row by row. pfm.c and npy.c read and write the
 * headers. */
#pragma once

#include "codec/common/opening.h"
#include "gpufilter/image.h"

struct gf_array {
    struct gf_format format;
    int64_t data;   /* where the samples begin in the file */
    bool bottom_up; /* the last row comes first */
    bool swapped;   /* the samples have the other byte order than the machine's */
    bool doubles;   /* the file's samples are floats of 64 bits, which become the nearest of 32 */
};

enum { GF_ARRAY_HEAD = 16 << 10 }; /* so many bytes hold a header */

/* Reads a header at `head`, of which `size` bytes are there and a zero follows. */
typedef enum gf_status gf_array_header(const char *name, const char *head, size_t size,
                                       const struct gf_options *options, struct gf_array *array,
                                       struct gf_error *error);

static inline bool gf_is_big_endian(void)
{
    const uint16_t one = 1;
    return !*(const unsigned char *)&one;
}

enum gf_status gf_array_source_open(gf_array_header *read_header, struct gf_input *input,
                                    const struct gf_options *options, struct gf_source **source,
                                    struct gf_error *error) GF_CHECKED;
/* Opens a sink for rows of the order's format, whose alpha is left out if there is none in the
 * array's format, and writes the header. */
enum gf_status gf_array_sink_open(const struct gf_sink_order *order, const struct gf_array *array,
                                  const char *header, size_t size, struct gf_sink **sink,
                                  struct gf_error *error) GF_CHECKED;
