#include "codec/png/png_metadata.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A raw profile is a line with the type, a line with the number of bytes, then lines of hexadecimal
 * digits. */
enum { DIGITS_OF_LINE = 72, HEADER_MOST = 80 };

static int digit_value(int letter)
{
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";
    const char *const at = letter ? strchr(digits, letter) : NULL;
    return at ? (int)(at - digits) % 16 : -1;
}

/* Reads the two lines of the header. Returns the position after them and sets the number of bytes;
 * returns `size` if the header is wrong. */
static size_t read_header(const char *text, size_t size, size_t *count)
{
    size_t at = 0;
    *count = 0;
    while (at < size && text[at] == '\n')
        at++;
    while (at < size && text[at] != '\n') /* the line with the type */
        at++;
    while (at < size && (text[at] == '\n' || text[at] == ' '))
        at++;
    for (; at < size && text[at] >= '0' && text[at] <= '9' && *count <= GF_METADATA_MAX; at++)
        *count = *count * 10 + (size_t)(text[at] - '0');
    return at < size && text[at] == '\n' && *count <= (size - at) / 2 ? at : size;
}

static bool read_digits(const char *text, size_t size, unsigned char *bytes, size_t count)
{
    size_t digits = 0;
    for (size_t at = 0; at < size && digits < 2 * count; at++) {
        const int value = digit_value(text[at]);
        if (text[at] == '\n' || text[at] == ' ')
            continue;
        if (value < 0)
            return false;
        bytes[digits / 2] = (unsigned char)(digits % 2 ? bytes[digits / 2] | value : value << 4);
        digits++;
    }
    return digits == 2 * count;
}

static bool add_profile(struct gf_metadata *metadata, const char *type, const unsigned char *bytes,
                        size_t size)
{
    if (!strcmp(type, "exif"))
        return gf_metadata_add_exif(metadata, bytes, size);
    if (!strcmp(type, "APP1"))
        return gf_metadata_add_app1(metadata, bytes, size);
    if (!strcmp(type, "xmp"))
        return metadata->xmp.size || gf_blob_set(&metadata->xmp, bytes, size);
    return gf_metadata_add_photoshop(metadata, bytes, size);
}

bool gf_png_add_raw_profile(struct gf_metadata *metadata, const char *type, const char *text,
                            size_t size, bool *damaged)
{
    static const char *const types[] = {"exif", "APP1", "xmp", "iptc", "8bim"};
    bool known = false;
    size_t count;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        known |= !strcmp(type, types[i]);
    *damaged = false;
    if (!known)
        return true;
    const size_t at = read_header(text, size, &count);
    *damaged = at == size || !count;
    if (*damaged)
        return true;
    unsigned char *const bytes = malloc(count);
    if (!bytes)
        return false;
    *damaged = !read_digits(text + at, size - at, bytes, count);
    const bool added = *damaged || add_profile(metadata, type, bytes, count);
    free(bytes);
    return added;
}

bool gf_png_make_raw_profile(const char *type, const struct gf_blob *profile, struct gf_blob *text)
{
    const size_t digits = 2 * profile->size;
    char *const made = malloc(HEADER_MOST + digits + digits / DIGITS_OF_LINE + 2);
    if (!made)
        return false;
    char *to = made + sprintf(made, "\n%.20s\n%8zu", type, profile->size);
    for (size_t i = 0; i < profile->size; i++) {
        if (i % (DIGITS_OF_LINE / 2) == 0)
            *to++ = '\n';
        *to++ = "0123456789abcdef"[profile->data[i] >> 4];
        *to++ = "0123456789abcdef"[profile->data[i] & 15];
    }
    *to++ = '\n';
    *text = (struct gf_blob){(unsigned char *)made, (size_t)(to - made)};
    return true;
}
