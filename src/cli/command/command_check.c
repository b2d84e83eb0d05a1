#include "cli/command/command.h"

#include <string.h>

#include "base/fail.h"
#include "base/process/machine.h"
#include "batch/log/batch_log.h"
#include "batch/names/names.h"
#include "codec/layouts/layouts.h"

/* Refuses options that need -o if there is none: without -o only reports are possible. */
static enum gf_status check_without_output(const struct gf_command *command, struct gf_error *error)
{
    if (command->trace)
        return gf_fail(error, GF_ERROR_USAGE,
                       "--trace needs a run that writes a picture: -o FILE is missing");
    if (command->action == GF_ACTION_EXPLAIN || command->profile >= GF_PROFILE_COMPARE)
        return GF_OK;
    if (command->in_place)
        return gf_fail(error, GF_ERROR_USAGE,
                       "-o is missing: --in-place lets outputs replace their inputs: -o %.200s",
                       command->input[0]);
    return gf_fail(error, GF_ERROR_USAGE, "-o FILE is missing: the picture to write");
}

/* Refuses several pictures or devices with --explain and --profile=compare, which use one picture
 * on one device. */
static enum gf_status check_single(const struct gf_command *command, struct gf_error *error)
{
    static const char reports[] = "--explain and --profile=compare work on one",
                      twice[] = "--profile=compare with -o reads the picture twice";
    const char *const input = command->input[0];
    if (command->inputs > 1)
        return gf_fail(error, GF_ERROR_USAGE, "%s picture, not on %d", reports, command->inputs);
    if (gf_inputs_is_group(input))
        return gf_fail(error, GF_ERROR_USAGE,
                       "%s picture, not on a folder, a pattern or a list: '%.100s'", reports,
                       input);
    if (gf_archive_named(input))
        return gf_fail(error, GF_ERROR_USAGE, "%s picture, not on an archive: '%.100s'", reports,
                       input);
    if (command->all_devices || command->devices > 1)
        return gf_fail(error, GF_ERROR_USAGE, "%s GPU, not on several", reports);
    if (command->more_outputs && command->profile >= GF_PROFILE_COMPARE)
        return gf_fail(error, GF_ERROR_USAGE, "--profile=compare works on one output, not on %d",
                       gf_command_outputs(command));
    if (command->action == GF_ACTION_EXPLAIN || !command->output)
        return GF_OK;
    if (!strcmp(input, "-"))
        return gf_fail(error, GF_ERROR_USAGE, "%s, which standard input does not allow", twice);
    if (!strcmp(input, command->output))
        return gf_fail(error, GF_ERROR_USAGE, "%s, so that -o must be another file", twice);
    return GF_OK;
}

/* Refuses a chain that would be ignored, as in "--devices measure". */
static enum gf_status check_no_chain(const struct gf_command *command, struct gf_error *error)
{
    int i = 0;
    const enum gf_action action = command->action;
    if (!command->chain ||
        (action != GF_ACTION_LAB && action != GF_ACTION_DEVICES && action != GF_ACTION_LIST &&
         action != GF_ACTION_EXAMPLES && action != GF_ACTION_SERVE))
        return GF_OK;
    while (gf_option_at(i)->action != action)
        i++;
    return gf_fail(error, GF_ERROR_USAGE, "--%s takes no chain: '%.80s'", gf_option_at(i)->name,
                   command->chain);
}

static bool is_output(const struct gf_command *command, const char *file)
{
    bool is = false;
    for (int i = 0; i < gf_command_outputs(command); i++) {
        const char *const output = gf_command_output_at(command, i).output;
        is |= output && !strcmp(file, output);
    }
    return is;
}

/* Refuses a page that would replace another file. */
static enum gf_status check_page(const struct gf_command *command, struct gf_error *error)
{
    const char *const page = command->page;
    if (page && is_output(command, page))
        return gf_fail(error, GF_ERROR_USAGE, "the page and --output are the same file");
    if (page && command->trace && !strcmp(page, command->trace))
        return gf_fail(error, GF_ERROR_USAGE, "the page and --trace are the same file");
    for (int i = 0; page && i < command->inputs; i++) {
        if (!strcmp(page, command->input[i]) && strcmp(page, "-"))
            return gf_fail(error, GF_ERROR_USAGE, "the page and --input are the same file");
    }
    return GF_OK;
}

/* Fails if the command line names the same file for two purposes, such as the log and the trace. */
static enum gf_status check_files(const struct gf_command *command, struct gf_error *error)
{
    const bool pattern = command->resume && gf_resume_is_pattern(command->resume);
    if (pattern && !command->log)
        return gf_fail(error, GF_ERROR_USAGE,
                       "--resume=%.100s reads several logs; --log=FILE says where new lines go",
                       command->resume);
    if (command->resume && command->log && !pattern && strcmp(command->resume, command->log))
        return gf_fail(error, GF_ERROR_USAGE,
                       "--log and --resume name different files, but --resume continues its log");
    const char *const log = command->log ? command->log : command->resume;
    if (log && is_output(command, log))
        return gf_fail(error, GF_ERROR_USAGE, "the log and --output are the same file");
    if (command->metrics && is_output(command, command->metrics))
        return gf_fail(error, GF_ERROR_USAGE, "--metrics and --output are the same file");
    if (command->trace && is_output(command, command->trace))
        return gf_fail(error, GF_ERROR_USAGE, "--trace and --output are the same file");
    for (int i = 0; command->trace && i < command->inputs; i++) {
        if (!strcmp(command->trace, command->input[i]))
            return gf_fail(error, GF_ERROR_USAGE, "--trace and --input are the same file");
    }
    return GF_OK;
}

/* Refuses options that do not suit --fps, which makes one film of several pictures. */
static enum gf_status check_fps(const struct gf_command *command, struct gf_error *error)
{
    const char *const unfit = command->more_outputs                  ? "several -o"
                              : command->join || command->sheet      ? "--join and --sheet"
                              : command->fetch || command->store     ? "--fetch and --store"
                              : command->raw                         ? "--raw"
                              : command->action == GF_ACTION_EXPLAIN ? "--explain"
                              : command->shards                      ? "--shard"
                              : command->dry_run                     ? "--dry-run"
                              : command->output && gf_archive_named(command->output)
                                  ? "an archive as the output"
                                  : NULL;
    return command->fps > 0 && unfit
               ? gf_fail(error, GF_ERROR_USAGE, "--fps makes one film or animation: without %s",
                         unfit)
               : GF_OK;
}

/* Refuses options for transfers that do not fit together. */
static enum gf_status check_transfers(const struct gf_command *command, struct gf_error *error)
{
    if (command->probe && !command->store)
        return gf_fail(error, GF_ERROR_USAGE, "--probe prints the record of what --store stores");
    if (command->store && command->options.no_clobber)
        return gf_fail(error, GF_ERROR_USAGE,
                       "--no-clobber cannot know what is there where --store puts it");
    if (command->store && command->options.keep_times)
        return gf_fail(error, GF_ERROR_USAGE,
                       "--keep-times cannot set the times of what --store puts elsewhere");
    for (int i = 0; command->store && i < gf_command_outputs(command); i++) {
        const struct gf_command_output output = gf_command_output_at(command, i);
        if (gf_tiles_named(output.output, &output.options) && !gf_pyramid_in_zip(output.output))
            return gf_fail(error, GF_ERROR_USAGE,
                           "%s: --store stores files, and this is a folder: "
                           "a .szi or .zip is one file",
                           output.output);
    }
    return GF_OK;
}

/* Checks the files of --report: the report must not replace one of the files that it reads. */
static enum gf_status check_report(const struct gf_command *command, struct gf_error *error)
{
    if (command->chain)
        return gf_fail(error, GF_ERROR_USAGE, "--report=FILE comes before what it reads, '%.80s'",
                       command->chain);
    if (!command->inputs)
        return gf_fail(
            error, GF_ERROR_USAGE,
            "--report: what it reads is missing: saved profiles, comparisons, labs, logs, records");
    for (int i = 0; i < command->inputs; i++) {
        if (!strcmp(command->page, command->input[i]) && strcmp(command->page, "-"))
            return gf_fail(error, GF_ERROR_USAGE,
                           "the page and a report are the same file: '%.100s'", command->page);
    }
    return GF_OK;
}

/* Checks the files of --compare, which reads two pictures and draws one. */
static enum gf_status check_compare(const struct gf_command *command, struct gf_error *error)
{
    if (command->inputs < 1 || command->inputs > 2 || command->chain)
        return gf_fail(error, GF_ERROR_USAGE,
                       "--compare=FILE takes one other picture behind it: --compare=a.png b.png");
    if (command->more_outputs)
        return gf_fail(error, GF_ERROR_USAGE, "--compare has one output, not %d",
                       gf_command_outputs(command));
    return GF_OK;
}

/* Sets each option that still has its default to its value for pictures from strangers. */
static void distrust(struct gf_options *options)
{
    const struct gf_options usual = gf_command_options();
    const uint64_t memory = gf_memory_picture_bytes(), gib = (uint64_t)1 << 30;
    if (options->sandbox == usual.sandbox)
        options->sandbox = GF_SANDBOX_ALL;
    if (!options->memory_bytes)
        options->memory_bytes = memory < gib ? memory : gib;
    if (options->max_pixels == usual.max_pixels)
        options->max_pixels = 64000000;
    if (options->timeout_s <= 0)
        options->timeout_s = 30;
    if (!options->max_output_bytes)
        options->max_output_bytes = (uint64_t)256 << 20;
}

void gf_command_distrust(struct gf_command *command)
{
    distrust(&command->options);
    distrust(&command->all.options);
    for (int i = 0; i < command->more_outputs; i++)
        distrust(&command->more[i].options);
}

/* Checks the arguments of --info and --duplicates, which read pictures and write none. */
static enum gf_status check_info(const struct gf_command *command, struct gf_error *error)
{
    const char *const option = command->duplicates ? "--duplicates" : "--info";
    if (command->output)
        return gf_fail(error, GF_ERROR_USAGE, "%s writes no picture: '-o %.80s'", option,
                       command->output);
    if (command->duplicates && command->form > GF_INFO_JSON)
        return gf_fail(error, GF_ERROR_USAGE,
                       "--duplicates prints groups, as JSON with --info=json; --info=%s is another "
                       "report",
                       command->form >= GF_INFO_STATISTICS ? "statistics" : "hash");
    if (command->form < GF_INFO_STATISTICS && (command->chain || command->chain_file))
        return gf_fail(error, GF_ERROR_USAGE,
                       "%s: '%.80s' is no file, and only --info=statistics takes a chain", option,
                       command->chain ? command->chain : command->chain_file);
    return command->inputs ? GF_OK
                           : gf_fail(error, GF_ERROR_USAGE,
                                     "%s: -i FILE is missing: the picture to read", option);
}

/* Refuses options that do not suit --join and --sheet, which make one picture of several. */
static enum gf_status check_sheet(const struct gf_command *command, struct gf_error *error)
{
    const char *const option = command->join ? "--join" : "--sheet";
    const struct {
        bool given;
        const char *name;
    } unfit[] = {
        {command->join && command->sheet, "--sheet"},
        {command->more_outputs, "several -o"},
        {command->action == GF_ACTION_EXPLAIN, "--explain"},
        {command->profile || command->trace, "--profile and --trace"},
        {command->log || command->resume, "--log and --resume"},
        {command->skip_existing || command->update, "--skip-existing and --update"},
        {command->fetch || command->store, "--fetch and --store"},
        {command->shards, "--shard"},
        {command->options.keep_times, "--keep-times"},
    };
    for (size_t i = 0; (command->join || command->sheet) && i < sizeof unfit / sizeof *unfit; i++) {
        if (unfit[i].given)
            return gf_fail(error, GF_ERROR_USAGE, "%s makes one picture of several: without %s",
                           option, unfit[i].name);
    }
    return GF_OK;
}

enum gf_status gf_command_check(const struct gf_command *command, struct gf_error *error)
{
    if (command->action == GF_ACTION_COMPARE)
        return check_compare(command, error);
    if (command->action == GF_ACTION_INFO)
        return check_info(command, error);
    if (command->action == GF_ACTION_REPORT)
        return check_report(command, error);
    if (command->action != GF_ACTION_FILTER && command->action != GF_ACTION_EXPLAIN)
        return check_no_chain(command, error);
    if (!command->inputs)
        return gf_fail(error, GF_ERROR_USAGE,
                       "-i FILE is missing: the picture to read (--help explains)");
    for (int i = -1; i < gf_command_outputs(command); i++) {
        const struct gf_command_output output =
            i < 0 ? command->all : gf_command_output_at(command, i);
        if (output.chain && output.chain_file)
            return gf_fail(error, GF_ERROR_USAGE, "two chains: '%.80s', and --chain-file",
                           output.chain);
    }
    const bool report =
        command->action == GF_ACTION_EXPLAIN || command->profile >= GF_PROFILE_COMPARE;
    GF_TRY(check_sheet(command, error));
    GF_TRY(check_fps(command, error));
    if (report)
        GF_TRY(check_single(command, error));
    GF_TRY(check_page(command, error));
    if (!command->output)
        return check_without_output(command, error);
    GF_TRY(check_transfers(command, error));
    return check_files(command, error);
}
