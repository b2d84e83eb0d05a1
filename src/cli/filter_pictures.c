/* The main action: finds the inputs, opens what the run writes, runs the batch, and reports it by
 * messages, progress, profiles and traces. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "batch/batch.h"
#include "batch/devices/devices.h"
#include "batch/devices/figures.h"
#include "batch/names/names.h"
#include "batch/sheets/sheet.h"
#include "cli/cli.h"
#include "cli/command/command.h"
#include "codec/common/pyramid/pyramid.h"
#include "codec/io/input.h"
#include "codec/io/output.h"
#include "codec/layouts/layouts.h"
#include "engine/backend.h"
#include "gpufilter/filter.h"
#include "report/batch/batch_report.h"
#include "report/profile/profile_report.h"
#include "report/text.h"
#include "text/text.h"

/* What the page of --profile=html:FILE shows. */
struct run_page {
    const struct gf_command *command;
    const struct gf_profile_report *report;
    const struct gf_profile *profile;
    const struct gf_batch_report *batch; /* the batch's report, if there are several pictures; else
                                          * NULL */
};

/* A run, and the files and reports that it has opened. */
struct gf_session {
    struct gf_command *command;
    struct gf_inputs inputs;
    struct gf_template output[GF_PIPELINE_OUTPUTS_MAX];
    struct gf_batch_output more[GF_PIPELINE_OUTPUTS_MAX - 1];
    struct gf_sheet sheet;                          /* the value of --join or --sheet */
    struct gf_chain chain[GF_PIPELINE_OUTPUTS_MAX]; /* which own the names in `reads` */
    const char **reads;                             /* the files that chains read; NULL ends them */
    struct gf_side_file side[GF_SIDE_FILES];
    struct gf_batch_log *log;
    struct gf_resume *resume;
    /* The words of the commands of --fetch, --store and --probe; or NULL. */
    char **fetch, **store, **probe;
    struct gf_output *trace, *page; /* the files of --trace and --profile=html:FILE; or NULL */
    struct gf_progress progress;
    bool pictures_shown; /* session_picture() has reported the pictures of a single input */
    double metrics_s; /* when the file of --metrics is due, in seconds from the start of the run */
    /* The joined profile of the pictures, if there are several inputs. */
    struct gf_batch_profile profile;
    /* What --profile=html:FILE shows of a run of several pictures. */
    struct gf_batch_report pictures;
    struct gf_figures figures; /* the measured figures of this machine, for estimates of time */
    int all_devices[GF_COMMAND_DEVICES_MAX];
    enum gf_status report_status; /* the first failure to write the profile or the trace */
    struct gf_error report_error;
};

/* Puts the input and the output on the page, if they are files. */
static void put_pictures(struct gf_page *page, const struct gf_command *command)
{
    struct gf_page_picture before =
                               gf_page_picture_make(command->input[0], NULL, &command->options),
                           after = gf_page_picture_make(command->output, NULL, &command->options);
    gf_page_pictures(page, &before, &after);
}

/* Writes the page. The function is a gf_report_writer, whose context is a struct run_page.
 */
static enum gf_status profile_page_put(FILE *file, const void *context, struct gf_error *error)
{
    const struct run_page *const content = context;
    const struct gf_command *const command = content->command;
    struct gf_page page;
    char line[2 * GF_FILE_NAME_SIZE];
    snprintf(line, sizeof line, "%s to %s", command->input[0], command->output);
    gf_url_hide_all(line);
    GF_TRY(gf_page_begin(&page, file, command->chain ? command->chain : "no filter", line, error));
    const enum gf_status status =
        gf_profile_page(&page, content->report, content->profile, "", error);
    if (content->batch)
        gf_batch_page(&page, content->batch, "The batch");
    else
        put_pictures(&page, command);
    gf_page_end(&page);
    return status;
}

/* ---- messages, progress and reports during the run ---- */

/* The file of --metrics is written at most once in this many seconds. */
enum { METRICS_S = 5 };

/* Prints a message of the batch. */
static void session_message(void *context, enum gf_message_kind kind, const char *text)
{
    struct gf_session *const session = context;
    gf_progress_clear(&session->progress);
    if (kind == GF_MESSAGE_DRY_RUN)
        puts(text);
    else if (kind == GF_MESSAGE_CHOICE || kind == GF_MESSAGE_PICTURE)
        gf_message_print("", text);
    else if (kind == GF_MESSAGE_WARNING && !session->command->verbose)
        gf_message_warn_once(text);
    else
        gf_message_print(kind == GF_MESSAGE_WARNING ? "warning: " : "", text);
}

/* Shows the progress, and writes the file of --metrics if it is due. */
static void session_tick(void *context, const struct gf_batch_state *state, bool at_end)
{
    struct gf_session *const session = context;
    enum gf_status *const status = &session->report_status;
    if (session->progress.form != GF_PROGRESS_NONE)
        gf_progress_show(&session->progress, state, at_end);
    if (!session->command->metrics || (!at_end && state->elapsed_s < session->metrics_s))
        return;
    session->metrics_s = state->elapsed_s + METRICS_S;
    GF_THEN(*status, gf_metrics_write(session->command->metrics, state, &session->report_error));
}

static void describe_file(const char *name, const char *file, const struct gf_format *format,
                          const char *more)
{
    struct gf_error line;
    char text[GF_TEXT_FORMAT_SIZE];
    (void)gf_fail(&line, GF_OK, "%s: %s%s%s%s", name, file, *file ? ", " : "",
                  gf_text_format(*format, text), more);
    gf_message_print("", line.text);
}

static void describe_run(const char *input, const char *output, const struct gf_profile *profile)
{
    const double pixels =
        (double)profile->in.width * (double)profile->in.height * (double)profile->frames;
    char text[300];
    char size[48] = "", quality[GF_FIT_FOUND_SIZE], frames[24] = "";
    if (profile->level)
        snprintf(size, sizeof size, "from level %d, at 1/%d, ", profile->level, profile->reduction);
    else if (profile->reduction > 1)
        snprintf(size, sizeof size, "at 1/%d ", profile->reduction);
    snprintf(text, sizeof text, ", decoded %sby the %s", size,
             profile->device_decoded ? "GPU" : "CPU");
    describe_file(input, profile->in_file, &profile->in, text);
    snprintf(text, sizeof text, "ran on %s: %s", profile->device, profile->reason);
    gf_message_print("", text);
    if (*profile->found)
        gf_message_print("", profile->found);
    snprintf(text, sizeof text, "%d segment%s, bands of %d rows, %d lane%s", profile->segments,
             gf_text_plural(profile->segments), profile->band_rows, profile->lanes,
             gf_text_plural(profile->lanes));
    gf_message_print("", text);
    gf_batch_fit_text(profile, quality);
    if (profile->frames > 1)
        snprintf(frames, sizeof frames, ", %d frames", profile->frames);
    snprintf(text, sizeof text, "%s, encoded by the %s%s, in %.3f s (%.1f Mpixel/s)", frames,
             profile->device_encoded ? "GPU" : "CPU", quality, profile->wall_s,
             profile->wall_s > 0 ? pixels / profile->wall_s * 1e-6 : 0.0);
    describe_file(output, profile->out_file, &profile->out, text);
}

/* Whether this run is to be profiled. For --profile=compare it is not: the comparison has runs of
 * its own. */
static bool session_is_profiled(const struct gf_command *command)
{
    return command->profile && command->profile < GF_PROFILE_COMPARE;
}

/* Reports the profile. `batch` is the batch of several inputs that the profile is about; NULL for a
 * single input. */
static enum gf_status show_profile(struct gf_session *session, const struct gf_profile *profile,
                                   const struct gf_batch_state *batch, struct gf_error *error)
{
    const struct gf_command *const command = session->command;
    struct gf_profile_report report;
    GF_TRY(gf_profile_report_make(profile, &report, error));
    enum gf_status status = GF_OK;
    if (batch) {
        report.pictures = batch->pictures;
        report.elapsed_s = batch->elapsed_s;
        report.read_s = batch->read_s;
        report.write_s = batch->write_s;
    }
    const struct run_page page = {command, &report, profile, batch ? &session->pictures : NULL};
    /* The sums of the table are computed as if the pictures ran one after another; the page's
     * timeline shows when they really ran. */
    if (command->profile == GF_PROFILE_HTML && batch)
        status = gf_batch_profile_timeline(&session->profile, false, error);
    if (command->profile == GF_PROFILE_HTML && batch && !status)
        status = gf_batch_report_finish(&session->pictures, error);
    if (command->profile == GF_PROFILE_HTML && !status)
        status = gf_report_write(session->page, profile_page_put, &page, error);
    if (command->profile == GF_PROFILE_JSON)
        gf_profile_report_json(&report, profile, gf_report_file(command));
    if (command->profile == GF_PROFILE_TABLE)
        gf_profile_report_table(&report, profile, gf_report_file(command));
    gf_profile_report_free(&report);
    return status;
}

static enum gf_status put_trace(FILE *file, const void *profile, struct gf_error *error)
{
    return gf_trace_write(profile, file, error);
}

/* Reports a picture of a single input. If the input is a stream of pictures, the trace shows the
 * last one. */
static void session_picture(void *context, const char *input, const char *output,
                            const struct gf_profile *profile)
{
    struct gf_session *const session = context;
    struct gf_command *const command = session->command;
    enum gf_status *const status = &session->report_status;
    gf_progress_clear(&session->progress);
    session->pictures_shown = true;
    if (command->verbose)
        describe_run(input, output, profile);
    if (session_is_profiled(command) && !*status)
        *status = show_profile(session, profile, NULL, &session->report_error);
    if (session->trace && !*status)
        *status = gf_report_write(session->trace, put_trace, profile, &session->report_error);
}

/* Keeps the facts about a picture that the page will show. */
static void session_keep_entry(void *context, const struct gf_batch_log_entry *entry)
{
    struct gf_session *const session = context;
    GF_THEN(
        session->report_status,
        gf_batch_report_add(&session->pictures, entry, gf_batch_log_now(), &session->report_error));
}

/* Reports the profile of a batch of several inputs; session_picture() does so for a single
 * input. */
static GF_CHECKED enum gf_status session_report_batch(struct gf_session *session,
                                                      const struct gf_batch_state *state,
                                                      struct gf_error *error)
{
    if (session_is_profiled(session->command))
        GF_TRY(gf_batch_profile_timeline(&session->profile, true, error));
    if (session_is_profiled(session->command))
        GF_TRY(show_profile(session, &session->profile.merged, state, error));
    if (session->trace)
        GF_TRY(gf_batch_profile_timeline(&session->profile, false, error));
    if (session->trace)
        GF_TRY(gf_report_write(session->trace, put_trace, &session->profile.merged, error));
    return GF_OK;
}

/* ---- the whole action, from the devices that the command names to the exit status ---- */

static enum gf_status check_terminals(const struct gf_command *command, struct gf_error *error)
{
    for (int i = 0; i < command->inputs; i++) {
        const char *const path = gf_archive_path(command->input[i]);
        const bool standard = !strcmp(path, "-") || !strcmp(path, "@-");
        if (standard)
            GF_TRY(gf_check_stdin(error));
    }
    for (int i = 0; i < gf_command_outputs(command); i++) {
        const char *const path = gf_archive_path(gf_command_output_at(command, i).output);
        if (!command->dry_run && !strcmp(path, "-") && isatty(STDOUT_FILENO))
            return gf_fail(error, GF_ERROR_USAGE,
                           "standard output is a terminal: redirect it, or name a file with -o");
    }
    return GF_OK;
}

/* Refuses pyramids that an archive cannot hold. */
static enum gf_status check_archived(const char *output, const struct gf_options *options,
                                     struct gf_error *error)
{
    struct gf_pyramid_choice choice;
    GF_TRY(gf_pyramid_choose(options, &choice, error));
    if (choice.layout >= GF_LAYOUT_COG && options->format != GF_FILE_TIFF)
        return gf_fail(error, GF_ERROR_USAGE,
                       "%s: such a pyramid is a TIFF: --format=tiff makes its members one", output);
    return choice.layout <= GF_LAYOUT_ANY || choice.layout >= GF_LAYOUT_COG
               ? GF_OK
               : gf_fail(error, GF_ERROR_USAGE,
                         "%s: a pyramid of files is no member of an archive; -o NAME.zip is one "
                         "picture's tiles",
                         output);
}

/* Reads the name of an output. *folder becomes the folder that holds all outputs of this name, from
 * malloc(); see gf_template_folder(). */
static enum gf_status open_template(const struct gf_session *session, int index,
                                    struct gf_template *template, char **folder,
                                    struct gf_error *error)
{
    const struct gf_command *const command = session->command;
    const struct gf_command_output output = gf_command_output_at(command, index);
    const bool makes_one = command->join || command->sheet || command->fps > 0;
    const bool several =
        !makes_one && (command->inputs > 1 || gf_inputs_is_group(command->input[0]) ||
                       gf_archive_named(command->input[0]));
    enum gf_status status = GF_OK;
    /* A .zip can be an archive of pictures or, for a layout, a pyramid. */
    const bool is_pyramid = gf_archive_path(output.output) == output.output &&
                            gf_pyramid_in_zip(output.output) &&
                            gf_tiles_named(output.output, &output.options),
               is_archive = gf_archive_named(output.output) && !is_pyramid;
    if (is_archive && (status = check_archived(output.output, &output.options, error)))
        return status;
    if (is_archive) {
        status = gf_template_of_archive(output.output, output.options.format, template, error);
        *folder = strdup("");
    } else {
        status = gf_template_parse(output.output, &output.options, several, template, error);
        *folder = status ? NULL : gf_template_folder(template);
    }
    if (!status && !*folder)
        status = gf_fail_memory(error);
    if (!status && several && template->has_number && (command->skip_existing || command->update))
        status = gf_fail(error, GF_ERROR_USAGE,
                         "%.120s: {n} may be the number of another picture in the next run: with "
                         "%s outputs are named by {dir} and {stem}, or --resume goes on",
                         output.output, command->update ? "--update" : "--skip-existing");
    return status;
}

static void name_left_out(const struct gf_inputs *left_out)
{
    for (size_t i = 0; i < left_out->count; i++) {
        struct gf_error line; /* gf_fail() makes one line of the message, whatever the name
                               * contains */
        (void)gf_fail(&line, GF_OK, "%s: not taken for a picture", left_out->item[i].path);
        gf_message_print("", line.text);
    }
}

static enum gf_status open_inputs(struct gf_session *session, struct gf_error *error)
{
    const struct gf_command *const command = session->command;
    const int outputs = gf_command_outputs(command);
    char *folder[GF_PIPELINE_OUTPUTS_MAX] = {0};
    struct gf_inputs left_out = {0};
    enum gf_status status = GF_OK;
    for (int i = 0; !status && i < outputs; i++)
        status = open_template(session, i, &session->output[i], &folder[i], error);
    for (int i = 1; i < outputs; i++) {
        const struct gf_command_output output = gf_command_output_at(command, i);
        session->more[i - 1] =
            (struct gf_batch_output){output.chain, output.options, &session->output[i]};
    }
    const struct gf_inputs_request request = {.argument = command->input,
                                              .count = command->inputs,
                                              .by_number = command->fps > 0,
                                              .recursive = command->recursive,
                                              .nul_separated = command->nul_separated,
                                              .shard = command->shard,
                                              .shards = command->shards,
                                              .outputs = folder,
                                              .outputs_count = outputs,
                                              .left_out = command->verbose ? &left_out : NULL};
    GF_THEN(status, gf_inputs_expand(&request, &session->inputs, error));
    if (!status && command->shards && session->inputs.is_found && !command->quiet)
        gf_message_warn(NULL, "--shard divides what a folder or a pattern has now: if a file comes "
                              "or goes before all parts have begun, others are left out; -i @LIST "
                              "is the same for all parts");
    name_left_out(&left_out);
    gf_inputs_free(&left_out);
    for (int i = 0; i < outputs; i++)
        free(folder[i]);
    return status;
}

static enum gf_status open_logs(struct gf_session *session, struct gf_error *error)
{
    const struct gf_command *const command = session->command;
    const char *const log = command->log ? command->log : command->resume;
    if (command->resume)
        GF_TRY(gf_resume_read(command->resume, &session->inputs, &session->resume, error));
    if (log && !command->dry_run)
        GF_TRY(gf_batch_log_open(log, session->inputs.list, &session->log, error));
    return GF_OK;
}

static enum gf_status split_command(const char *text, const char *option, char ***words,
                                    struct gf_error *error)
{
    struct gf_error why;
    int count;
    const enum gf_status status = text ? gf_shell_words_split(text, words, &count, &why) : GF_OK;
    return status ? gf_fail(error, status, "--%s: %s", option, why.text) : GF_OK;
}

static enum gf_status open_commands(struct gf_session *session, struct gf_error *error)
{
    const struct gf_command *const command = session->command;
    GF_TRY(split_command(command->fetch, "fetch", &session->fetch, error));
    GF_TRY(split_command(command->store, "store", &session->store, error));
    return split_command(command->probe, "probe", &session->probe, error);
}

static enum gf_status open_sheet(struct gf_session *session, struct gf_error *error)
{
    const struct gf_command *const command = session->command;
    if (command->join)
        return gf_sheet_parse(GF_SHEET_JOIN, command->join, &session->sheet, error);
    return command->sheet ? gf_sheet_parse(GF_SHEET_TILES, command->sheet, &session->sheet, error)
                          : GF_OK;
}

/* Lists the files that the chains and the conversion of CMYK read; NULL ends them. What is wrong
 * with a chain is told when the run begins. */
static enum gf_status list_reads(struct gf_session *session, struct gf_error *error)
{
    const struct gf_command *const command = session->command;
    const int outputs = gf_command_outputs(command);
    int count = 0, at = 0;
    for (int k = 0; k < outputs; k++) {
        const char *const text = gf_command_output_at(command, k).chain;
        if (!gf_chain_parse(text ? text : "", &session->chain[k], NULL))
            count += gf_chain_files(&session->chain[k], NULL, 0);
    }
    session->reads = calloc((size_t)count + 2, sizeof *session->reads);
    for (int k = 0; session->reads && k < outputs; k++)
        at += gf_chain_files(&session->chain[k], session->reads + at, count - at);
    if (session->reads)
        session->reads[at] = command->options.cmyk_profile;
    return session->reads ? GF_OK : gf_fail_memory(error);
}

/* Fails if the file is one that the chain of an output reads, or the profile of CMYK. */
static enum gf_status check_reads(const struct gf_session *session, const char *option,
                                  const char *path, struct gf_error *error)
{
    for (int i = 0; path && session->reads[i]; i++) {
        if (gf_input_is_file(session->reads[i], path))
            return gf_fail(
                error, GF_ERROR_USAGE, "%s would replace '%s', which %s reads", option, path,
                session->reads[i] == session->command->options.cmyk_profile ? "the run"
                                                                            : "the chain");
    }
    return GF_OK;
}

/* Fails if the file is an output, an input, a list of inputs, or a file of a chain. */
static enum gf_status check_side_file(const struct gf_session *session, const char *option,
                                      const char *path, struct gf_error *error)
{
    const struct gf_command *const command = session->command;
    struct stat side;
    for (int k = 0; path && k < gf_command_outputs(command); k++) {
        if (gf_output_is_place(path, session->output[k].text))
            return gf_fail(error, GF_ERROR_USAGE, "%s and the output '%s' are the same file",
                           option, session->output[k].text);
    }
    if (!path || stat(path, &side) || !S_ISREG(side.st_mode))
        return GF_OK;
    GF_TRY(check_reads(session, option, path, error));
    for (size_t i = 0; i < session->inputs.count + (size_t)command->inputs + 1; i++) {
        const size_t given = i - session->inputs.count;
        const char *const name = i < session->inputs.count          ? session->inputs.item[i].path
                                 : given == (size_t)command->inputs ? command->chain_file
                                 : *command->input[given] == '@'    ? command->input[given] + 1
                                                                    : NULL;
        if (name && gf_input_is_file(name, path))
            return gf_fail(error, GF_ERROR_USAGE, "%s would replace '%s', which the run reads",
                           option, path);
    }
    return GF_OK;
}

/* Refuses logs and files for figures that are the same file, or would replace what the run reads,
 * and outputs of one name that would. */
static enum gf_status check_files(struct gf_session *session, struct gf_error *error)
{
    const struct gf_command *const command = session->command;
    const struct gf_side_file log = {"the log", command->log ? command->log : command->resume};
    struct gf_side_file *const side = session->side;
    struct stat file;
    side[0] = (struct gf_side_file){"--metrics", command->metrics};
    side[1] = (struct gf_side_file){"--trace", command->trace};
    side[2] = (struct gf_side_file){"the page of --profile", command->page};
    GF_TRY(list_reads(session, error));
    GF_TRY(check_reads(session, log.option, log.path, error));
    for (int k = 0; !command->in_place && k < gf_command_outputs(command); k++)
        GF_TRY(check_reads(session, "the output", session->output[k].text, error));
    for (int i = 0; i < GF_SIDE_FILES; i++) {
        const char *const path = side[i].path;
        GF_TRY(check_side_file(session, side[i].option, path, error));
        for (int k = i + 1; path && k <= GF_SIDE_FILES; k++) {
            const struct gf_side_file other = k < GF_SIDE_FILES ? side[k] : log;
            if (other.path && (stat(path, &file) || S_ISREG(file.st_mode)) &&
                (gf_output_is_place(path, other.path) || gf_input_is_file(path, other.path)))
                return gf_fail(error, GF_ERROR_USAGE, "%s and %s are the same file: '%s'",
                               side[i].option, other.option, path);
        }
    }
    return GF_OK;
}

static enum gf_status open_session(struct gf_session *session, struct gf_error *error)
{
    struct gf_command *const command = session->command;
    enum gf_status status = check_terminals(command, error);
    GF_THEN(status, open_sheet(session, error));
    GF_THEN(status, open_inputs(session, error));
    GF_THEN(status, check_files(session, error));
    /* The metrics, the trace, the page and the logs are opened before any work, so that an error
     * shows at once. */
    struct gf_output *metrics = NULL; /* not written before all outputs have names */
    if (!status && command->metrics)
        status = gf_report_open(command->metrics, &metrics, error);
    gf_output_close(metrics);
    if (!status && command->trace)
        status = gf_report_open(command->trace, &session->trace, error);
    if (!status && command->profile == GF_PROFILE_HTML)
        status = gf_report_open(command->page, &session->page, error);
    GF_THEN(status, open_commands(session, error));
    GF_THEN(status, open_logs(session, error));
    session->progress =
        gf_progress_make(gf_message_file(), command->quiet ? GF_PROGRESS_NONE : command->progress,
                         session->inputs.count);
    return status;
}

static void close_session(struct gf_session *session)
{
    gf_inputs_free(&session->inputs);
    gf_sheet_free(&session->sheet);
    for (int i = 0; i < gf_command_outputs(session->command); i++)
        gf_template_free(&session->output[i]);
    for (int i = 0; i < GF_PIPELINE_OUTPUTS_MAX; i++)
        gf_chain_free(&session->chain[i]);
    free(session->reads);
    gf_batch_log_close(session->log);
    gf_resume_free(session->resume);
    gf_batch_profile_free(&session->profile);
    gf_batch_report_free(&session->pictures);
    free(session->fetch);
    free(session->store);
    free(session->probe);
    gf_output_close(session->trace);
    gf_output_close(session->page);
}

static enum gf_status find_devices(struct gf_session *session, int *count, struct gf_error *error)
{
    const char *why = "";
    *count = session->command->devices;
    if (!session->command->all_devices)
        return GF_OK;
    *count = gf_batch_count_devices(&why);
    *count = *count < GF_COMMAND_DEVICES_MAX ? *count : GF_COMMAND_DEVICES_MAX;
    for (int i = 0; i < *count; i++)
        session->all_devices[i] = i;
    return *count
               ? GF_OK
               : gf_fail(error, GF_ERROR_UNAVAILABLE, "--device=cuda:all: no CUDA device: %s", why);
}

/* Loads the figures if there is a GPU, since estimates matter only then. */
static void load_figures(struct gf_session *session)
{
    const char *why_not;
    if (session->command->verbose || gf_backend_cuda_node(&why_not))
        gf_figures_load(&session->figures);
}

static void drop_warning(void *context, const char *text)
{
    (void)context;
    (void)text;
}

/* Prints which fonts of this machine were used to draw texts, since the results depend on them. */
static void describe_fonts(void)
{
    const char *path;
    for (int i = 0; (path = gf_text_font_used(i)); i++) {
        struct gf_error line;
        (void)gf_fail(&line, GF_OK, "text: in a font of this machine: %s", path);
        gf_message_print("", line.text);
    }
}

static enum gf_status run_batch(struct gf_session *session, struct gf_error *error)
{
    struct gf_command *const command = session->command;
    const bool reports = command->verbose || session_is_profiled(command) || session->trace;
    const bool several =
        gf_inputs_total(&session->inputs) > 1 || command->more_outputs || command->fetch ||
        command->store ||
        (session->inputs.count && gf_archive_named(session->inputs.item[0].path)) ||
        session->output[0].is_archive;
    const bool profiled = session_is_profiled(command) || session->trace;
    struct gf_batch_state state;
    const struct gf_transfer_options transfer = {.fetch = session->fetch,
                                                 .store = session->store,
                                                 .probe = session->probe,
                                                 .tries = command->transfer_tries,
                                                 .timeout_s = command->transfer_timeout,
                                                 .space = command->transfer_space};
    /* For several pictures the peaks are not measured: measuring them takes longer than filtering
     * most pictures. */
    command->options.profile = profiled && !several;
    command->options.spans = profiled;
    command->options.warn =
        /* Not NULL, so that the batch collects warnings; it replaces the function. */
        command->quiet ? NULL : drop_warning;
    struct gf_batch_request request = {
        .chain = command->chain,
        .options = command->options,
        .inputs = &session->inputs,
        .output = session->output,
        .more = session->more,
        .more_outputs = command->more_outputs,
        .device = command->all_devices ? session->all_devices : command->device,
        .helpers = true,
        .server = command->server,
        .server_idle_s = command->idle_s ? command->idle_s : GF_SERVER_IDLE_S,
        .skip_existing = command->skip_existing,
        .update = command->update,
        .in_place = command->in_place,
        .is_group = command->inputs > 1 || gf_inputs_is_group(command->input[0]),
        .fail_fast = command->fail_fast,
        .raw = command->raw,
        .fps = command->fps,
        .on_failure = command->on_failure,
        .plain_members = command->untrusted,
        .dry_run = command->dry_run,
        .process_ends = true,
        .verbose = command->verbose,
        .transfer = transfer.fetch || transfer.store ? &transfer : NULL,
        .log = session->log,
        .side = session->side,
        .reads = session->reads,
        .resume = session->resume,
        .message = session_message,
        .picture = reports ? session_picture : NULL,
        .tick =
            session->progress.form == GF_PROGRESS_NONE && !command->metrics ? NULL : session_tick,
        .tick_s = session->progress.tick_s,
        .profile = profiled ? &session->profile : NULL,
        .entry = session->page ? session_keep_entry : NULL,
        .figures = &session->figures,
        .counts = several ? gf_summary_prepare(command) : NULL,
        .context = session};
    gf_batch_choose_queues(&request);
    GF_TRY(find_devices(session, &request.devices, error));
    if (command->join || command->sheet)
        GF_TRY(gf_sheet_prepare(&session->sheet, &request, error));
    gf_batch_begin_devices(&request);
    if (!several)
        gf_output_keep_replaced();
    load_figures(session);
    const enum gf_status ran = gf_batch_run(&request, &state, error);
    gf_progress_clear(&session->progress);
    gf_message_more_warnings();
    if (!ran && (several || state.left_out) && !command->dry_run && !command->quiet &&
        session->progress.form != GF_PROGRESS_JSON) {
        char text[300];
        gf_summary_make(&state, text, sizeof text);
        gf_progress_clear(&session->progress);
        gf_message_print("", text);
    }
    if (command->verbose)
        describe_fonts();
    if (command->verbose)
        gf_summary_start();
    if (!session->pictures_shown && session->profile.pictures && !session->report_status)
        session->report_status = session_report_batch(session, &state, &session->report_error);
    return ran;
}

enum gf_status gf_act_filter(struct gf_command *command, struct gf_error *error)
{
    /* Static because it takes 44 KB, of which a run writes little. */
    static struct gf_session session;
    session.command = command;
    enum gf_status status = open_session(&session, error);
    GF_THEN(status, run_batch(&session, error));
    gf_progress_clear(&session.progress);
    gf_message_add_error(session.report_status, &session.report_error, &status, error);
    close_session(&session);
    return status;
}
