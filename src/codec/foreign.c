/* Formats that are not read, so that an error can name them. */
#include "codec/foreign.h"

#include <string.h>

#define MAGIC(name_, offset_, bytes_) \
    { \
        .name = (name_), .offset = (offset_), .bytes = (bytes_), .length = sizeof(bytes_) - 1 \
    }

static const struct {
    const char *name;
    size_t offset;
    const char *bytes;
    size_t length;
} magics[] = {
    MAGIC("JPEG 2000", 0, "\0\0\0\x0cjP  "),
    MAGIC("JPEG 2000", 0, "\xff\x4f\xff\x51"),
    MAGIC("JPEG XR", 0, "II\xbc\x01"),
    MAGIC("OpenEXR", 0, "\x76\x2f\x31\x01"),
    MAGIC("Radiance HDR", 0, "#?RADIANCE"),
    MAGIC("Photoshop", 0, "8BPS"),
    MAGIC("PDF", 0, "%PDF-"),
    MAGIC("PostScript", 0, "%!PS"),
    MAGIC("QOI", 0, "qoif"),
    MAGIC("DDS", 0, "DDS "),
    MAGIC("FITS", 0, "SIMPLE  ="),
    MAGIC("Windows icon", 0, "\0\0\1\0"),
    MAGIC("MNG", 0, "\x8aMNG"),
    MAGIC("PFM", 0, "PF\n"),
    MAGIC("PFM", 0, "Pf\n"),
};

static const char *find_text(const unsigned char *bytes, size_t size, const char *text)
{
    return memmem(bytes, size, text, strlen(text));
}

const char *gf_foreign_format(const unsigned char *bytes, size_t size)
{
    for (size_t i = 0; i < sizeof magics / sizeof *magics; i++) {
        const size_t offset = magics[i].offset, length = magics[i].length;
        if (size >= offset + length && !memcmp(bytes + offset, magics[i].bytes, length))
            return magics[i].name;
    }
    /* "BM", the size of the file, two zeros that are reserved. */
    if (size >= 14 && !memcmp(bytes, "BM", 2) && !memcmp(bytes + 6, "\0\0\0\0", 4))
        return "BMP";
    if (size && *bytes == '<' && find_text(bytes, size, "<svg"))
        return "SVG";
    return NULL;
}
