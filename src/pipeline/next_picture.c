/* Finds the next picture of an input, and its format. */
#include <string.h>

#include "base/fail.h"
#include "codec/common/checks.h"
#include "codec/formats.h"
#include "codec/io/input.h"
#include "codec/io/output.h"
#include "pipeline/pipeline_state.h"

/* Passes over the line breaks, blanks and zeros that may follow a picture. */
static enum gf_status pass_gap(struct gf_input *input, struct gf_error *error)
{
    unsigned char next, taken;
    size_t got;
    GF_TRY(gf_input_peek(input, &next, 1, &got, error));
    while (got && memchr("\n\r ", next, 4)) {
        GF_TRY(gf_input_read(input, &taken, 1, &got, error));
        GF_TRY(gf_input_peek(input, &next, 1, &got, error));
    }
    return GF_OK;
}

enum gf_status gf_pipeline_find_next(const struct gf_pipeline *pipeline,
                                     struct gf_picture_task *task, bool *found,
                                     struct gf_error *error)
{
    unsigned char head[256];
    size_t got = 0;
    struct gf_input *const input = task->input;
    const char *const name = gf_input_name(input);
    /* Such a file is one picture to all programs. After it there are only previews that the header
     * does not name, and data that only the makers of cameras read. */
    const bool lone = (!gf_input_is_stream(input) || task->destination->bytes) &&
                      task->own_format != GF_FILE_PNM && task->own_format != GF_FILE_PAM;
    const char *const kind = lone ? gf_file_format_name(task->own_format) : "picture";
    *found = false;
    if (!gf_file_format_has_end(task->own_format) || task->destination->first_alone)
        return GF_OK;
    gf_input_start_here(input);
    enum gf_status status = pass_gap(input, error);
    gf_input_start_here(input);
    if (!status)
        status = gf_input_peek(input, head, sizeof head, &got, error);
    if (status || !got)
        return status;
    const enum gf_file_format format = gf_file_format_of(head, got);
    /* A picture of a format that is not read counts as found. It fails later, when it is opened. */
    *found = lone ? format == task->own_format : format || gf_foreign_format(head, got);
    if (!*found && !(lone && format == GF_FILE_AUTO))
        gf_warn(&pipeline->options, "%s: what follows picture %d is no %s: left out", name,
                task->number, kind);
    if (*found && !task->destination->several) {
        gf_warn(&pipeline->options, "%s: another %s follows picture %d: left out (to have it: %s)",
                name, kind, task->number, task->destination->several_hint);
        *found = false;
    }
    return GF_OK;
}
