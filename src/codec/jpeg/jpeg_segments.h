/* Passes the bytes of a JPEG to libjpeg, up to the end marker. Stray bytes between segments are
 * left out: libjpeg would count them together with codes that remain at the end of a scan, and such
 * codes may be the only sign of damage. */
#pragma once

#include "codec/io/input.h"

enum { GF_JPEG_SEGMENTS_BUFFER_BYTES = 256 << 10 };

struct gf_jpeg_segments {
    struct gf_input *input;
    unsigned char *next, *end; /* the bytes in the buffer that were not passed on */
    size_t left;               /* bytes left of the segment, with its marker */
    bool opens_scan;           /* the segment is the header of a scan */
    bool in_scan, scanned;     /* in_scan: the next bytes are a scan's; scanned: a scan has begun */
    bool ended;                /* the end marker was passed on */
    bool lengthless;           /* a segment's length was below 2, the bytes of the length itself */
    int64_t stray;             /* number of stray bytes that were left out */
    int64_t filled;            /* number of bytes 0x00 and 0xff at the end of the last scan */
    unsigned char buffer[GF_JPEG_SEGMENTS_BUFFER_BYTES];
};

void gf_jpeg_segments_open(struct gf_jpeg_segments *segments, struct gf_input *input);
/* Returns the next bytes, which are valid until the next call; *size is 0 at the end of the input
 * and after the end marker. On a stream the call waits only for bytes that it needs. */
enum gf_status gf_jpeg_segments_next(struct gf_jpeg_segments *segments, const unsigned char **data,
                                     size_t *size, struct gf_error *error) GF_CHECKED;
/* Whether the input ended in or after a scan, so that perhaps only the end marker is missing. */
bool gf_jpeg_segments_may_be_whole(const struct gf_jpeg_segments *segments);
/* Returns the offset in the input of a byte that the last call of gf_jpeg_segments_next()
 * returned. */
int64_t gf_jpeg_segments_place(const struct gf_jpeg_segments *segments, const unsigned char *at);
/* Returns bytes that were read ahead to the input. */
enum gf_status gf_jpeg_segments_close(struct gf_jpeg_segments *segments,
                                      struct gf_error *error) GF_CHECKED;
