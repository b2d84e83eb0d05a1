/* What the boxes and markers of a JPEG 2000 say (ISO/IEC 15444-1, annexes A and I). The project's
 * own code reads them, so that the limits are checked before OpenJPEG sees the file, and so that a
 * file whose end is missing is known. */
#pragma once

#include "codec/common/metadata.h"
#include "gpufilter/options.h"
#include "gpufilter/status.h"

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
/* Reads the markers of header->stream, from its beginning to its end marker. Returns why the
 * picture is not read; NULL if it is, or if header->lacks says what is missing. */
const char *gf_jp2_read_markers(struct gf_jp2_header *header);
/* Makes a codestream of one whose end is missing: with an end marker, and with a last part that is
 * as long as its data. checks: bytes behind them make OpenJPEG fail if it looks for more packets.
 * Returns bytes that the caller frees; .data is NULL when out of memory. */
struct gf_blob gf_jp2_mend(const struct gf_jp2_header *header, bool checks);
