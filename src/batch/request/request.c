#include "batch/request/request.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/printable.h"
#include "batch/names/archive_name.h"
#include "chain/variants.h"

void gf_batch_tell(const struct gf_batch_request *request, enum gf_message_kind kind,
                   const char *format, ...)
{
    char line[sizeof((struct gf_error *)0)->text];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    gf_make_printable(line);
    if (request->message)
        request->message(request->context, kind, line);
}

bool gf_batch_has_archives(const struct gf_batch_request *request)
{
    bool any = request->inputs->count && gf_archive_named(request->inputs->item[0].path);
    for (int k = 0; k < gf_batch_outputs(request); k++)
        any |= gf_archive_named(gf_batch_output_at(request, k).name->text);
    return any;
}

bool gf_batch_is_single(const struct gf_batch_request *request)
{
    return gf_inputs_total(request->inputs) == 1 && !gf_batch_has_archives(request) &&
           !request->transfer && !request->frames;
}

bool gf_batch_writes_stdout(const struct gf_batch_request *request)
{
    bool any = false;
    for (int k = 0; k < gf_batch_outputs(request); k++)
        any |= gf_batch_output_at(request, k).name->is_stdout;
    return any;
}

bool gf_batch_numbers_pictures(const struct gf_batch_request *request, int output)
{
    return gf_batch_is_single(request) && gf_batch_output_at(request, output).name->has_number &&
           !request->skip_existing && !request->update;
}

enum gf_status gf_batch_check_kernels(const struct gf_batch_request *request,
                                      struct gf_error *error)
{
    enum gf_status status = GF_OK;
    for (int k = 0; !status && k < gf_batch_outputs(request); k++) {
        struct gf_chain chain = {0};
        status = gf_chain_parse(gf_batch_output_at(request, k).chain, &chain, error);
        if (!status)
            status = gf_chain_check_kernels(&chain, error);
        gf_chain_free(&chain);
    }
    return status;
}

void gf_batch_describe_left_out(const struct gf_batch_state *state,
                                char text[GF_BATCH_LEFT_OUT_SIZE])
{
    *text = '\0';
    if (state->left_out)
        snprintf(text, GF_BATCH_LEFT_OUT_SIZE, "; %zu file%s not taken for %s (-v names %s)",
                 state->left_out, state->left_out == 1 ? " was" : "s were",
                 state->left_out == 1 ? "a picture" : "pictures",
                 state->left_out == 1 ? "it" : "them");
}
