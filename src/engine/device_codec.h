/* Decodes and encodes pictures on the device, so that their rows never lie in host memory. What the
 * device does not take goes through the codecs of codec.h, with the same result. */
#ifndef GF_ENGINE_DEVICE_CODEC_H
#define GF_ENGINE_DEVICE_CODEC_H

#include "codec/codec.h"
#include "codec/common/source.h"
#include "codec/io/input.h"
#include "engine/buffer_pool.h"
#include "codec/jpeg/jpeg_header.h"
#include "codec/png/png_marked.h"
#include "engine/device_coders.h"

/* A file in host memory of the pool, for the device to decode. */
struct gf_device_file {
    unsigned char *data; /* NULL: the device does not decode it */
    size_t size, end;    /* end: behind the picture, once it is decoded */
    const struct gf_device_decoder *decoder;
    union {
        struct gf_jpeg_header jpeg;
        struct gf_png_marked png;
    };
};

/* Reads the input, whose picture has that format and whose source may know what stands in its
 * header, for a run on one thread or on several, unless it is larger than `bytes_most` or no file
 * that the device decodes. The device need not have started. */
enum gf_status gf_device_file_read(struct gf_input *input, enum gf_file_format file_format,
                                   const struct gf_source *source, bool one_thread,
                                   struct gf_format format, uint64_t bytes_most,
                                   struct gf_buffer_pool *buffers, struct gf_device_file *file,
                                   struct gf_error *error) GF_CHECKED;
/* Such a file is about to come: what decodes it is created meanwhile. */
void gf_device_decoder_prepare(struct gf_device_coders *coders, const struct gf_device_file *file);
/* Decodes the file, which is returned to the pool, into device memory of the pool, which the caller
 * returns. image->data is NULL where the CPU must decode it. */
enum gf_status gf_device_file_decode(struct gf_device_coders *coders, struct gf_device_file *file,
                                     struct gf_format format, struct gf_buffer_pool *buffers,
                                     struct gf_image *image, struct gf_error *error) GF_CHECKED;

/* Whether the device encodes a result of that format, unless the sink takes rows only. */
bool gf_device_encodes(enum gf_file_format file_format, struct gf_format format,
                       const struct gf_options *options);
/* The bytes of host memory that the encoded result may take; 0: few. */
uint64_t gf_device_encoded_bytes(enum gf_file_format file_format, struct gf_format format);
/* Such a result is about to come: what encodes it is created meanwhile. */
void gf_device_encoder_prepare(struct gf_device_coders *coders, enum gf_file_format file_format);
/* Encodes the image, which lies in device memory, and hands the file to the sink, which finishes
 * it. *coded_s is gf_now() between the two. */
enum gf_status gf_device_encode(struct gf_device_coders *coders, enum gf_file_format file_format,
                                const struct gf_image *image, struct gf_sink *sink,
                                const struct gf_options *options, double *coded_s,
                                struct gf_error *error) GF_CHECKED;

#endif
