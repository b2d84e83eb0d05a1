/* A picture whose rows never lie in host memory: decoded on the device from its compressed bytes,
 * and encoded there. What the device does not take goes through the codecs of codec.h. */
#ifndef GF_CODEC_DEVICE_H
#define GF_CODEC_DEVICE_H

#include "codec.h"
#include "jpeg_device.h"
#include "store.h"

/* A pipeline's own. Zeroed: none. */
struct gf_codec_device {
    struct gf_jpeg_device *jpeg;
    struct gf_jpeg_turn *turn; /* that this pipeline has; NULL: none */
};

enum gf_status gf_codec_device_open(struct gf_codec_device *codec, int device,
                                    struct gf_error *error) GF_CHECKED;
void gf_codec_device_close(struct gf_codec_device *codec);
/* Waits until it has started. `if_fast`: one that does not start, or has no engines, is closed, and
 * that is no error. */
enum gf_status gf_codec_device_ready(struct gf_codec_device *codec, bool if_fast,
                                     struct gf_error *error) GF_CHECKED;

/* The input's picture, of that format, in device memory of the store, to be given back; image->data
 * is NULL where the device does not take it. */
enum gf_status gf_codec_device_decode(struct gf_codec_device *codec, struct gf_input *input,
                                      struct gf_format format, uint64_t bytes_most,
                                      struct gf_store *store, struct gf_image *image,
                                      struct gf_error *error) GF_CHECKED;

/* Whether a result of that format would be encoded on the device. */
bool gf_codec_device_encodes(const struct gf_codec_device *codec, enum gf_file_format file_format,
                             struct gf_format format, const struct gf_options *options);
/* Waits until it is this pipeline's turn, unless it is; encoding leaves it. */
void gf_codec_device_enter(struct gf_codec_device *codec);
void gf_codec_device_leave(struct gf_codec_device *codec);

/* Encodes the image, which lies in device memory, and hands the file to the sink, which finishes
 * it. In a turn. */
enum gf_status gf_codec_device_encode(struct gf_codec_device *codec, const struct gf_image *image,
                                      struct gf_store *store, struct gf_sink *sink,
                                      const struct gf_options *options,
                                      struct gf_error *error) GF_CHECKED;

#endif
