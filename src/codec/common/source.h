/* A source hands out the rows of a picture file, in the pixel format of gpufilter/image.h; a sink
 * takes finished rows in order. */
#ifndef GF_CODEC_COMMON_SOURCE_H
#define GF_CODEC_COMMON_SOURCE_H

#include "codec/common/metadata.h"
#include "gpufilter/image.h"

struct gf_source {
    struct gf_format format;
    struct gf_metadata metadata;
    bool for_device_codec; /* a JPEG of the kind that a GPU's codec takes, by its header */
    /* The next `rows` rows to dst, pitch bytes apart. Errors name the input. */
    enum gf_status (*read)(struct gf_source *source, int rows, unsigned char *dst, size_t pitch,
                           struct gf_error *error);
    /* After the last row: checks what follows (checksums, the end marker); may be NULL. */
    enum gf_status (*finish)(struct gf_source *source, struct gf_error *error);
    void (*close)(struct gf_source *source); /* frees the source; not the input */
};

struct gf_sink {
    /* Takes the next rows. May modify nothing of them. */
    enum gf_status (*write)(struct gf_sink *sink, int rows, const unsigned char *src, size_t pitch,
                            struct gf_error *error);
    enum gf_status (*finish)(struct gf_sink *sink, struct gf_error *error); /* after the last row */
    void (*close)(struct gf_sink *sink);
};

#endif
