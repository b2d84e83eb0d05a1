/* A JPEG decoded and encoded in strips by two threads, beside one thread: the same verdict in the
 * same words, the same warnings, pixels and bytes. */
#include "fuzz.h"

#include "codec/jpeg/jpeg.h"
#include "jpeg_mutator.h"

struct decoded {
    enum gf_status status;
    struct gf_error error;
    struct gf_image image;
    char warnings[1000];
};

static void note_warning(void *context, const char *text)
{
    struct decoded *const decoded = context;
    const size_t length = strlen(decoded->warnings);
    snprintf(decoded->warnings + length, sizeof decoded->warnings - length, "%s\n", text);
}

/* strip_rows of 0: by one thread. */
static struct decoded *decode(const uint8_t *data, size_t size, int strip_rows)
{
    struct decoded *const decoded = calloc(1, sizeof *decoded);
    struct gf_options options = fuzz_options();
    struct gf_input *input = NULL;
    struct gf_source *source = NULL;
    options.allow_truncated = size % 4 == 0;
    options.threads = strip_rows ? 2 : 1;
    options.warn = note_warning;
    options.warn_context = decoded;
    decoded->status = gf_input_open_memory(data, size, "in", &input, &decoded->error);
    if (!decoded->status)
        decoded->status =
            gf_jpeg_source_open(input, &options, strip_rows, &source, &decoded->error);
    if (!decoded->status)
        decoded->status = fuzz_read(source, &decoded->image, &decoded->error);
    if (source)
        source->close(source);
    gf_input_close(input);
    return decoded;
}

static uint8_t *encode(const struct gf_image *image, int strip_rows, size_t seed, size_t *size)
{
    static const struct gf_metadata none = {.orientation = 1};
    struct gf_options options = fuzz_options();
    struct gf_error error = {0};
    struct gf_output *output = NULL;
    struct gf_sink *sink = NULL;
    options.threads = strip_rows ? 2 : 1;
    options.quality = 1 + (int)(seed % 100);
    options.subsampling = (enum gf_subsampling)(seed / 100 % 3);
    enum gf_status status = gf_output_open_memory("out", &output, &error);
    if (!status)
        status =
            gf_jpeg_sink_open(output, image->format, &none, &options, strip_rows, &sink, &error);
    return fuzz_write(image, output, sink, status, &error, size);
}

static void check_encoding(const struct gf_image *image, int strip_rows, size_t seed)
{
    size_t one_size, several_size;
    uint8_t *const one = encode(image, 0, seed, &one_size), *const several =
                                                                encode(image, strip_rows, seed,
                                                                       &several_size);
    FUZZ_CHECK(one_size == several_size && !memcmp(one, several, one_size), "%zu, %zu bytes",
               one_size, several_size);
    free(one);
    free(several);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (gf_file_format_of(data, size) != GF_FILE_JPEG)
        return 0;
    const int strip_rows = 1 + (int)(size % 3);
    struct decoded *const one = decode(data, size, 0), *const several =
                                                           decode(data, size, strip_rows);
    FUZZ_CHECK(one->status == several->status && !strcmp(one->error.text, several->error.text),
               "%s; %s", one->error.text, several->error.text);
    FUZZ_CHECK(!strcmp(one->warnings, several->warnings), "%s; %s", one->warnings,
               several->warnings);
    if (!one->status) {
        fuzz_check_same(&one->image, &several->image);
        check_encoding(&one->image, strip_rows, size);
        free(one->image.data);
        free(several->image.data);
    }
    free(one);
    free(several);
    return 0;
}
