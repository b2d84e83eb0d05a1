/* Reads the second pictures of filters, such as overlay's, each by a pipeline of its own. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "codec/common/checks.h"
#include "codec/io/input.h"
#include "pipeline/pipeline_state.h"

static enum gf_status filter_input(struct gf_pipeline *pipeline, struct gf_input *input,
                                   struct gf_image *image, struct gf_error *error)
{
    struct gf_picture_task task = {.input = input, .image_out = image};
    GF_TRY(gf_input_format(input, &task.own_format, error));
    return gf_pipeline_filter_task(pipeline, &task, error);
}

/* Removes from the error the hint to use --allow-truncated: a second picture is always refused if
 * it is truncated, whatever the main picture's options are. */
static void drop_hint(const struct gf_options *options, struct gf_error *error)
{
    char *const hint = strstr(error->text, gf_truncated_hint(options));
    if (hint)
        *hint = '\0';
}

/* Appends a warning as a line to the text *context. It is lost if there is no memory for it. */
static void note(void *context, const char *text)
{
    char **const notes = context, *longer;
    if (asprintf(&longer, "%s%s\n", *notes ? *notes : "", text) < 0)
        return;
    free(*notes);
    *notes = longer;
}

enum gf_status gf_pipeline_read_picture(int descriptor, const char *name, double scale,
                                        struct gf_image *image, char **notes,
                                        struct gf_error *error)
{
    struct gf_options options = gf_options_default();
    struct gf_pipeline *pipeline = NULL;
    struct gf_input *input = NULL;
    char chain[48] = "";
    options.device = GF_DEVICE_CPU;
    options.warn = note;
    options.warn_context = notes;
    const struct gf_options *const limits = gf_second_pictures_limits();
    if (limits) {
        options.max_pixels = limits->max_pixels;
        options.memory_bytes = limits->memory_bytes;
        options.timeout_s = limits->timeout_s;
        options.formats = limits->formats;
        options.sandbox = limits->sandbox;
        options.sandbox_program = limits->sandbox_program;
    }
    *notes = NULL;
    if (scale != 1)
        snprintf(chain, sizeof chain, "resize=%.9g%%:%.9g%%", 100 * scale, 100 * scale);
    *image = (struct gf_image){.data = NULL};
    const int own = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    if (own < 0)
        return gf_fail(error, GF_ERROR_READ, "%s: %s", name, strerror(errno));
    enum gf_status status =
        gf_input_open_descriptor(own, 0, (struct gf_pages){-1, -1}, name, &input, error);
    GF_THEN(status, gf_pipeline_open(chain, &options, &pipeline, error));
    GF_THEN(status, filter_input(pipeline, input, image, error));
    gf_pipeline_close(pipeline);
    gf_input_close(input);
    if (status) {
        gf_image_free(image);
        free(*notes);
        *notes = NULL;
        drop_hint(&options, error);
    }
    return status;
}
