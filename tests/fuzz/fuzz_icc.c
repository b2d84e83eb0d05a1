/* ICC profiles, which Little CMS reads: two bytes that say what is asked for, then a profile. A
 * profile that counts as sound becomes sRGB, and a pixel's result is the same alone and in a row.
 */
#include "fuzz.h"
#include "random.h"

#include "icc/icc_build.h"

enum { ASKED = 2, HEADER = 128, TAG = 12, TAGS_AT = HEADER + 4, PIXELS = 11, CONVERTS = 32 };

/* The colour channels of a picture that the profile fits; 0: it fits none. */
static int channels_of(struct gf_icc icc)
{
    return gf_icc_fits(icc, 1) ? 1 : gf_icc_fits(icc, 3) ? 3 : gf_icc_fits(icc, 4) ? 4 : 0;
}

static void check_rows(const struct gf_icc_transform *transform, unsigned seed)
{
    const int in_channels = transform->inputs + (transform->inputs < 4),
              out_channels = transform->outputs + (transform->outputs < 4);
    const size_t bytes = (size_t)transform->bits / 8, in_pixel = bytes * (size_t)in_channels,
                 out_pixel = bytes * (size_t)out_channels;
    uint8_t in[PIXELS * 4 * 2], row[PIXELS * 4 * 2] = {0}, alone[4 * 2];
    random_start(seed);
    random_fill(in, sizeof in);
    memset(in, 255, in_pixel);
    memset(in + in_pixel, 0, in_pixel);
    gf_icc_convert(transform, in, in_channels, row, out_channels, PIXELS);
    for (size_t i = 0; i < PIXELS; i++) {
        memset(alone, 0, sizeof alone);
        gf_icc_convert(transform, in + i * in_pixel, in_channels, alone, out_channels, 1);
        FUZZ_CHECK(!memcmp(row + i * out_pixel, alone, out_pixel), "pixel %zu", i);
        FUZZ_CHECK(
            transform->inputs == 4 || transform->outputs == 4 ||
                !memcmp(row + (i + 1) * out_pixel - bytes, in + (i + 1) * in_pixel - bytes, bytes),
            "the alpha of pixel %zu", i);
    }
}

static void check_conversion(const struct gf_icc_wish *wish, bool is_sound)
{
    struct gf_icc_transform *transform = NULL;
    struct gf_error error = {0};
    const bool made = fuzz_ok(gf_icc_build(wish, &transform, &error), &error);
    FUZZ_CHECK(made == (transform != NULL), "%s", error.text);
    FUZZ_CHECK(made || !is_sound, "a sound profile: %s", error.text);
    if (made)
        check_rows(transform, (unsigned)wish->from.size);
    free(transform);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_bytes bytes = {data, size};
    const unsigned how = fuzz_byte(&bytes), gray = fuzz_byte(&bytes) & 1;
    const struct gf_icc icc = {.data = bytes.data, .size = bytes.size},
                        other = gf_icc_named("srgb", gray);
    const int channels = channels_of(icc);
    const bool is_target = how & 16;
    const bool is_sound = gf_icc_is_sound(icc);
    if (!channels || how >= CONVERTS)
        return 0;
    const struct gf_icc_wish wish = {.from = is_target ? other : icc,
                                     .to = is_target ? icc : other,
                                     .inputs = is_target ? channels_of(other) : channels,
                                     .outputs = is_target ? channels : channels_of(other),
                                     .bits = how & 1 ? 16 : 8,
                                     .intent = (int)(how >> 1 & 3),
                                     .black_point = how & 8};
    check_conversion(&wish, is_sound && !is_target);
    return 0;
}

/* Three changes in four are to the tags' contents: Little CMS refuses most damaged headers at once.
 */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    random_start(seed);
    if (size)
        data[0] = (uint8_t)(random_below(CONVERTS) + (random_below(300) ? CONVERTS : 0));
    if (size <= ASKED + TAGS_AT || !random_below(4))
        return LLVMFuzzerMutate(data, size, max_size);
    const size_t begin = ASKED + TAGS_AT + (size_t)data[ASKED + TAGS_AT - 1] * TAG;
    if (size <= begin)
        return LLVMFuzzerMutate(data, size, max_size);
    /* The size stays: the tags' offsets and the header's size are right then. */
    const size_t at = begin + random_below((unsigned)(size - begin)), most = size - at;
    (void)LLVMFuzzerMutate(data + at, 1 + random_below((unsigned)(most < 64 ? most : 64)), most);
    return size;
}
