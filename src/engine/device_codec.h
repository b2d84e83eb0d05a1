/* A picture whose rows never lie in host memory: decoded on the device from its compressed bytes,
 * and encoded there. What the device does not take goes through the codecs of codec.h. */
#ifndef GF_ENGINE_DEVICE_CODEC_H
#define GF_ENGINE_DEVICE_CODEC_H

#include "codec/codec.h"
#include "codec/common/source.h"
#include "codec/io/input.h"
#include "engine/jpeg_device.h"
#include "engine/store.h"

/* A pipeline's own. Zeroed: none. */
struct gf_device_codec {
    struct gf_jpeg_device *jpeg;
    struct gf_jpeg_lease *turn; /* that this pipeline has; NULL: none */
};

enum gf_status gf_device_codec_open(struct gf_device_codec *codec, int device,
                                    struct gf_error *error) GF_CHECKED;
void gf_device_codec_close(struct gf_device_codec *codec);
/* Waits until it has started. `if_fast`: one that does not start, or has no engines, is closed, and
 * that is no error. */
enum gf_status gf_device_codec_ready(struct gf_device_codec *codec, bool if_fast,
                                     struct gf_error *error) GF_CHECKED;

/* The input's picture, of that format, in device memory of the store, to be given back; image->data
 * is NULL where the device does not take it. */
enum gf_status gf_device_codec_decode(struct gf_device_codec *codec, struct gf_input *input,
                                      struct gf_format format, uint64_t bytes_most,
                                      struct gf_store *store, struct gf_image *image,
                                      struct gf_error *error) GF_CHECKED;

/* Whether a result of that format would be encoded on the device. */
bool gf_device_codec_encodes(const struct gf_device_codec *codec, enum gf_file_format file_format,
                             struct gf_format format, const struct gf_options *options);
/* Waits until it is this pipeline's turn, unless it is; encoding leaves it. */
void gf_device_codec_acquire(struct gf_device_codec *codec);
void gf_device_codec_release(struct gf_device_codec *codec);

/* Encodes the image, which lies in device memory, and hands the file to the sink, which finishes
 * it. In a turn. */
enum gf_status gf_device_codec_encode(struct gf_device_codec *codec, const struct gf_image *image,
                                      struct gf_store *store, struct gf_sink *sink,
                                      const struct gf_options *options,
                                      struct gf_error *error) GF_CHECKED;

#endif
