#include "codec/png/png_chunk.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

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
