#include "codec/common/mpf.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "codec/common/checks.h"
#include "codec/common/exif_directory.h"

static const char mpf_name[] = "MPF";

/* Returns the kind of a picture by the lower 24 bits of its attributes. */
static enum gf_picture_kind kind_of(uint32_t attributes)
{
    static const struct {
        uint32_t type, mask;
        enum gf_picture_kind kind;
    } types[] = {
        {0x030000, 0xffffff, GF_PICTURE_MAIN},     {0x010000, 0xff0000, GF_PICTURE_PREVIEW},
        {0x020001, 0xffffff, GF_PICTURE_PANORAMA}, {0x020002, 0xffffff, GF_PICTURE_DISPARITY},
        {0x020003, 0xffffff, GF_PICTURE_ANGLE},    {0x040000, 0xff0000, GF_PICTURE_ORIGINAL},
        {0x050000, 0xff0000, GF_PICTURE_GAIN_MAP}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if ((attributes & types[i].mask) == types[i].type)
            return types[i].kind;
    }
    return GF_PICTURE_OTHER;
}

static void read_entry(const struct gf_blob *index, size_t at, int number, int page,
                       struct gf_mpf *mpf)
{
    const int64_t bytes = tiff_get(index, at + 4, 4), offset = tiff_get(index, at + 8, 4);
    const enum gf_picture_kind kind = number ? kind_of(tiff_get(index, at, 4)) : GF_PICTURE_MAIN;
    const int64_t begin = (int64_t)sizeof mpf_name + offset;
    const bool wanted = page == number || gf_page_kind(page) == kind;
    mpf->kinds[kind]++;
    if (!number) /* the JPEG itself */
        return;
    if (offset && kind != GF_PICTURE_PREVIEW && mpf->pictures < GF_MPF_LISTED) {
        mpf->picture[mpf->pictures].begin = begin;
        mpf->picture[mpf->pictures].bytes = bytes;
    }
    mpf->pictures += kind != GF_PICTURE_PREVIEW;
    if (offset && begin + bytes > mpf->end)
        mpf->end = begin + bytes;
    if (offset && wanted && !mpf->chosen) {
        mpf->chosen = begin;
        mpf->chosen_bytes = bytes;
    }
}

bool gf_mpf_read(const void *payload, size_t size, int page, struct gf_mpf *mpf)
{
    enum { ENTRIES = 0xb002, ENTRY_BYTES = 16 };
    *mpf = (struct gf_mpf){0};
    if (size < sizeof mpf_name || memcmp(payload, mpf_name, sizeof mpf_name) != 0)
        return false;
    /* The cast is safe, because this blob is only read. */
    const struct gf_blob index = {(unsigned char *)payload + sizeof mpf_name,
                                  size - sizeof mpf_name};
    struct directory directory;
    const size_t entry =
        first_directory(&index, &directory) ? find_entry(&index, &directory, ENTRIES) : 0;
    if (!entry)
        return false;
    const size_t first = tiff_get(&index, entry + 8, 4);
    const size_t room = first < index.size ? (index.size - first) / ENTRY_BYTES : 0;
    const size_t stated = tiff_get(&index, entry + 4, 4) / ENTRY_BYTES;
    for (size_t i = 0; i < stated && i < room; i++)
        read_entry(&index, first + i * ENTRY_BYTES, (int)i, page, mpf);
    return true;
}

/* Searches the segments before the first scan for the index. The offsets of the chosen picture
 * then count from the start of the input. */
static enum gf_status find_index(struct gf_input *input, struct gf_mpf *mpf, struct gf_error *error)
{
    enum { SEGMENT_MAX = 1 << 16, APP2 = 0xe2, SOS = 0xda };
    unsigned char *const bytes = malloc(SEGMENT_MAX);
    enum gf_status status = bytes ? GF_OK : gf_fail_memory(error);
    int64_t at = 2;
    size_t got = SEGMENT_MAX, length = 0;
    bool found = false;
    for (; !status && !found && got >= 4; at += (int64_t)length + 2) {
        status = gf_input_read_at(input, at, bytes, SEGMENT_MAX, &got, error);
        length = got < 4 ? 0 : (size_t)(bytes[2] << 8 | bytes[3]);
        if (status || length < 2 || bytes[0] != 0xff || bytes[1] == SOS)
            break;
        found = bytes[1] == APP2 && length + 2 <= got &&
                gf_mpf_read(bytes + 4, length - 2, gf_input_page(input), mpf);
        mpf->chosen += found && mpf->chosen ? at + 4 : 0;
    }
    free(bytes);
    return status;
}

enum gf_status gf_mpf_choose(struct gf_input *input, struct gf_error *error)
{
    const int page = gf_input_page(input);
    const enum gf_picture_kind kind = gf_page_kind(page);
    const int64_t size = gf_input_size(input);
    const char *const name = gf_input_name(input);
    struct gf_mpf mpf = {0};
    int count = 0;
    const enum gf_status status = find_index(input, &mpf, error);
    for (int i = 0; i < GF_PICTURE_KINDS; i++)
        count += mpf.kinds[i];
    if (status)
        return status;
    if (kind == GF_PICTURE_MAIN)
        return GF_OK;
    if (!mpf.chosen)
        return gf_fail_page(name, page, count ? count : 1, error);
    unsigned char begin[2] = {0};
    size_t got;
    const enum gf_status read = gf_input_read_at(input, mpf.chosen, begin, 2, &got, error);
    if (read || mpf.chosen_bytes > size - mpf.chosen || begin[0] != 0xff || begin[1] != 0xd8)
        return read ? read
                    : gf_fail(error, GF_ERROR_INPUT,
                              "%s: damaged: the picture is not where the file's index says", name);
    gf_input_narrow(input, mpf.chosen, mpf.chosen_bytes);
    return GF_OK;
}
