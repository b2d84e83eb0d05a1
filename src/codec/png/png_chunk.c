#include "codec/png/png_chunk.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/fail.h"

size_t gf_png_chunk_close(unsigned char *chunk, const char *type, size_t size)
{
    gf_png_put_be32(chunk, (uint32_t)size);
    memcpy(chunk + 4, type, 4);
    gf_png_put_be32(chunk + GF_PNG_HEAD_BYTES + size, (uint32_t)crc32_z(0, chunk + 4, size + 4));
    return GF_PNG_HEAD_BYTES + size + GF_PNG_CRC_BYTES;
}

enum gf_status gf_png_chunk_write(struct gf_output *output, const char *type, const void *data,
                                  size_t size, struct gf_error *error)
{
    unsigned char *const chunk = malloc(GF_PNG_HEAD_BYTES + size + GF_PNG_CRC_BYTES);
    if (!chunk)
        return gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    if (size)
        memcpy(chunk + GF_PNG_HEAD_BYTES, data, size);
    const enum gf_status status =
        gf_output_write(output, chunk, gf_png_chunk_close(chunk, type, size), error);
    free(chunk);
    return status;
}

int gf_png_colour_type(struct gf_format format)
{
    static const unsigned char colour_types[] = {0, 4, 2, 6}; /* the colour types of pixels with 1
                                                               * to 4 channels */
    return colour_types[format.channels - 1];
}

void gf_png_make_header(unsigned char chunk[GF_PNG_HEADER_BYTES], struct gf_format format, int bits,
                        int colour_type)
{
    enum { SIZE = GF_PNG_HEADER_BYTES - GF_PNG_HEAD_BYTES - GF_PNG_CRC_BYTES };
    unsigned char *const header = chunk + GF_PNG_HEAD_BYTES;
    memset(header, 0, SIZE);
    gf_png_put_be32(header, (uint32_t)format.width);
    gf_png_put_be32(header + 4, (uint32_t)format.height);
    header[8] = (unsigned char)bits;
    header[9] = (unsigned char)colour_type;
    (void)gf_png_chunk_close(chunk, "IHDR", SIZE);
}

enum gf_status gf_png_write_header(struct gf_output *output, struct gf_format format, int bits,
                                   int colour_type, struct gf_error *error)
{
    static const unsigned char signature[GF_PNG_SIGNATURE_BYTES] = {0x89, 'P',  'N',  'G',
                                                                    '\r', '\n', 0x1a, '\n'};
    unsigned char header[GF_PNG_HEADER_BYTES];
    gf_png_make_header(header, format, bits, colour_type);
    GF_TRY(gf_output_write(output, signature, sizeof signature, error));
    return gf_output_write(output, header, sizeof header, error);
}
