/* What the files of JPEG 2000's reader and writer share. First the functions of OpenJPEG that
 * the program calls. */
#pragma once

#include <openjpeg.h>
#include <opj_config.h>
#include <stdbool.h>

#include "base/process/library.h"
#include "codec/common/metadata/metadata.h"
#include "gpufilter/options.h"
#include "gpufilter/status.h"

#define GF_JP2_HAS_STRICT_MODE (OPJ_VERSION_MAJOR > 2 || OPJ_VERSION_MINOR >= 5)
#if GF_JP2_HAS_STRICT_MODE
#define GF_JP2_STRICT_MODE(CALL) CALL(opj_decoder_set_strict_mode)
#else
#define GF_JP2_STRICT_MODE(CALL)
#endif
/* clang-format off */
#define GF_JP2_CALLS(CALL) GF_JP2_STRICT_MODE(CALL) \
    CALL(opj_create_decompress) CALL(opj_set_default_decoder_parameters) CALL(opj_setup_decoder) \
    CALL(opj_codec_set_threads) CALL(opj_set_warning_handler) CALL(opj_set_error_handler) \
    CALL(opj_stream_create) CALL(opj_stream_destroy) CALL(opj_stream_set_read_function) \
    CALL(opj_stream_set_write_function) CALL(opj_stream_set_skip_function) \
    CALL(opj_stream_set_seek_function) CALL(opj_stream_set_user_data) \
    CALL(opj_stream_set_user_data_length) CALL(opj_read_header) CALL(opj_decode) \
    CALL(opj_destroy_codec) CALL(opj_image_create) CALL(opj_image_destroy) \
    CALL(opj_create_compress) CALL(opj_set_default_encoder_parameters) CALL(opj_setup_encoder) \
    CALL(opj_start_compress) CALL(opj_encode) CALL(opj_end_compress)
/* clang-format on */

struct gf_jp2_calls {
    GF_JP2_CALLS(GF_LIBRARY_CALL)
};
extern struct gf_jp2_calls gf_jp2;

enum { GF_JP2_WHY_SIZE = 160 };

/* A file in memory that OpenJPEG reads or writes, with its first message of damage. */
struct gf_jp2_stream {
    unsigned char *data;
    size_t size, capacity, at; /* capacity: of what is written; 0: the data are read only */
    bool out_of_memory;
    bool needs_sop;            /* a packet without the marker SOP is damage */
    char why[GF_JP2_WHY_SIZE]; /* "": OpenJPEG had nothing to say of damage */
};

/* Makes the stream of OpenJPEG; NULL when out of memory. */
opj_stream_t *gf_jp2_stream_open(struct gf_jp2_stream *stream, bool writes);
/* Keeps the codec's first warning or error of damage in stream->why, and says how many threads it
 * may start. */
void gf_jp2_prepare(opj_codec_t *codec, struct gf_jp2_stream *stream, int threads);
/* Makes the decoder leave out code blocks whose data are cut, instead of failing, which OpenJPEG
 * before 2.5 always does. */
void gf_jp2_be_lenient(opj_codec_t *codec);

/* What the boxes and markers of a JPEG 2000 say (ISO/IEC 15444-1, annexes A and I). The project's
 * own code reads them, so that the limits are checked before OpenJPEG sees the file, and so that a
 * file whose end is missing is known. */

enum { GF_JP2_CHANNELS_MAX = 5 }; /* that are read: CMYK and alpha */
enum gf_jp2_space { GF_JP2_CMYK = 12, GF_JP2_LAB = 14, GF_JP2_SRGB = 16, GF_JP2_GRAY, GF_JP2_YCC };

struct gf_jp2_component {
    int bits;
    bool is_signed;
    int dx, dy; /* one sample stands for so many pixels */
};

struct gf_jp2_header {
    struct gf_blob stream;   /* the codestream, within the file */
    uint32_t x0, y0, x1, y1; /* the picture's place on the reference grid */
    uint32_t tile_x0, tile_y0, tile_dx, tile_dy;
    int components;
    const unsigned char *sizes; /* three bytes for each component, in the marker SIZ */
    uint64_t tiles;
    bool is_cut;       /* the file lacks data of tiles, which `lacks` names */
    const char *lacks; /* what the codestream lacks; NULL: nothing */
    size_t end;        /* the bytes of `stream`, with its end marker if that is there */
    size_t last_part;  /* where the last part of a tile begins */
    double structs;  /* bytes of OpenJPEG's structs of precincts and code blocks for each sample */
    double includes; /* the part of a precinct that a sample is */
    bool has_sop_alone; /* packets may begin with SOP markers and do not end with EPH markers */
    int layers, levels; /* the most of them */
    int least_levels;   /* of all components and tiles */
    int space;          /* the number of the colour space (enum gf_jp2_space); 0: none is said */
    const unsigned char *lab; /* of L*, a* and b* the range and the number that is stored for 0, in
                               * four bytes each; NULL: those of the standard */
    int channels;             /* that are stored, after the palette */
    int colours;              /* those of them that are colours and are read */
    int alpha;                /* the stored channel that is alpha; -1: none */
    int order[GF_JP2_CHANNELS_MAX]; /* the stored channels of the colours, then that of alpha */
    bool premultiplied;
    struct {
        int entries, columns, bits; /* entries is 0 without a palette */
        const unsigned char *values;
    } palette;
};

/* Reads the header and the metadata. Fails with GF_ERROR_INPUT if the file is damaged, of a kind
 * that is not read or, unless the options allow that, cut. */
enum gf_status gf_jp2_header_read(const struct gf_blob *file, const char *name,
                                  const struct gf_options *options, struct gf_jp2_header *header,
                                  struct gf_metadata *metadata, struct gf_error *error) GF_CHECKED;

enum { GF_JP2_UUID_SIZE = 16 };
#define GF_JP2_UUID_EXIF "JpgTiffExif->JP2"
#define GF_JP2_UUID_XMP "\xbe\x7a\xcf\xcb\x97\xa9\x42\xe8\x9c\x71\x99\x94\x91\xe3\xaf\xac"
#define GF_JP2_UUID_IPTC "\x33\xc7\xa4\xd2\xb8\x1d\x47\x23\xa0\xba\xf1\xa3\xe0\x97\xad\x38"

/* Whether the colours are CMYK or L*a*b*. */
static inline bool gf_jp2_is_converted(const struct gf_jp2_header *header)
{
    return header->space == GF_JP2_CMYK || header->space == GF_JP2_LAB;
}

/* Writes the last `bytes` bytes of a number, and returns where they end. */
unsigned char *gf_jp2_put_be(unsigned char *at, uint64_t value, int bytes);

struct gf_jp2_component gf_jp2_component(const struct gf_jp2_header *header, int component);

/* Makes a codestream of one whose end is missing: with an end marker, and with a last part that is
 * as long as its data. checks: bytes behind them make OpenJPEG fail if it looks for more packets.
 * Returns bytes that the caller frees; .data is NULL when out of memory. */
struct gf_blob gf_jp2_mend(const struct gf_jp2_header *header, bool checks);
