/* What the files of JPEG 2000's reader and writer share. The functions of OpenJPEG that the program
 * calls come first. */
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
    size_t size, capacity, at; /* capacity: of the memory that is written; 0: `data` is only read */
    bool out_of_memory;
    bool needs_sop;            /* a packet without the marker SOP counts as damage */
    char why[GF_JP2_WHY_SIZE]; /* the first message of damage; "": none */
};

/* Makes OpenJPEG's stream for `stream`; NULL when out of memory. */
opj_stream_t *gf_jp2_stream_open(struct gf_jp2_stream *stream, bool writes);
/* Keeps the codec's first warning or error of damage in stream->why, and lets it start `threads`
 * threads. */
void gf_jp2_prepare(opj_codec_t *codec, struct gf_jp2_stream *stream, int threads);
/* Makes the decoder leave out code blocks whose data are truncated, instead of failing. OpenJPEG
 * before 2.5 fails nevertheless. */
void gf_jp2_be_lenient(opj_codec_t *codec);

/* ---- what the boxes and markers of a JPEG 2000 say (ISO/IEC 15444-1, annexes A and I). The
 * project's own code reads them, so that limits are checked before OpenJPEG sees the file, and a
 * file whose end is missing is recognised ---- */

enum { GF_JP2_CHANNELS_MAX = 5 }; /* the most channels that are read: CMYK and alpha */
enum gf_jp2_space { GF_JP2_CMYK = 12, GF_JP2_LAB = 14, GF_JP2_SRGB = 16, GF_JP2_GRAY, GF_JP2_YCC };

struct gf_jp2_component {
    int bits;
    bool is_signed;
    int dx, dy; /* one sample stands for dx x dy pixels */
};

struct gf_jp2_header {
    struct gf_blob stream; /* the codestream, within the file */
    /* The picture covers x0..x1 - 1 and y0..y1 - 1 of the reference grid. */
    uint32_t x0, y0, x1, y1;
    uint32_t tile_x0, tile_y0, tile_dx, tile_dy;
    int components;
    const unsigned char *sizes; /* the three bytes of each component in the marker segment SIZ */
    uint64_t tiles;
    bool is_cut;       /* the file lacks data of tiles, which `lacks` names */
    const char *lacks; /* what the codestream lacks; NULL: nothing */
    size_t end;        /* size of the codestream, including the end marker if it has one */
    size_t last_part;  /* offset in `stream` of the last tile-part */
    double structs;  /* bytes of OpenJPEG's structs of precincts and code blocks for each sample */
    double includes; /* number of precincts for each sample */
    bool has_sop_alone; /* packets may begin with SOP markers, but have no EPH markers */
    int layers, levels; /* the most layers, and levels of wavelets */
    int least_levels;   /* the least number of levels of all components and tiles */
    int space;          /* the number of the colour space (enum gf_jp2_space); 0: none is said */
    /* Range and offset of L*, a* and b*, in four bytes each; NULL: the standard's. */
    const unsigned char *lab;
    int channels;                   /* number of stored channels, after the palette was applied */
    int colours;                    /* how many of the channels are colours that are read */
    int alpha;                      /* the stored channel that is alpha; -1: none */
    int order[GF_JP2_CHANNELS_MAX]; /* the stored channels of the colours, then that of alpha */
    bool premultiplied;
    struct {
        int entries, columns, bits; /* entries is 0 without a palette */
        const unsigned char *values;
    } palette;
};

/* Reads the header and the metadata. Fails with GF_ERROR_INPUT if the file is damaged, of an
 * unsupported kind or, unless the options allow that, truncated. */
enum gf_status gf_jp2_header_read(const struct gf_blob *file, const char *name,
                                  const struct gf_options *options, struct gf_jp2_header *header,
                                  struct gf_metadata *metadata, struct gf_error *error) GF_CHECKED;

enum { GF_JP2_UUID_SIZE = 16 };
#define GF_JP2_UUID_EXIF "JpgTiffExif->JP2"
#define GF_JP2_UUID_XMP "\xbe\x7a\xcf\xcb\x97\xa9\x42\xe8\x9c\x71\x99\x94\x91\xe3\xaf\xac"
#define GF_JP2_UUID_IPTC "\x33\xc7\xa4\xd2\xb8\x1d\x47\x23\xa0\xba\xf1\xa3\xe0\x97\xad\x38"

/* Whether the colours are CMYK or L*a*b*, which become RGB. */
static inline bool gf_jp2_is_converted(const struct gf_jp2_header *header)
{
    return header->space == GF_JP2_CMYK || header->space == GF_JP2_LAB;
}

/* Writes the lowest `bytes` bytes of a number in big endian, and returns where they end. */
unsigned char *gf_jp2_put_be(unsigned char *at, uint64_t value, int bytes);

struct gf_jp2_component gf_jp2_component(const struct gf_jp2_header *header, int component);

/* Completes a codestream whose end is missing: adds an end marker, and makes the length of the last
 * tile-part that of its data. If `checks` is set, it adds bytes at which OpenJPEG fails if it looks
 * for more packets. Returns bytes that the caller frees; .data is NULL when out of memory. */
struct gf_blob gf_jp2_mend(const struct gf_jp2_header *header, bool checks);
