/* What the writers of WebP pictures and animations share. */
#pragma once

#include "codec/common/whole_sink.h"
#include "codec/webp/webp_calls.h"

struct gf_webp_encoder {
    WebPConfig config;
    WebPPicture picture;
    WebPMemoryWriter writer; /* the coded picture; the caller clears it */
};

/* Fails with libwebp's message. libwebp does not always report a lack of memory as such, but
 * malloc() has set errno. */
enum gf_status gf_webp_fail(const struct gf_whole_sink *sink, const char *why,
                            struct gf_error *error);
/* Prepares to encode `width` x `height` of the sink's pixels, from the column `left` and the row
 * `top` on. The caller calls gf_webp_encode(), even after a failure. */
enum gf_status gf_webp_prepare(const struct gf_whole_sink *sink, int left, int top, int width,
                               int height, struct gf_webp_encoder *encoder,
                               struct gf_error *error) GF_CHECKED;
/* Encodes the picture, unless `status` says that preparing it has failed, and frees it. */
enum gf_status gf_webp_encode(const struct gf_whole_sink *sink, struct gf_webp_encoder *encoder,
                              enum gf_status status, struct gf_error *error) GF_CHECKED;
/* Adds the metadata and writes the file. */
enum gf_status gf_webp_write_muxed(const struct gf_whole_sink *sink, WebPMux *mux,
                                   struct gf_error *error) GF_CHECKED;

/* The functions of an animation (whole_sink.h). */
enum gf_status gf_webp_add(struct gf_whole_sink *sink, struct gf_error *error);
enum gf_status gf_webp_end(struct gf_whole_sink *sink, struct gf_error *error);
void gf_webp_release(struct gf_whole_sink *sink);
