/* Chains as text and as a file, and the plan for a small picture. */
#include "fuzz_file.h"

#include "chain/chain.h"
#include "chain/plan.h"
#include "pipeline/pipeline_internal.h"

static void plan(const struct gf_chain *chain, int orientation)
{
    const struct gf_format format = {.width = 37, .height = 23, .channels = 4, .bits = 16};
    struct gf_error error = {0};
    struct gf_plan plan;
    if (fuzz_ok(gf_plan_make(chain, format, orientation, &plan, &error), &error))
        gf_plan_free(&plan);
}

static void parse(const char *text)
{
    struct gf_error error = {0};
    struct gf_chain chain;
    if (!fuzz_ok(gf_chain_parse(text, &chain, &error), &error))
        return;
    plan(&chain, 1 + (int)(strlen(text) % 8));
    gf_chain_free(&chain);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct gf_options options = fuzz_options();
    struct fuzz_bytes bytes = {data, size};
    struct gf_error error = {0};
    char *const text = fuzz_string(&bytes), *from_file = NULL;
    gf_second_pictures_set_limits(&options);
    parse(text);
    /* A line break: a file is another text than the line that it stands for. */
    if (strchr(text, '\n') &&
        fuzz_ok(gf_chain_file_read(fuzz_path(data, size), &from_file, &error), &error))
        parse(from_file);
    free(from_file);
    free(text);
    return 0;
}
