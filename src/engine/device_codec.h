/* Decodes and encodes pictures on the device, so that their rows never lie in host memory. What the
 * device does not take goes through the codecs of codec.h. */
#ifndef GF_ENGINE_DEVICE_CODEC_H
#define GF_ENGINE_DEVICE_CODEC_H

#include "codec/codec.h"
#include "codec/common/source.h"
#include "codec/io/input.h"
#include "engine/jpeg_device.h"
#include "engine/buffer_pool.h"

/* A pipeline's part of the device's codec. Zeroed: it has none. */
struct gf_device_codec {
    struct gf_jpeg_device *jpeg;
    struct gf_jpeg_lease *lease; /* NULL: not acquired */
};

enum gf_status gf_device_codec_open(struct gf_device_codec *codec, int device,
                                    struct gf_error *error) GF_CHECKED;
void gf_device_codec_close(struct gf_device_codec *codec);
/* Waits until the codec has started. With `if_fast`, one that does not start or has no hardware
 * decoder is closed, which is no error. */
enum gf_status gf_device_codec_ready(struct gf_device_codec *codec, bool if_fast,
                                     struct gf_error *error) GF_CHECKED;

/* Decodes the input, whose picture has that format, into device memory of the pool, which the
 * caller returns; image->data is NULL where the device does not take the picture. */
enum gf_status gf_device_codec_decode(struct gf_device_codec *codec, struct gf_input *input,
                                      struct gf_format format, uint64_t bytes_most,
                                      struct gf_buffer_pool *buffers, struct gf_image *image,
                                      struct gf_error *error) GF_CHECKED;

/* Whether the device encodes a result of that format. */
bool gf_device_codec_encodes(const struct gf_device_codec *codec, enum gf_file_format file_format,
                             struct gf_format format, const struct gf_options *options);
/* Waits for a lease, unless the pipeline has one. */
void gf_device_codec_acquire(struct gf_device_codec *codec);
void gf_device_codec_release(struct gf_device_codec *codec);

/* Encodes the image, which lies in device memory, and hands the file to the sink, which finishes
 * it. The pipeline must hold a lease, which is released before the file is written. */
enum gf_status gf_device_codec_encode(struct gf_device_codec *codec, const struct gf_image *image,
                                      struct gf_buffer_pool *buffers, struct gf_sink *sink,
                                      const struct gf_options *options,
                                      struct gf_error *error) GF_CHECKED;

#endif
