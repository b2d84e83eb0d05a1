#include "codec/common/needs.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *library, *mark, *feature, *since;
} needs[] = {
    {"libheif", "unci", "pictures without compression (ISO/IEC 23001-17)", "1.16"},
    {"libheif", "j2k1", "JPEG 2000 in HEIF", "1.17"},
    {"libheif", "jpeg", "JPEG in HEIF", "1.17"},
    {"libheif", "mski", "masks in HEIF", "1.17"},
    {"libheif", "iden", "pictures derived from another (iden)", "1.18"},
    {"libheif", "vvc1", "VVC in HEIF", "1.18"},
    {"libheif", "avc1", "AVC in HEIF", "1.19"},
    {"libheif", "tili", "tiled pictures (tili)", "1.19"},
    {"libavif", "grid", "the alpha of each picture of a grid", "1.0"},
    {"libavif", "meta", "a box of metadata that lasts to the end of the file", "1.1"},
    {"libavif", "dimg", "grids whose pictures are not in the order of their numbers", "1.1.1"},
    {"libavif", "soun", "films with sound", "1.2"},
    {"libjpeg-turbo", "SOF3", "lossless JPEG", "3.0"},
    {"libtiff", "34887", "LERC", "4.3"},
    {"libtiff", "50000", "Zstandard", "4.0.10"},
    {"libtiff", "50001", "WebP", "4.0.10"},
};

struct version {
    int major, minor, patch;
};

/* Reads the first numbers of a text; those that are missing are 0. */
static struct version version_of(const char *text)
{
    struct version version = {0};
    (void)sscanf(text + strcspn(text, "0123456789"), "%d.%d.%d", &version.major, &version.minor,
                 &version.patch);
    return version;
}

static bool is_before(struct version a, struct version b)
{
    return a.major != b.major   ? a.major < b.major
           : a.minor != b.minor ? a.minor < b.minor
                                : a.patch < b.patch;
}

enum gf_status gf_fail_needs(const char *name, const char *library, const char *version,
                             gf_has_mark *has, const void *context, struct gf_error *error)
{
    const struct version here = version_of(version);
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++) {
        if (!strcmp(needs[i].library, library) && is_before(here, version_of(needs[i].since)) &&
            has(context, needs[i].mark))
            return gf_fail(error, GF_ERROR_INPUT, "%s: %s %d.%d.%d does not read %s; %s does", name,
                           library, here.major, here.minor, here.patch, needs[i].feature,
                           needs[i].since);
    }
    return GF_OK;
}
