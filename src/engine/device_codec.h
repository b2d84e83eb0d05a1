/* Decodes and encodes pictures on the device, so that their rows never lie in host memory. Files
 * that the device does not take go through the codecs of codec.h, with the same result. */
#ifndef GF_ENGINE_DEVICE_CODEC_H
#define GF_ENGINE_DEVICE_CODEC_H

#include "codec/codec.h"
#include "codec/common/source.h"
#include "codec/io/input.h"
#include "engine/buffer_pool.h"
#include "codec/jpeg/jpeg_header.h"
#include "codec/png/read/png_marked.h"
#include "engine/device_coders.h"

/* A file in host memory of the pool, for the device to decode. */
struct gf_device_file {
    unsigned char *data; /* NULL: the device does not decode it */
    size_t size, end;    /* end: where the picture ends in the file, once it is decoded */
    const struct gf_device_decoder *decoder;
    union {
        struct gf_jpeg_header jpeg;
        struct gf_png_marked png;
    };
};

/* Reads the input for the device to decode. The picture has that format, and the source may know
 * more from the file's header. The run may use one thread or several. Reads nothing where the file
 * is larger than `bytes_most` or is of no kind that the device decodes. The device need not have
 * started. */
enum gf_status gf_device_file_read(struct gf_input *input, enum gf_file_format file_format,
                                   const struct gf_source *source, bool one_thread,
                                   struct gf_format format, uint64_t bytes_most,
                                   struct gf_buffer_pool *buffers, struct gf_device_file *file,
                                   struct gf_error *error) GF_CHECKED;
/* Announces such a file: its decoder is created meanwhile. */
void gf_device_decoder_prepare(struct gf_device_coders *coders, const struct gf_device_file *file);
/* Decodes the file into device memory of the pool, which the caller returns; the file's own buffer
 * goes back to the pool. image->data is NULL where the CPU must decode the file. */
enum gf_status gf_device_file_decode(struct gf_device_coders *coders, struct gf_device_file *file,
                                     struct gf_format format, struct gf_buffer_pool *buffers,
                                     struct gf_image *image, struct gf_error *error) GF_CHECKED;

/* Whether the device encodes a result of that format, unless the sink takes rows only. */
bool gf_device_encodes(enum gf_file_format file_format, struct gf_format format,
                       const struct gf_options *options);
/* How many bytes of host memory the encoded result may take; 0: only a few. */
uint64_t gf_device_encoded_bytes(enum gf_file_format file_format, struct gf_format format);
/* Announces such a result: its encoder is created meanwhile. */
void gf_device_encoder_prepare(struct gf_device_coders *coders, enum gf_file_format file_format);
/* Encodes the image, which lies in device memory, and hands the file to the sink, which finishes
 * it. *coded_s is the time of gf_now() between these two steps. */
enum gf_status gf_device_encode(struct gf_device_coders *coders, enum gf_file_format file_format,
                                const struct gf_image *image, struct gf_sink *sink,
                                const struct gf_options *options, double *coded_s,
                                struct gf_error *error) GF_CHECKED;

#endif
