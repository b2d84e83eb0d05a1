/* Hands the bytes of a JPEG to libjpeg, up to its end marker. Bytes between its segments that
 * belong to none are left out: libjpeg counts them together with codes that a scan has left over,
 * which may be the only trace of damage. */
#ifndef GF_CODEC_JPEG_JPEG_SEGMENTS_H
#define GF_CODEC_JPEG_JPEG_SEGMENTS_H

#include "codec/io/input.h"

enum { GF_JPEG_SEGMENTS_BUFFER_BYTES = 256 << 10 };

struct gf_jpeg_segments {
    struct gf_input *input;
    unsigned char *next, *end; /* in the buffer: what is not handed out yet */
    size_t left;               /* of a segment, its marker included */
    bool opens_scan;           /* the segment is the header of a scan */
    bool in_scan, scanned;     /* scanned: a scan has begun */
    bool ended;                /* the end marker is handed out */
    int64_t stray;             /* the bytes that were left out */
    int64_t filled;            /* bytes 0x00 and 0xff at the end of the last scan */
    unsigned char buffer[GF_JPEG_SEGMENTS_BUFFER_BYTES];
};

void gf_jpeg_segments_open(struct gf_jpeg_segments *segments, struct gf_input *input);
/* The next bytes, which are valid until the next call; *size is 0 at the end of the input and
 * behind the end marker. Of a stream no more is waited for than is needed. */
enum gf_status gf_jpeg_segments_next(struct gf_jpeg_segments *segments, const unsigned char **data,
                                     size_t *size, struct gf_error *error) GF_CHECKED;
/* Whether the input ended where nothing but the end marker need be missing: in a scan or behind
 * one. */
bool gf_jpeg_segments_may_be_whole(const struct gf_jpeg_segments *segments);
/* The offset in the input of a byte of what was handed out last. */
int64_t gf_jpeg_segments_place(const struct gf_jpeg_segments *segments, const unsigned char *at);
/* Gives what was read ahead back to the input. */
enum gf_status gf_jpeg_segments_close(struct gf_jpeg_segments *segments,
                                      struct gf_error *error) GF_CHECKED;

#endif
