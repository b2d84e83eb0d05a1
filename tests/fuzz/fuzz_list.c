/* Lists of inputs, "@LIST", with line breaks or zero bytes between names. Slashes become letters:
 * names stay within the working folder. */
#include "fuzz_file.h"

#include "batch/names/names.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_bytes bytes = {data, size};
    const unsigned how = fuzz_byte(&bytes);
    char argument[60], *const text = malloc(bytes.size + 1);
    for (size_t i = 0; i < bytes.size; i++)
        text[i] = bytes.data[i] == '/' ? 's' : (char)bytes.data[i];
    snprintf(argument, sizeof argument, "@%s", fuzz_path(text, bytes.size));
    const char *const arguments[] = {argument};
    const struct gf_inputs_request request = {
        .argument = arguments, .count = 1, .nul_separated = how & 1};
    struct gf_inputs inputs;
    struct gf_error error = {0};
    if (fuzz_ok(gf_inputs_expand(&request, &inputs, &error), &error)) {
        FUZZ_CHECK(inputs.count, "no name");
        for (size_t i = 0; i < inputs.count; i++)
            FUZZ_CHECK(*inputs.item[i].path && inputs.item[i].below <= strlen(inputs.item[i].path),
                       "name %zu", i);
        gf_inputs_free(&inputs);
    }
    free(text);
    return 0;
}
