/* Decodes and encodes the picture of a file on the device, so that its rows are never in host
 * memory. Files that the device does not accept go through the codecs of codec.h, with the same
 * result. */
#pragma once

#include "codec/codec.h"
#include "codec/common/rows/source.h"
#include "codec/io/input.h"
#include "codec/jpeg/jpeg_header.h"
#include "codec/png/png_file.h"
#include "engine/device_coders.h"
#include "engine/engine.h"

/* A picture file, in host memory of the buffer pool, that the device is to decode. */
struct gf_device_file {
    unsigned char *data; /* NULL: the device does not decode it */
    /* The bytes of `data`; `end`: the position in the file behind the decoded picture. */
    size_t size, end;
    size_t begin; /* the position in the file of the byte data[0] */
    const struct gf_device_decoder *decoder;
    int reduction; /* the picture is decoded at 1/reduction of its size; 1: at its full size */
    union {
        struct gf_jpeg_header jpeg;
        struct gf_png_file png;
        struct gf_heif_coded coded; /* 0 columns: the source has no description */
        struct gf_tiff_coded tiles; /* likewise */
        const struct gf_yuv *yuv;   /* the source's */
    };
};

/* Reads the input for the device. `format` is the picture's format. `source` is NULL or the opened
 * file, which tells the reduction and may know more from the header. one_thread: the run uses one
 * thread. takes_slow: files of which the device decodes many in the time of one may go there, too.
 * Leaves file->data NULL if the file is larger than bytes_most, or if the device does not
 * decode its kind. The device need not have started. */
enum gf_status gf_device_file_read(struct gf_input *input, enum gf_file_format file_format,
                                   const struct gf_source *source, bool one_thread, bool takes_slow,
                                   struct gf_format format, uint64_t bytes_most,
                                   struct gf_buffer_pool *buffers, struct gf_device_file *file,
                                   struct gf_error *error) GF_CHECKED;
/* Whether this machine's devices may decode files of that format: HEIC and AVIF need a library of
 * the driver. */
bool gf_device_decodes(enum gf_file_format file_format);
/* Whether a GPU decodes the whole picture even if a part is wanted: what lies above a part of a
 * JPEG takes the CPU longer, as do frames of a HEIC, and a frame of YCbCr is converted at once. */
bool gf_device_decodes_whole(const struct gf_source *source, const struct gf_options *options);
/* Fills *file for a file that is in memory. Returns false if the device does not decode it.
 * `source` is the opened file, `backend` the device's. */
bool gf_device_file_describe(const void *data, size_t size, const struct gf_source *source,
                             struct gf_backend *backend, struct gf_device_file *file);
/* Returns the task for the coders that decodes the file to the image, which is in device memory. */
struct gf_coder_picture gf_device_file_work(const struct gf_device_file *file,
                                            const struct gf_image *image);
/* Creates the device's decoder for such a file in the background, before it is needed. */
void gf_device_decoder_prepare(struct gf_device_coders *coders, const struct gf_device_file *file);
/* Decodes the file into device memory of the pool, which the caller returns to the pool. file->data
 * goes back to the pool. image->data stays NULL if the CPU must decode the file. */
enum gf_status gf_device_file_decode(struct gf_device_coders *coders, struct gf_device_file *file,
                                     struct gf_format format, struct gf_buffer_pool *buffers,
                                     struct gf_image *image, struct gf_error *error) GF_CHECKED;

/* Whether the device encodes a result of that format as such a file with these options, if the sink
 * accepts encoded bytes or searches for a quality. */
bool gf_device_encodes(enum gf_file_format file_format, struct gf_format format,
                       const struct gf_options *options);
/* Returns the bytes of host memory that the encoded result may take; 0: they are few. */
uint64_t gf_device_encoded_bytes(enum gf_file_format file_format, struct gf_format format);
/* Creates the device's encoder for such a file in the background, before it is needed. */
void gf_device_encoder_prepare(struct gf_device_coders *coders, enum gf_file_format file_format);
/* Returns the task for the coders that encodes the image, which is in device memory. */
struct gf_coder_picture gf_device_encoding_work(enum gf_file_format file_format,
                                                const struct gf_image *image,
                                                const struct gf_options *options);
/* Encodes the image, which is in device memory, and gives the bytes to the sink, which finishes the
 * file. *coded_s becomes the time of gf_now() between these two steps. */
enum gf_status gf_device_encode(struct gf_device_coders *coders, enum gf_file_format file_format,
                                const struct gf_image *image, struct gf_sink *sink,
                                const struct gf_options *options, double *coded_s,
                                struct gf_error *error) GF_CHECKED;
/* The same for a sink that searches for a quality: encodes the image with several, decodes what
 * that gives, and scores it, all on the device. Returns GF_ERROR_DEVICE_MEMORY if that lacks
 * memory. */
enum gf_status gf_device_search(struct gf_device_coders *coders, enum gf_file_format file_format,
                                const struct gf_image *image, struct gf_sink *sink,
                                struct gf_buffer_pool *buffers, struct gf_error *error) GF_CHECKED;
