/* The decoder and the encoder of JPEGs on a CUDA device. */
#pragma once

#include "base/host_device.h"
#include "codec/common/metadata/tiff_coded.h"
#include "codec/jpeg/jpeg_header.h"
#include "cuda/common/coder.h"
#include "gpufilter/options.h"

/* Decodes JPEG files on a CUDA device to exactly libjpeg-turbo's pixels. Pictures are decoded in
 * groups: all steps for all pictures of a group need about ten launches. */

GF_C_BEGIN

struct gf_jpeg_decode_picture {
    const struct gf_jpeg_header *header;
    /* NULL, or the picture is the tiles of a TIFF: there is no header, and `data` are the bytes
     * that the description means. */
    const struct gf_tiff_coded *tiles;
    const unsigned char *data; /* the whole file, in pinned host memory or in device memory */
    size_t size;
    int reduction;      /* 1; 2, 4 or 8: libjpeg-turbo's scaled decoding at 1/2, 1/4 or 1/8 */
    struct gf_view out; /* all rows of the picture, in device memory */
    /* true: the pixels are exactly libjpeg-turbo's, without a warning; false: libjpeg-turbo must
     * decode the picture */
    bool decoded;
    size_t end; /* the offset of the first byte after the end marker, if `decoded` is true */
};

struct gf_jpeg_decode_steps {
    float upload, unstuff, synchronise, decode, dc, pixels;
};

GF_CODER(jpeg_decode)

/* Sets the bits of a subsequence for later calls: 512, 1024 or 2048; 0: the decoder chooses for
 * each group. */
void gf_jpeg_decoder_cut(struct gf_jpeg_decoder *decoder, unsigned subsequence_bits);

/* Returns the bytes of device memory that a picture needs in a group, without `out`. */
uint64_t gf_jpeg_decoder_bytes(const struct gf_jpeg_header *header, size_t size, int reduction);
/* The same for a picture of tiles, which are decoded in groups as large as memory allows: what is
 * enough for many of them. */
uint64_t gf_jpeg_tiles_bytes(const struct gf_jpeg_decode_picture *picture);

/* Encodes pictures in device memory as the scans of baseline JPEG files: exactly the bytes that
 * the CPU writes for the same options. All pictures of a group share the launches, whatever
 * their sizes are. (cuda/jpeg/encoder.cu) */

struct gf_jpeg_encode_picture {
    struct gf_view in; /* RGB or gray of 8 bits, the whole picture, in device memory */
    int quality;       /* 1..GF_QUALITY_MAX */
    enum gf_subsampling subsampling; /* the subsampling for RGB */
    bool perceptual;                 /* by the encoder of codec/jpeg/jpeg_look.h */
    /* The result: the entropy-coded bytes, stuffed and padded, without any marker; if `perceptual`
     * is true, a struct gf_jpeg_own_codes is before them. They are in pinned host
     * memory, which the encoder owns, until its next run; if this run and the next one have several
     * pictures, until the run after that. */
    const unsigned char *scan;
    size_t size;
    bool encoded; /* false: there is not enough memory, and the CPU must encode the picture */
};

/* The times of the kernels of a run, and of the copies of the scans. */
struct gf_jpeg_encode_steps {
    float encode, download;
};

GF_CODER(jpeg_encode)

/* Returns the bytes of device memory that a picture of a group needs, without the picture
 * itself. */
uint64_t gf_jpeg_encoder_bytes(struct gf_format format, enum gf_subsampling subsampling,
                               bool perceptual);

GF_C_END
