/* The results of every filter, bit for bit: tests/bits.txt holds a checksum for each of SETS random
 * sets of parameters on generated pictures of every format, and of FLOAT_SETS on floats. They must
 * come out the same whatever the compiler, its options, the C library, the processor, and on a GPU
 * where there is one. After a deliberate change of a result, `make bits` writes the file anew. */
#include "support.h"

#include <math.h>

#include "base/elementary.h"
#include "chain/chain.h"
#include "icc/icc_build.h"
#include "pixel/float_rows.h"

enum { SETS = 56, FLOAT_SETS = 14, CHAIN_SIZE = 4096 };

static uint64_t random_state;

static int draw(int bound)
{
    return random_below(&random_state, bound);
}

/* A number of the range with a few decimals: mostly small ones, since ranges are long. */
static double random_number(double least, double greatest)
{
    const double part = draw(1001) / 1000.0;
    const double value = least + (greatest - least) * part * part * part;
    return value > 100 ? floor(value) : value;
}

static void add_matrix(char *text, size_t size)
{
    const int width = 1 + 2 * draw(5);
    const int height = 1 + 2 * draw(5);
    const int whole = draw(2);
    for (int i = 0; i < width * height; i++) {
        const int value = draw(201) - 100;
        const size_t length = strlen(text);
        snprintf(text + length, size - length, "%s%g",
                 !i          ? ""
                 : i % width ? " "
                             : "/",
                 whole ? value : value / 8.0);
    }
}

static void add_value(const struct gf_param *param, char *text, size_t size)
{
    int choices = 0;
    switch (param->type) {
    case GF_TYPE_INT:
        snprintf(text, size, "%d", (int)random_number(param->least, param->greatest));
        break;
    case GF_TYPE_MATRIX:
        text[0] = '\0';
        if (!param->choices) {
            add_matrix(text, size);
            break;
        }
        /* fallthrough */
    case GF_TYPE_CHOICE:
        while (param->choices[choices])
            choices++;
        snprintf(text, size, "%s", param->choices[draw(choices)]);
        break;
    case GF_TYPE_WORD:
        if (draw(2)) {
            while (param->choices[choices])
                choices++;
            snprintf(text, size, "%s", param->choices[choices > 1 ? draw(choices) : 0]);
            break;
        }
        /* fallthrough */
    case GF_TYPE_FLOAT:
    case GF_TYPE_RELATIVE:
        snprintf(text, size, "%.7g", random_number(param->least, param->greatest));
        break;
    case GF_TYPE_LENGTH:
        choices = draw(2);
        snprintf(text, size, choices ? "%d" : "%d%%", 1 + draw(90));
        break;
    case GF_TYPE_FILE:
        while (param->choices && param->choices[choices])
            choices++;
        snprintf(text, size, "%s", choices ? param->choices[draw(choices)] : "");
        break;
    case GF_TYPE_TEXT: /* its picture may differ between versions of its libraries */
        *text = '\0';
        break;
    case GF_TYPE_COLOUR:
        while (param->choices && param->choices[choices])
            choices++;
        if (choices && draw(2))
            snprintf(text, size, "%s", param->choices[draw(choices)]);
        else
            snprintf(text, size, "#%06x", (unsigned)draw(1 << 24));
        break;
    }
}

/* "blur=sigma=2.5:border=wrap", with a random part of the parameters. */
static void make_chain(const struct gf_filter *filter, char *text)
{
    const char *separator = "=";
    snprintf(text, CHAIN_SIZE, "%s", gf_filter_name(filter));
    for (const struct gf_param *param = gf_filter_params(filter); param->name; param++) {
        char value[CHAIN_SIZE / 4];
        if (!param->required && draw(4) == 0)
            continue;
        add_value(param, value, sizeof value);
        if (!*value)
            continue;
        const size_t length = strlen(text);
        snprintf(text + length, CHAIN_SIZE - length, "%s%s=%s", separator, param->name, value);
        separator = ":";
    }
}

/* Slopes, an edge, grain, and in alpha also wholly clear and wholly opaque pixels. */
static void make_picture(struct gf_image *image, struct gf_format format)
{
    const int max = format.bits == 8 ? 255 : 65535;
    assert_int_equal(gf_image_alloc(image, format, NULL), GF_OK);
    const int colours = format.channels - (format.channels % 2 == 0);
    for (int y = 0; y < format.height; y++) {
        for (int x = 0; x < format.width; x++) {
            for (int c = 0; c < format.channels; c++) {
                int v = max * (x * (c + 1) + y * 2 + (x > y ? 40 : 0)) / 300 % (max + 1);
                if (!draw(3))
                    v = draw(max + 1);
                if (c == colours)
                    v = draw(4) ? draw(max + 1) : draw(2) * max;
                const size_t at = (size_t)x * (size_t)format.channels + (size_t)c;
                unsigned char *const row = image->data + (size_t)y * image->pitch;
                if (format.bits == 8)
                    row[at] = (unsigned char)v;
                else
                    ((uint16_t *)row)[at] = (uint16_t)v;
            }
        }
    }
}

/* The same for floats. NaN is one value, since processors give it different signs. */
static uint32_t checksum_of_floats(const struct gf_image *image)
{
    uint64_t hash = 0xcbf29ce484222325u;
    const size_t count = (size_t)image->format.width * (size_t)image->format.channels;
    for (int y = 0; y < image->format.height; y++) {
        for (size_t i = 0; i < count; i++) {
            float v;
            gf_floats_of_row(image->data + (size_t)y * image->pitch +
                                 i * (size_t)(image->format.bits / 8),
                             image->format, 1, &v);
            hash = (hash ^ gf_bits_of_float(isnan(v) ? NAN : v)) * 0x100000001b3u;
        }
    }
    return (uint32_t)(hash ^ hash >> 32);
}

/* FNV-1a over the samples' values, folded to 32 bits. */
static uint32_t checksum(const struct gf_image *image)
{
    uint64_t hash = 0xcbf29ce484222325u;
    const size_t count = (size_t)image->format.width * (size_t)image->format.channels;
    for (int y = 0; y < image->format.height; y++) {
        const unsigned char *const row = image->data + (size_t)y * image->pitch;
        for (size_t i = 0; i < count; i++) {
            const unsigned v = image->format.bits == 8 ? row[i] : ((const uint16_t *)row)[i];
            hash = (hash ^ (v & 255)) * 0x100000001b3u;
            hash = (hash ^ v >> 8) * 0x100000001b3u;
        }
    }
    return (uint32_t)(hash ^ hash >> 32);
}

/* The checksum of one set. Sets that the filter refuses (a crop beyond the picture) are drawn
 * again. */
static uint32_t run_set(const struct gf_filter *filter, int index, int set,
                        enum gf_device_kind device, char *chain)
{
    const bool floats = set >= SETS;
    struct gf_options options = gf_options_default();
    options.device = device;
    options.threads = 1 + set % 3;
    options.band_rows = set % 2 ? 7 : 0;
    random_state = (uint64_t)((index + (floats ? 1 : 0)) * SETS + set + 1);
    for (int attempt = 0; attempt < 1000; attempt++) {
        struct gf_format format = {.channels = 1 + set % 4, .bits = set / 4 % 2 ? 16 : 8};
        format.width = 1 + draw(70);
        format.height = 1 + draw(50);
        struct gf_pipeline *pipeline = NULL;
        struct gf_image in, out = {0};
        struct gf_error error = {0};
        make_chain(filter, chain);
        if (floats) {
            char *const whole = strdup(chain);
            snprintf(chain, CHAIN_SIZE, "float=%d,%s", set % 2 ? 16 : 32, whole);
            free(whole);
        }
        make_picture(&in, format);
        enum gf_status status = gf_pipeline_open(chain, &options, &pipeline, &error);
        if (!status)
            status = gf_pipeline_run_image(pipeline, &in, &out, &error);
        const uint32_t sum = status                    ? 0
                             : gf_is_float(out.format) ? checksum_of_floats(&out)
                                                       : checksum(&out);
        gf_pipeline_close(pipeline);
        gf_image_free(&in);
        gf_image_free(&out);
        if (!status)
            return sum;
        if (floats && attempt > 20 && strstr(error.text, "takes no floats"))
            return 0;
        if (status != GF_ERROR_USAGE && status != GF_ERROR_UNFIT && status != GF_ERROR_INPUT)
            fail_msg("%s: %s", chain, error.text);
    }
    fail_msg("%s: no set of parameters is taken", gf_filter_name(filter));
    return 0;
}

/* The filter's number is part of its name's bytes, so that a new filter changes no other's sets. */
static int seed_of(const struct gf_filter *filter)
{
    int seed = 0;
    for (const char *c = gf_filter_name(filter); *c; c++)
        seed = (seed * 31 + *c) % 1000003;
    return seed;
}

/* text differs between versions of its libraries. */
static bool is_same_everywhere(const struct gf_filter *filter)
{
    return strcmp(gf_filter_name(filter), "text") != 0;
}

static void write_all(const char *path)
{
    FILE *const file = fopen(path, "w");
    const struct gf_filter *filter;
    char chain[CHAIN_SIZE];
    assert_non_null(file);
    for (int i = 0; (filter = gf_filter_at(i)); i++) {
        if (!is_same_everywhere(filter))
            continue;
        fputs(gf_filter_name(filter), file);
        for (int set = 0; set < SETS + FLOAT_SETS; set++) {
            const uint32_t sum = run_set(filter, seed_of(filter), set, GF_DEVICE_CPU, chain);
            fprintf(file, "%s%08x", set % 14 ? " " : "\n ", sum);
            if (set == SETS && !sum) /* which takes no floats */
                break;
        }
        fputc('\n', file);
    }
    assert_int_equal(fclose(file), 0);
}

/* Reads "name sum sum ..." for the filter; false where the file has no such name. */
static bool read_sums(FILE *file, const char *name, uint32_t *sums)
{
    char word[64];
    rewind(file);
    while (fscanf(file, "%63s", word) == 1) {
        if (strcmp(word, name))
            continue;
        for (int set = 0; set < SETS + FLOAT_SETS; set++) {
            if (fscanf(file, "%8x", &sums[set]) != 1)
                return false;
            if (set == SETS && !sums[set])
                break;
        }
        return true;
    }
    return false;
}

static void compare_all(enum gf_device_kind device)
{
    FILE *const file = fopen("tests/bits.txt", "r");
    const struct gf_filter *filter;
    int wrong = 0;
    assert_non_null(file);
    for (int i = 0; (filter = gf_filter_at(i)); i++) {
        uint32_t sums[SETS + FLOAT_SETS] = {0};
        if (!strcmp(gf_filter_name(filter), "icc") && !gf_icc_available())
            continue; /* which this build cannot run */
        if (!is_same_everywhere(filter))
            continue;
        if (device == GF_DEVICE_CUDA && gf_filter_check_kernels(filter, NULL))
            continue;
        if (!read_sums(file, gf_filter_name(filter), sums))
            fail_msg("%s has no checksums: run `make bits`", gf_filter_name(filter));
        /* Without Little CMS tonemap takes no floats. */
        const bool floats = strcmp(gf_filter_name(filter), "tonemap") || gf_icc_available();
        const int sets =
            device == GF_DEVICE_CPU && floats ? SETS + (sums[SETS] ? FLOAT_SETS : 1) : SETS;
        for (int set = 0; set < sets; set++) {
            char chain[CHAIN_SIZE];
            const uint32_t sum = run_set(filter, seed_of(filter), set, device, chain);
            if (sum != sums[set])
                print_error("%s, set %d (%d channels, %d bits): %08x, not %08x\n", chain, set,
                            1 + set % 4, set / 4 % 2 ? 16 : 8, sum, sums[set]);
            wrong += sum != sums[set];
        }
    }
    fclose(file);
    assert_int_equal(wrong, 0);
}

static void test_cpu(void **state)
{
    if (getenv("GF_BITS_WRITE"))
        write_all(getenv("GF_BITS_WRITE"));
    else
        compare_all(GF_DEVICE_CPU);
}

static void test_gpu(void **state)
{
    const char *why = NULL;
    if (!gf_device_count(&why)) {
        print_message("no GPU: %s\n", why);
        skip();
    }
    compare_all(GF_DEVICE_CUDA);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cpu),
        cmocka_unit_test(test_gpu),
    };
    return cmocka_run_group_tests_name("bits", tests, NULL, NULL);
}
