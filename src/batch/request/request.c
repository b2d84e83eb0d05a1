/* Questions about the request of a batch; its options as a user types them; the names of its
 * outputs. */
#include "batch/request/request.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "base/text/plain_text.h"
#include "chain/chain.h"
#include "codec/codec.h"
#include "codec/common/pyramid/pyramid.h"
#include "pipeline/pipeline_internal.h"

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
        any |= gf_batch_output_at(request, k).name->is_archive;
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
        GF_THEN(status, gf_chain_check_kernels(&chain, error));
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

static const char prefix[] = "options.", look_up[] = "gf_filter_at lists", list[] = "--list shows";

/* Returns the option that the text "options.NAME" begins with; NULL if it begins with anything
 * else, such as the name of a file, "options.png: ". */
static const struct gf_option_member *option_of(const char *text)
{
    const char *const name = text + sizeof prefix - 1;
    const struct gf_option_member *member;
    if (strncmp(text, prefix, sizeof prefix - 1))
        return NULL;
    for (int i = 0; (member = gf_option_member_at(i)); i++) {
        const size_t length = strlen(member->member);
        /* strchr() also finds the zero at the end of the text. */
        if (member->name && !strncmp(member->member, name, length) && strchr("=);", name[length]))
            break;
    }
    return member;
}

void gf_name_options_as_typed(char *text)
{
    char *to = text;
    for (const char *from = text; *from;) {
        const struct gf_option_member *const option = option_of(from);
        if (option) {
            from += sizeof prefix - 1 + strlen(option->member);
            /* The result is shorter than the original text. */
            to += sprintf(to, "--%s", option->name);
            if (option->type == GF_OPTION_TARGET && *from == '=') {
                to += sprintf(to, "=ssimulacra2:");
                from++;
            }
        } else if (!strncmp(from, look_up, sizeof look_up - 1)) {
            memcpy(to, list, sizeof list - 1);
            to += sizeof list - 1;
            from += sizeof look_up - 1;
        } else {
            *to++ = *from++;
        }
    }
    *to = '\0';
}

/* Whether the output's name depends on the input's header: on {w}, {h}, or on {ext} if the input's
 * name has no known extension. */
static bool needs_header(const struct gf_template *output, const char *input)
{
    if (output->has_size)
        return true;
    for (int i = 0; i < output->parts; i++) {
        if (output->part[i].field == GF_FIELD_EXT && output->format == GF_FILE_AUTO &&
            gf_file_format_named(input) == GF_FILE_AUTO)
            return true;
    }
    return false;
}

enum gf_status gf_batch_open_header_reader(const struct gf_batch_request *request, int number,
                                           struct gf_pipeline **reader, struct gf_error *error)
{
    const struct gf_batch_output output = gf_batch_output_at(request, number);
    struct gf_options options = request->options;
    gf_options_of_output(&options, &output.options);
    options.device = GF_DEVICE_CPU;
    options.codec = GF_CODEC_CPU;
    options.warn = NULL; /* the run itself warns later */
    return *reader ? GF_OK : gf_pipeline_open(output.chain, &options, reader, error);
}

/* Sets *path to the name of output `number` of the input `index`; NULL if it is known only during
 * the run. */
static enum gf_status name_output(const struct gf_batch_request *request, size_t index, int number,
                                  struct gf_pipeline **header_reader, char **path,
                                  struct gf_error *error)
{
    const struct gf_batch_output given = gf_batch_output_at(request, number);
    const struct gf_template *const output = given.name;
    const struct gf_input_name *const input = &request->inputs->item[index];
    struct gf_template_values values = {.input = input, .number = input->index + 1};
    const bool alone = gf_inputs_total(request->inputs) == 1,
               unread = needs_header(output, input->path);
    if (output->is_stdout || gf_batch_numbers_pictures(request, number))
        return GF_OK;
    if (unread && gf_input_named_is_stream(input->path)) {
        if (alone)
            return GF_OK;
        return gf_fail(error, GF_ERROR_USAGE,
                       "%s: a stream among other inputs needs an output without {w} and {h}, and "
                       "--format for {ext}",
                       input->path);
    }
    if (unread) {
        struct gf_peek peek = {.pattern = output->text};
        GF_TRY(gf_batch_open_header_reader(request, number, header_reader, error));
        if (gf_pipeline_peek(*header_reader, input->path, &peek, &(struct gf_error){0}))
            return GF_OK; /* the run will report the failure */
        values.width = peek.out.width;
        values.height = peek.out.height;
        values.content = peek.content;
    }
    const enum gf_status status = gf_template_expand(output, &values, path, error);
    enum gf_file_format format;
    /* Checks the name's extension, so that an unknown one is an error before the run. */
    struct gf_error why = {0};
    const char *const name = *path;
    const enum gf_status known =
        status ? status : gf_sink_format(name, &given.options, GF_FILE_AUTO, &format, &why);
    if (known && !status)
        (void)gf_fail(error, known, "%s%s", why.text,
                      output->is_pattern || !strstr(why.text, "extension says no format")
                          ? ""
                          : "; a folder ends in / or is there");
    return known;
}

/* Refuses, with --resume, a file as its own output: it would be filtered twice if an earlier run
 * was killed between writing and logging it. */
static enum gf_status check_in_place(const struct gf_batch_request *request, const char *input,
                                     const char *output, struct gf_error *error)
{
    if (!request->resume || !output || !gf_output_replaces(output, input))
        return GF_OK;
    return gf_fail(error, GF_ERROR_USAGE, "%s: is its own output: --resume could filter it twice",
                   input);
}

const char *gf_batch_replaced(const struct gf_batch_request *request, const char *output)
{
    if (request->log && gf_batch_log_is(request->log, output))
        return "the log";
    for (int i = 0; request->side && i < GF_SIDE_FILES; i++) {
        if (request->side[i].path && gf_output_is_place(request->side[i].path, output))
            return request->side[i].option;
    }
    for (int i = 0; !request->in_place && request->reads && request->reads[i]; i++) {
        if (gf_output_replaces(output, request->reads[i]))
            return gf_input_is_file(request->reads[i], output)
                       ? "a file that the chain reads; --in-place allows that"
                       : "its folder of tiles has a file that the chain reads; --in-place allows "
                         "that";
    }
    return NULL;
}

enum gf_status gf_batch_check_log(const struct gf_batch_request *request, const char *input,
                                  const char *output, struct gf_error *error)
{
    const bool is_input = request->log && gf_batch_log_is(request->log, input);
    const char *const what = is_input ? "the log"
                             : output ? gf_batch_replaced(request, output)
                                      : NULL;
    if (!what)
        return GF_OK;
    if (request->log)
        gf_batch_log_withdraw(request->log);
    return gf_fail(error, GF_ERROR_USAGE, "%s: is an %s and %s", is_input ? input : output,
                   is_input ? "input" : "output", what);
}

/* Names output `number` of all inputs. */
static enum gf_status name_all(const struct gf_batch_request *request, int number, char **path,
                               struct gf_error *error)
{
    const struct gf_inputs *const inputs = request->inputs;
    const size_t outputs = (size_t)gf_batch_outputs(request);
    struct gf_pipeline *header_reader = NULL;
    enum gf_status status = GF_OK;
    for (size_t i = 0; !status && i < inputs->count; i++) {
        const char *const input = inputs->item[i].path;
        char **const output = &path[i * outputs + (size_t)number];
        status = name_output(request, i, number, &header_reader, output, error);
        GF_THEN(status, check_in_place(request, input, *output, error));
        GF_THEN(status, gf_batch_check_log(request, input, *output, error));
    }
    gf_pipeline_close(header_reader);
    return status;
}

enum gf_status gf_batch_name_outputs(const struct gf_batch_request *request, char **path,
                                     struct gf_error *error)
{
    const struct gf_inputs *const inputs = request->inputs;
    const int outputs = gf_batch_outputs(request);
    enum gf_status status = GF_OK;
    int streams = 0;
    bool own = outputs > 1;
    for (int k = 0; !status && k < outputs; k++) {
        const struct gf_template *const output = gf_batch_output_at(request, k).name;
        if (inputs->elsewhere && !output->is_stdout && !output->is_pattern)
            return gf_fail(error, GF_ERROR_USAGE,
                           "%s: one name for the outputs of all parts; " GF_OUTPUTS_APART,
                           output->text);
        status = output->has_archive
                     ? gf_fail(error, GF_ERROR_USAGE, "%s: {archive} is for members of archives",
                               output->text)
                     : name_all(request, k, path, error);
        streams += gf_batch_output_at(request, k).name->is_stdout;
        /* A file of a name of its own replaces that one; a folder of tiles is no such name. */
        own |= !request->in_place &&
               (request->is_group || output->is_pattern || gf_template_is_of_folders(output) ||
                gf_pyramid_named(output->text, ".dzi"));
    }
    if (!status && streams > 1)
        return gf_fail(error, GF_ERROR_USAGE, "two outputs cannot both be standard output");
    if (status || streams == outputs || (inputs->count < 2 && !own))
        return status;
    return gf_outputs_check(inputs, path, outputs, own, error);
}
