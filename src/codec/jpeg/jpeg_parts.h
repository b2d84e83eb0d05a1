/* Pictures behind a JPEG's end marker that its header names, previews and gain maps: they are parts
 * of the file. */
#ifndef GF_CODEC_JPEG_JPEG_PARTS_H
#define GF_CODEC_JPEG_JPEG_PARTS_H

#include <stddef.h>
#include <stdint.h>

/* The offset in the file behind the last picture that an index names; the payload of its APP2
 * segment lies at the offset `place`. 0: it is no index. (CIPA DC-007, Multi-Picture Format) */
int64_t gf_jpeg_parts_end(const unsigned char *data, size_t size, int64_t place);
/* The bytes behind the end marker that the container's directory in an XMP packet names. */
int64_t gf_jpeg_parts_bytes(const unsigned char *xmp, size_t size);

#endif
