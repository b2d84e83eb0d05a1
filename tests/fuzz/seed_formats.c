/* Seeds of the formats that other libraries code, written by the project's own sinks: small
 * pictures of all kinds. */
#include "fuzz.h"
#include "seeds.h"

#include "codec/formats.h"

static void put_picture(const struct gf_file_type *type, int channels, int bits, bool lossless)
{
    struct gf_image image = fuzz_image(gf_format_in_file(
        type->format, (struct gf_format){.width = 13, .height = 9, channels, bits}));
    struct gf_options options = fuzz_options();
    options.lossless = lossless;
    for (size_t i = 0; i < image.pitch * (size_t)image.format.height; i++)
        image.data[i] = (uint8_t)(i * 17 + i / 13 * 29);
    size_t size;
    uint8_t *const file = fuzz_encode(&image, type->format, NULL, &options, &size);
    put_seed(type->choice, file, size);
    free(file);
    free(image.data);
}

void put_format_seeds(void)
{
    const struct gf_file_type *type;
    struct gf_error error;
    for (int i = 0; (type = gf_file_type_at(i)); i++) {
        if (!type->library || !type->create ||
            gf_library_load(type->library, type->name, GF_ERROR_UNAVAILABLE, &error))
            continue;
        for (int kind = 0; kind < 16; kind++) {
            const int bits = kind & 4 ? 16 : 8;
            const bool lossless = kind & 8;
            if (bits <= type->bits && (!lossless || bits <= type->lossless_bits))
                put_picture(type, kind % 4 + 1, bits, lossless);
        }
    }
}
