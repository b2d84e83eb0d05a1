/* Seeds of the formats that other libraries code, written by the project's own sinks: small
 * pictures of all kinds. */
#include "../codec/heic_files.h"
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

/* Puts an animation of three frames, in which a part changes. */
static void put_animation(const struct gf_file_type *type, int channels, bool lossless)
{
    const struct gf_metadata metadata = {.orientation = 1, .animated = true, .loops = 2};
    const struct gf_duration duration = {7, 100};
    struct gf_image image = fuzz_image(
        gf_format_in_file(type->format, (struct gf_format){.width = 13, .height = 9, channels, 8}));
    struct gf_options options = fuzz_options();
    struct gf_error error = {0};
    struct gf_output *output = NULL;
    struct gf_sink *sink = NULL;
    options.lossless = lossless;
    options.warn = NULL;
    enum gf_status status = gf_output_open_memory("out", &output, &error);
    if (!status)
        status =
            gf_sink_open(output, type->format, image.format, &metadata, &options, &sink, &error);
    FUZZ_CHECK(!status, "%s", error.text);
    sink->duration = &duration;
    for (int frame = 0; !status && frame < 3; frame++) {
        for (size_t i = 0; i < image.pitch * (size_t)image.format.height; i++)
            image.data[i] = (uint8_t)(i * 17 + i / 13 * 29 + (i % 7 ? 0 : (unsigned)frame * 50));
        if (frame && sink->turn)
            status =
                gf_sink_turn(sink, output, type->format, image.format, &metadata, &options, &error);
        if (!status)
            status = sink->write(sink, image.format.height, image.data, image.pitch, &error);
        if (!status)
            status = sink->finish(sink, &error);
    }
    if (!status)
        status = sink->end(sink, &error);
    sink->close(sink);
    if (!status)
        status = gf_output_commit(output, &error);
    FUZZ_CHECK(!status, "%s", error.text);
    size_t size;
    uint8_t *const file = gf_output_take(output, &size);
    gf_output_close(output);
    for (int more = 0; more < 4; more++) { /* by its size a target chooses what is read */
        uint8_t *const longer = calloc(1, size + 4);
        memcpy(longer, file, size);
        put_seed(type->choice, longer, size + (size_t)more);
        free(longer);
    }
    free(file);
    free(image.data);
}

/* Puts a DNG of gray of 32x24, and it as another maker's and as a mosaic of another pattern. */
static void put_raw(void)
{
    static const char head[] =
        "II\52\0\10\0\0\0\25\0\376\0\4\0\1\0\0\0\0\0\0\0\0\1\4\0\1\0\0\0 \0\0\0\1\1\4\0\1\0\0\0"
        "\30\0\0\0\2\1\3\0\1\0\0\0\20\0\0\0\3\1\3\0\1\0\0\0\1\0\0\0\6\1\3\0\1\0\0\0\43\200\0\0"
        "\17\1\2\0\6\0\0\0\12\1\0\0\20\1\2\0\10\0\0\0\20\1\0\0\21\1\4\0\1\0\0\0\206\1\0\0\22\1"
        "\3\0\1\0\0\0\6\0\0\0\25\1\3\0\1\0\0\0\1\0\0\0\26\1\4\0\1\0\0\0\30\0\0\0\27\1\4\0\1\0\0"
        "\0\0\6\0\0\215\202\3\0\2\0\0\0\2\0\2\0\216\202\1\0\4\0\0\0\0\1\1\2\22\306\1\0\4\0\0\0"
        "\1\4\0\0\24\306\2\0\16\0\0\0\30\1\0\0\35\306\4\0\1\0\0\0\20\20\0\0\41\306\12\0\11\0\0"
        "\0\46\1\0\0\50\306\5\0\3\0\0\0n\1\0\0Z\306\3\0\1\0\0\0\25\0\0\0\0\0\0\0Maker\0Model "
        "\61\0Maker Model \61\0\225\176\0\0\20\47\0\0\365\303\377\377\20\47\0\0\207\354\377\377"
        "\20\47\0\0\43\332\377\377\20\47\0\0HI\0\0\20\47\0\0\240\1\0\0\20\47\0\0\54\2\0\0\20\47"
        "\0\0\10\370\377\377\20\47\0\0L\51\0\0\20\47\0\0\1\0\0\0\1\0\0\0\1\0\0\0\1\0\0\0\1\0\0"
        "\0\1\0\0\0";
    enum { PATTERN = 8 + 2 + 14 * 12 + 8, SAMPLES = 32 * 24 * 2 };
    uint8_t file[sizeof head - 1 + SAMPLES];
    memcpy(file, head, sizeof head - 1);
    memset(file + sizeof head - 1, 8, SAMPLES);
    put_seed("raw", file, sizeof file);
    file[PATTERN] = 1;
    put_seed("raw", file, sizeof file);
    memcpy(memmem(file, sizeof file, "Maker", 5), "Nikon", 5);
    put_seed("raw", file, sizeof file);
}

/* Pyramids and tiles, each with a byte of what is read and four of a rectangle. */
static void put_levels(void)
{
    static const char *const pyramids[] = {NULL, "", "subifds", "cog"};
    static const int compressions[] = {GF_TIFF_DEFLATE, GF_TIFF_LZW, GF_TIFF_NONE, GF_TIFF_JPEG};
    for (int kind = 0; kind < 32; kind++) {
        struct gf_options options = fuzz_options();
        options.pyramid = pyramids[kind % 4];
        options.tiff_compression = compressions[kind / 4 % 4];
        options.tile_size = 16;
        options.subsampling = GF_SUBSAMPLING_420;
        struct gf_image image = fuzz_image((struct gf_format){
            33, 25, kind < 16 ? 3 : 1,
            options.tiff_compression == GF_TIFF_JPEG || kind < 16 ? 8 : 16, GF_SAMPLES_INTEGER});
        for (size_t i = 0; i < image.pitch * (size_t)image.format.height; i++)
            image.data[i] = (uint8_t)(i / 33 * 2);
        size_t size;
        uint8_t *const file = fuzz_encode(&image, GF_FILE_TIFF, NULL, &options, &size),
                       *const seed = malloc(size + 5);
        memcpy(seed, (const uint8_t[]){(uint8_t)kind, 7, 9, 31, 25}, 5);
        memcpy(seed + 5, file, size);
        put_seed("levels", seed, size + 5);
        free(seed);
        free(file);
        free(image.data);
    }
}

/* Puts a slide of Hamamatsu: a TIFF whose only strip is a JPEG, of 48x40. */
static void put_slide(void)
{
    enum { WIDTH = 48, HEIGHT = 40, SHORT = 3, LONG = 4, RATIONAL = 5, FLOAT = 11, SIGNED = 9 };
    const struct gf_options options = fuzz_options();
    struct gf_image image = fuzz_image((struct gf_format){WIDTH, HEIGHT, 3, 8, GF_SAMPLES_INTEGER});
    for (size_t i = 0; i < image.pitch * HEIGHT; i++)
        image.data[i] = (uint8_t)(i / 48 * 5);
    size_t size;
    uint8_t *const jpeg = fuzz_encode(&image, GF_FILE_JPEG, NULL, &options, &size);
    const uint32_t at = 8 + (uint32_t)(size + 1) / 2 * 2, after = at + 2 + 17 * 12 + 4;
    const uint32_t entries[17][3] = {{256 | LONG << 16, 1, WIDTH},
                                     {257 | LONG << 16, 1, HEIGHT},
                                     {258 | SHORT << 16, 3, after + 8},
                                     {259 | SHORT << 16, 1, 7},
                                     {262 | SHORT << 16, 1, 6},
                                     {273 | LONG << 16, 1, 8},
                                     {277 | SHORT << 16, 1, 3},
                                     {278 | LONG << 16, 1, HEIGHT},
                                     {279 | LONG << 16, 1, (uint32_t)size},
                                     {282 | RATIONAL << 16, 1, after},
                                     {283 | RATIONAL << 16, 1, after},
                                     {296 | SHORT << 16, 1, 3},
                                     {65420 | LONG << 16, 1, 1},
                                     {65421 | FLOAT << 16, 1, 0x41a00000},
                                     {65422u | SIGNED << 16, 1, 0},
                                     {65423u | SIGNED << 16, 1, 0},
                                     {65424u | SIGNED << 16, 1, 0}};
    static const uint32_t tail[] = {0, 40000, 1, 8 | 8 << 16, 8};
    uint8_t *const file = calloc(1, after + 14 + 4);
    memcpy(file, "II*\0", 4);
    memcpy(file + 4, &at, 4);
    memcpy(file + 8, jpeg, size);
    file[at] = 17;
    memcpy(file + at + 2, entries, sizeof entries);
    memcpy(file + after - 4, tail, 4 * 5 - 2);
    for (size_t more = 0; more < 4; more++) /* by its size the target chooses what is read */
        put_seed("slide", file, after + 14 + more);
    free(file);
    free(jpeg);
    free(image.data);
}

/* Frames and grids, for the reader of HEIC's boxes. */
static void put_heic(void)
{
    static const struct heic_kind kinds[] = {
        {.matrix = 6, .av1 = true},
        {.rotation = 1},
        {.columns = 3, .rows = 2, .width = 701, .height = 499, .mirror = 1, .matrix = 9},
        {.columns = 2,
         .rows = 1,
         .width = 400,
         .height = 200,
         .wide = true,
         .crops = true,
         .crop = {301, 1, 101, 1, 1, 1, 1, 1}}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        int item;
        const struct heic_bytes file = heic_make(&kinds[i], &item);
        put_seed("heif_coded", file.data, file.size);
        free(file.data);
    }
}

void put_format_seeds(void)
{
    put_heic();
    const struct gf_file_type *type;
    struct gf_error error;
    for (int i = 0; (type = gf_file_type_at(i)); i++) {
        if (!type->library || !type->create ||
            gf_library_load(type->library, type->name, GF_ERROR_UNAVAILABLE, &error))
            continue;
        if (type->format == GF_FILE_TIFF)
            put_levels();
        for (int kind = 0; type->animates && kind < 4; kind++)
            if (kind < 2 || (type->lossless_bits >= 8 && type->format != GF_FILE_GIF))
                put_animation(type, 3 + kind % 2, kind / 2);
        for (int kind = 0; kind < 16; kind++) {
            const int bits = kind & 4 ? 16 : 8;
            const bool lossless = kind & 8;
            const bool has_alpha = kind % 2, /* of kind % 4 + 1 channels */
                keeps_all = bits <= type->lossless_bits && type->format != GF_FILE_GIF &&
                            !(has_alpha && type->associated);
            if (bits <= type->bits && (!lossless || keeps_all))
                put_picture(type, kind % 4 + 1, bits, lossless);
        }
    }
    put_raw();
    put_slide();
}
