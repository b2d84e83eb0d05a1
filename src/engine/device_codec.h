/* Decodes and encodes pictures on the device, so that their rows are never in host memory. Files
 * that the device does not accept go through the codecs of codec.h, with the same result. */
#pragma once

#include "codec/codec.h"
#include "codec/common/rows/source.h"
#include "codec/io/input.h"
#include "codec/jpeg/jpeg_header.h"
#include "codec/png/png_file.h"
#include "engine/device_coders.h"
#include "engine/engine.h"

/* A file in the pool's host memory, which the device is to decode. */
struct gf_device_file {
    unsigned char *data; /* NULL: the device does not decode it */
    size_t size, end;    /* end: the position in the file where the decoded picture ends */
    size_t begin;        /* the position in the file of data[0] */
    const struct gf_device_decoder *decoder;
    int reduction; /* 1, or the reduction of the source's pictures */
    union {
        struct gf_jpeg_header jpeg;
        struct gf_png_file png;
        const struct gf_yuv *yuv; /* the source's */
    };
};

/* Reads the input for the device. `format` is the picture's format; the source, if there is one,
 * tells its reduction and may know more from the file's header. one_thread: the run uses one
 * thread. Reads nothing if the file is larger than bytes_most or the device does not decode its
 * kind. The device need not have started. */
enum gf_status gf_device_file_read(struct gf_input *input, enum gf_file_format file_format,
                                   const struct gf_source *source, bool one_thread,
                                   struct gf_format format, uint64_t bytes_most,
                                   struct gf_buffer_pool *buffers, struct gf_device_file *file,
                                   struct gf_error *error) GF_CHECKED;
/* Describes a file that is in memory for the device. Returns false if the device does not decode
 * it. `source` is the file's, which one thread opened. */
bool gf_device_file_describe(const void *data, size_t size, const struct gf_source *source,
                             struct gf_device_file *file);
/* Describes the work of decoding the file to the image, which is in device memory. */
struct gf_coder_picture gf_device_file_work(const struct gf_device_file *file,
                                            const struct gf_image *image);
/* Creates the decoder for such a file in the background. */
void gf_device_decoder_prepare(struct gf_device_coders *coders, const struct gf_device_file *file);
/* Decodes the file into device memory of the pool, which the caller returns to the pool. The file's
 * own buffer goes back to the pool. image->data is NULL if the CPU must decode the file. */
enum gf_status gf_device_file_decode(struct gf_device_coders *coders, struct gf_device_file *file,
                                     struct gf_format format, struct gf_buffer_pool *buffers,
                                     struct gf_image *image, struct gf_error *error) GF_CHECKED;

/* Whether the device encodes a result of that format, if the sink accepts an encoded file. */
bool gf_device_encodes(enum gf_file_format file_format, struct gf_format format,
                       const struct gf_options *options);
/* Returns the host memory of the encoded result in bytes; 0: it is small. */
uint64_t gf_device_encoded_bytes(enum gf_file_format file_format, struct gf_format format);
/* Creates the encoder for such a result in the background. */
void gf_device_encoder_prepare(struct gf_device_coders *coders, enum gf_file_format file_format);
/* Describes the work of encoding the image, which is in device memory. */
struct gf_coder_picture gf_device_encoding_work(enum gf_file_format file_format,
                                                const struct gf_image *image,
                                                const struct gf_options *options);
/* Encodes the image, which is in device memory, and gives the file to the sink, which finishes it.
 * *coded_s is the time of gf_now() between these two steps. */
enum gf_status gf_device_encode(struct gf_device_coders *coders, enum gf_file_format file_format,
                                const struct gf_image *image, struct gf_sink *sink,
                                const struct gf_options *options, double *coded_s,
                                struct gf_error *error) GF_CHECKED;
