/* Templates of output names, expanded for an input whose name is part of the data: no part of that
 * name leads out of where the template puts outputs. */
#include "fuzz.h"

#include "batch/names/names.h"

/* The number of parts of the path that are "..". */
static int count_parents(const char *path)
{
    int count = 0;
    for (const char *at = path; *at; at += strspn(at, "/")) {
        const size_t length = strcspn(at, "/");
        count += length == 2 && !memcmp(at, "..", 2);
        at += length;
    }
    return count;
}

static void expand(const struct gf_template *template, const struct gf_template_values *values,
                   bool has_dots)
{
    struct gf_error error = {0};
    char *path = NULL, *const folder = gf_template_folder(template);
    FUZZ_CHECK(folder, "out of memory");
    if (fuzz_ok(gf_template_expand(template, values, &path, &error), &error)) {
        FUZZ_CHECK(!strncmp(path, folder, strlen(folder)) || strstr(template->text, "//"),
                   "%s is not in %s", path, folder);
        FUZZ_CHECK(has_dots || !count_parents(path), "%s", path);
    }
    free(path);
    free(folder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_bytes bytes = {data, size};
    const unsigned how = fuzz_byte(&bytes), number = fuzz_byte(&bytes);
    char *const output = fuzz_string(&bytes), *const path = fuzz_string(&bytes);
    const size_t length = strlen(path);
    const char *const slash = strrchr(path, '/');
    const struct gf_input_name input = {.path = path,
                                        .below = slash ? number % ((size_t)(slash - path) + 2) : 0};
    const struct gf_template_values values = {.input = &input,
                                              .number = number,
                                              .width = (int)number * 7,
                                              .height = (int)how,
                                              .content = (enum gf_file_format)(how / 16 % 5)};
    struct gf_template template;
    struct gf_error error = {0};
    /* An input has a name, and a folder is not one. */
    if (length && path[length - 1] != '/' &&
        fuzz_ok(gf_template_parse(output,
                                  &(struct gf_options){.format = (enum gf_file_format)(how % 5)},
                                  how & 8, &template, &error),
                &error)) {
        expand(&template, &values, strchr(output, '.'));
        gf_template_free(&template);
    }
    free(output);
    free(path);
    return 0;
}
