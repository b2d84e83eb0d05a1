/* Files that a chain names, which are an overlay, a mask, its base, a font, a text, a table of
 * colours or a profile: a byte that says which, the rest of the filter's text, a zero byte, and the
 * file. */
#include "fuzz_file.h"

#include "text/text_fonts.h"

enum { FONT = 3, FILTERS = 7 };

/* The path of the file. A font is the program's own, with changes: each has two bytes of its place,
 * and one of its value. */
static const char *path_of(unsigned filter, struct fuzz_bytes *bytes)
{
    static unsigned char *font, *changed;
    static size_t size;
    struct gf_error error = {0};
    if (filter != FONT)
        return fuzz_path(bytes->data, bytes->size);
    if (!font)
        FUZZ_CHECK(!gf_text_font_make(&font, &size, &error) && (changed = malloc(size)), "%s",
                   error.text);
    memcpy(changed, font, size);
    while (bytes->size) {
        const unsigned high = fuzz_byte(bytes), at = high << 8 | fuzz_byte(bytes);
        changed[at % size] = (unsigned char)fuzz_byte(bytes);
    }
    return fuzz_path(changed, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char picture[] = "P6 4 3 255\nabcdefghijklmnopqrstuvwxyz0123456789";
    static const char *const filters[FILTERS] = {
        "overlay=", "mask=", "mask=base=", "text=font=", "text=file=", "lut=", "icc="};
    struct fuzz_bytes bytes = {data, size};
    const struct gf_options options = fuzz_options();
    struct gf_pipeline *pipeline = NULL;
    struct gf_error error = {0};
    const unsigned how = fuzz_byte(&bytes) % FILTERS;
    char *const rest = fuzz_string(&bytes), *chain = NULL;
    void *result = NULL;
    size_t result_size = 0;
    if (!fuzz_is_quick(rest) ||
        asprintf(&chain, "%s%s%s", filters[how], path_of(how, &bytes), rest) < 0) {
        free(rest);
        return 0;
    }
    if (fuzz_ok(gf_pipeline_open(chain, &options, &pipeline, &error), &error) &&
        fuzz_ok(gf_pipeline_run_bytes(pipeline, picture, sizeof picture - 1, GF_FILE_PAM, &result,
                                      &result_size, &error),
                &error))
        fuzz_check_file(result, result_size);
    gf_free(result);
    gf_pipeline_close(pipeline);
    free(chain);
    free(rest);
    return 0;
}
