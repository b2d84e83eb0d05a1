#include "codec/common/changed.h"

#include <string.h>

/* Moves *left and *right, which are bytes of a row, so that all that differs is between them. */
static void widen(const unsigned char *a, const unsigned char *b, size_t *left, size_t *right,
                  size_t bytes)
{
    size_t end = bytes;
    for (size_t x = 0; x < *left; x++) {
        if (a[x] != b[x])
            *left = x;
    }
    while (end > *right && a[end - 1] == b[end - 1])
        end--;
    *right = end;
}

struct gf_rectangle gf_changed_between(const struct gf_image *before, const struct gf_image *after)
{
    const struct gf_format format = before->format;
    const size_t bytes = gf_row_bytes(format), pixel = bytes / (size_t)format.width;
    size_t left = bytes, right = 0;
    int top = -1, bottom = -1;
    for (int y = 0; y < format.height; y++) {
        const unsigned char *const a = before->data + (size_t)y * before->pitch,
                                   *const b = after->data + (size_t)y * after->pitch;
        if (!memcmp(a, b, bytes))
            continue;
        top = top < 0 ? y : top;
        bottom = y;
        widen(a, b, &left, &right, bytes);
    }
    const int x = (int)(left / pixel), end = (int)((right + pixel - 1) / pixel);
    return top < 0 ? (struct gf_rectangle){.height = 0}
                   : (struct gf_rectangle){x, top, end - x, bottom - top + 1};
}
