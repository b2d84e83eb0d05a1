#ifndef GF_CODEC_FOREIGN_H
#define GF_CODEC_FOREIGN_H

#include <stddef.h>

/* The name of a picture format that is not read ("WebP"), by a file's first bytes; NULL if they are
 * of none that is known. 256 bytes are enough. */
const char *gf_foreign_format(const unsigned char *bytes, size_t size);

#endif
