/* The markers of a JPEG 2000 codestream, and the names of the boxes that hold metadata. */
#ifndef GF_CODEC_JP2_JP2_MARKERS_H
#define GF_CODEC_JP2_JP2_MARKERS_H

#include "codec/jp2/jp2_header.h"

enum { GF_JP2_UUID_SIZE = 16 };
#define GF_JP2_UUID_EXIF "JpgTiffExif->JP2"
#define GF_JP2_UUID_XMP "\xbe\x7a\xcf\xcb\x97\xa9\x42\xe8\x9c\x71\x99\x94\x91\xe3\xaf\xac"
#define GF_JP2_UUID_IPTC "\x33\xc7\xa4\xd2\xb8\x1d\x47\x23\xa0\xba\xf1\xa3\xe0\x97\xad\x38"

/* Reads the markers of header->stream, from its beginning to its end marker. Returns why the
 * picture is not read; NULL if it is. */
const char *gf_jp2_read_markers(struct gf_jp2_header *header);

#endif
