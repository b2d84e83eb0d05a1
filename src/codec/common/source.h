/* A source hands out the rows of a picture file, in the pixel format of gpufilter/image.h; a sink
 * takes finished rows in order. */
#ifndef GF_CODEC_COMMON_SOURCE_H
#define GF_CODEC_COMMON_SOURCE_H

#include <stdint.h>

#include "codec/common/metadata.h"
#include "gpufilter/image.h"

/* Memory that a codec needs because of the picture's size or the file's structure. Most codecs need
 * almost none, which counts as 0. */
struct gf_codec_memory {
    uint64_t bytes;
    const char *why; /* "an interlaced PNG is decoded as a whole" */
};

struct gf_source {
    struct gf_format format;
    struct gf_metadata metadata;
    struct gf_codec_memory memory; /* while its rows are read */
    bool for_device_codec;         /* whether by its header a GPU's codec can decode the file */
    /* Makes the source decode rows at 1/reduction of the size, 2, 4 or 8, and changes `format` to
     * that size: sides are rounded up. Call it before the first read(). NULL: the file format
     * cannot do it. */
    void (*reduce)(struct gf_source *source, int reduction);
    /* Writes the next `rows` rows to dst, `pitch` bytes apart. Errors name the input. */
    enum gf_status (*read)(struct gf_source *source, int rows, unsigned char *dst, size_t pitch,
                           struct gf_error *error);
    /* Passes over the next rows, where reading them could find no damage. False, or NULL: nothing
     * is passed over, and the caller must read them. */
    bool (*pass_over)(struct gf_source *source, int rows);
    /* Checks what follows the last row (checksums, the end marker); may be NULL. Where pictures of
     * the format can follow one another, the input's next byte is then the one behind this picture.
     */
    enum gf_status (*finish)(struct gf_source *source, struct gf_error *error);
    /* After a device has decoded the picture of a regular file, up to that offset: goes behind the
     * picture, in place of read() and finish(). NULL: nothing behind the picture is looked for. */
    enum gf_status (*leave)(struct gf_source *source, int64_t end, struct gf_error *error);
    void (*close)(struct gf_source *source); /* frees the source, but not the input */
};

struct gf_sink {
    /* Writes the next rows. */
    enum gf_status (*write)(struct gf_sink *sink, int rows, const unsigned char *src, size_t pitch,
                            struct gf_error *error);
    enum gf_status (*finish)(struct gf_sink *sink, struct gf_error *error); /* after the last row */
    void (*close)(struct gf_sink *sink);
    /* Writes the next bytes of the file that a device's coder has made of all rows, in place of
     * rows; `last` finishes the file. NULL: the sink takes rows only. */
    enum gf_status (*splice)(struct gf_sink *sink, const unsigned char *coded, size_t size,
                             bool last, struct gf_error *error);
};

#endif
