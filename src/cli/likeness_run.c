/* --compare: compares the pictures of two files, of two films, or of two folders. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cpu.h"
#include "base/fail.h"
#include "base/image.h"
#include "base/memory/grow.h"
#include "base/process/machine.h"
#include "base/threads/ordered.h"
#include "base/threads/times.h"
#include "batch/devices/devices.h"
#include "batch/names/names.h"
#include "batch/request/request.h"
#include "cli/likeness.h"
#include "codec/cell/cell.h"
#include "codec/codec.h"
#include "codec/common/checks.h"
#include "codec/layouts/layouts.h"
#include "report/text.h"
#include "server/server.h"

static enum gf_status write_picture(const struct gf_command *command,
                                    enum gf_file_format file_format, const struct gf_image *picture,
                                    struct gf_error *error)
{
    const struct gf_metadata nothing = {.orientation = 1};
    struct gf_output *output = NULL;
    struct gf_sink *sink = NULL;
    enum gf_status status = gf_report_open(command->output, &output, error);
    if (!status)
        status = gf_sink_open(output, file_format, picture->format, &nothing, &command->options,
                              &sink, error);
    if (!status)
        status = sink->write(sink, picture->format.height, picture->data, picture->pitch, error);
    if (!status)
        status = sink->finish(sink, error);
    if (!status)
        status = gf_output_commit(output, error);
    if (sink)
        sink->close(sink);
    if (output)
        gf_output_close(output);
    return status;
}

static enum gf_status draw(const struct gf_command *command, enum gf_file_format file_format,
                           const struct gf_image *a, const struct gf_image *b,
                           struct gf_error *error)
{
    struct gf_image picture = {0};
    enum gf_status status = gf_likeness_draw(a, b, &picture, error);
    if (!status)
        status = write_picture(command, file_format, &picture, error);
    gf_image_free(&picture);
    return status;
}

static enum gf_status check_formats(const char *name, struct gf_format a, const char *other,
                                    struct gf_format b, struct gf_error *error)
{
    char text[GF_TEXT_FORMAT_SIZE], other_text[GF_TEXT_FORMAT_SIZE];
    if (gf_same_format(a, b))
        return GF_OK;
    return gf_fail(error, GF_ERROR_UNFIT,
                   "%.100s is %s, %.100s is %s: only pictures of one format can be compared", name,
                   gf_text_format(a, text), other, gf_text_format(b, other_text));
}

/* What --compare does. */
struct run {
    const struct gf_command *command;
    const char *name[2];
    struct gf_likeness_limits limits;
    struct gf_options options;
    enum gf_file_format drawn; /* the format of the drawing */
    struct gf_likeness_pairs pairs;
};

/* Finds the format of the drawing, if -o asks for a drawing. Refuses a drawing that would replace
 * one of the compared pictures. */
static enum gf_status check_output(struct run *run, struct gf_error *error)
{
    const char *const output = run->command->output;
    if (!output)
        return GF_OK;
    if (gf_tiles_named(output, &run->command->options))
        return gf_fail(error, GF_ERROR_USAGE, "%s: a drawing of --compare is no pyramid", output);
    if (!strcmp(output, "-") || (strcmp(output, run->name[0]) && strcmp(output, run->name[1])))
        return gf_sink_format(output, &run->command->options, GF_FILE_PNG, &run->drawn, error);
    return gf_fail(error, GF_ERROR_USAGE,
                   "--output and a compared picture are the same file: '%.100s'", output);
}

/* What a job has found, in the order in which it is told. */
struct found {
    char *text; /* the second picture's name, or a warning */
    bool is_warning;
    struct gf_likeness likeness;
};

/* The comparison of two files beside others. */
struct job {
    struct gf_options options;
    struct gf_memory_budget *budget;
    struct gf_device_pair *on_device;
    struct found *found;
    size_t count;
    enum gf_status status;
    struct gf_error error;
};

static enum gf_status keep(struct job *job, const char *text, const struct gf_likeness *likeness,
                           struct gf_error *error)
{
    char *const copy = strdup(text);
    if (!copy || !GF_GROW(job->found, job->count)) {
        free(copy);
        return gf_fail_memory(error);
    }
    job->found[job->count++] = (struct found){
        copy, !likeness, likeness ? *likeness : (struct gf_likeness){.of_floats = false}};
    return GF_OK;
}

static void keep_warning(void *job, const char *text)
{
    (void)!keep(job, text, NULL, NULL);
}

/* Tells what is found of a pair, or leaves that to whoever takes the job. */
static enum gf_status tell(struct run *run, struct job *job, const char *name,
                           const struct gf_likeness *likeness, struct gf_error *error)
{
    if (job)
        return keep(job, name, likeness, error);
    gf_likeness_tell(gf_report_file(run->command), &run->limits, &run->pairs, name, likeness);
    return GF_OK;
}

/* Measures the present pictures of both files. */
static enum gf_status measure(struct run *run, struct gf_reading reading[2],
                              const char *const name[2], struct job *job, struct gf_error *error)
{
    const struct gf_image *const a = &reading[0].picture, *const b = &reading[1].picture;
    struct gf_likeness likeness = {.of_floats = false};
    GF_TRY(gf_readings_match(reading, error));
    GF_TRY(check_formats(name[0], a->format, name[1], b->format, error));
    GF_TRY(gf_likeness_of_readings(reading, &likeness, error));
    GF_TRY(tell(run, job, name[1], &likeness, error));
    return run->command->output ? draw(run->command, run->drawn, a, b, error) : GF_OK;
}

static enum gf_status refuse_drawing(const struct run *run, struct gf_error *error)
{
    return gf_fail(error, GF_ERROR_USAGE, "--compare draws two pictures, not several: '%.100s'",
                   run->command->output);
}

/* Connects to a server that may compare two files in place of this process's GPU. */
static void find_server(const struct run *run, struct gf_device_pair *pair)
{
    const struct gf_command *const command = run->command;
    const struct gf_options *const options = &run->options;
    const int idle_s = command->idle_s ? command->idle_s : GF_SERVER_IDLE_S;
    bool silent;
    if (options->device == GF_DEVICE_CPU || !gf_server_may_run("", options) ||
        !gf_likeness_suits_device(options, run->limits.printed))
        return;
    pair->remote = gf_batch_find_server(command->server, options->device_index, idle_s, &silent);
    if (silent)
        gf_warn(options, "the server does not answer; the pictures are compared without it");
}

/* Compares the pictures of two files one after another. */
static enum gf_status compare_readings(struct run *run, struct gf_reading reading[2],
                                       const char *const name[2], struct job *job,
                                       struct gf_device_pair *on_device, struct gf_error *error)
{
    struct gf_likeness likeness;
    bool compared = false;
    int length[2];
    for (int i = 0; i < 2; i++) {
        const struct gf_pages other = reading[1 - i].pages;
        struct gf_pages unused;
        const size_t split = gf_input_split_pages(name[i], &unused);
        length[i] = (int)(split ? split : strlen(name[i]));
        if (reading[i].pages.first < 0 && other.last >= 0)
            reading[i].pages = other;
    }
    const bool frames = reading[0].pages.last >= 0 || reading[1].pages.last >= 0;
    if (!job)
        run->pairs.several = frames;
    if (run->pairs.several && run->command->output)
        return refuse_drawing(run, error);
    if (!frames && !run->command->output && !job)
        find_server(run, on_device);
    if (!frames && !run->command->output)
        GF_TRY(gf_likeness_on_device(on_device, reading, &likeness, &compared, error));
    if (compared)
        return tell(run, job, name[1], &likeness, error);
    for (bool found[2] = {true, true};;) {
        char text[2][GF_LIKENESS_NAME_SIZE];
        for (int i = 0; i < 2; i++) {
            GF_TRY(gf_reading_next(&reading[i], &found[i], error));
            snprintf(text[i], GF_LIKENESS_NAME_SIZE, frames ? "%.*s[%d]" : "%.*s", length[i],
                     name[i], reading[i].pages.first + reading[i].count - 1);
        }
        if (found[0] != found[1])
            return gf_fail(error, GF_ERROR_UNFIT, "%.100s has %d picture%s, and %.100s has more",
                           name[found[0]], reading[found[0]].count,
                           gf_text_plural(reading[found[0]].count), name[found[1]]);
        if (!found[0])
            return GF_OK;
        GF_TRY(
            measure(run, reading,
                    (const char *const[]){frames ? text[0] : name[0], frames ? text[1] : name[1]},
                    job, error));
        if (!frames)
            return GF_OK;
    }
}

/* Compares two files, as a job beside others unless `job` is NULL. */
static enum gf_status compare_files(struct run *run, const char *const name[2], struct job *job,
                                    struct gf_error *error)
{
    const struct gf_options *const options = job ? &job->options : &run->options;
    const double seconds = options->timeout_s;
    struct gf_reading reading[2] = {{.count = 0}};
    struct gf_device_pair own = {.pipeline = NULL};
    enum gf_status status = GF_OK;
    gf_time_limit_set(seconds > 0 ? gf_now() + seconds : 0);
    for (int i = 0; i < 2 && !status; i++)
        status = gf_reading_open(name[i], options, run->limits.printed, &reading[i], error);
    if (!status && job)
        reading[0].budget = job->budget;
    GF_THEN(status, compare_readings(run, reading, name, job, job ? job->on_device : &own, error));
    gf_device_pair_close(&own);
    gf_reading_close(&reading[1]);
    gf_reading_close(&reading[0]);
    status = gf_time_tell(name[1], seconds, status, error);
    gf_time_limit_set(0);
    return status;
}

/* ---- two folders ---- */

enum { SLOTS = 256 };

struct folders {
    struct run *run;
    struct gf_input_pair *pair;
    size_t count;
    struct gf_memory_budget budget;   /* for the pairs that are compared at the same time */
    struct gf_device_pair *on_device; /* one for each worker */
    struct job job[SLOTS];
};

/* Tells that the file has no partner in the other folder. */
static void tell_alone(struct run *run, const char *path, const char *other)
{
    struct gf_error why;
    (void)gf_fail(&why, GF_OK, "%s: has no partner in %s", path, other);
    run->pairs.alone++;
    gf_message_print("", why.text);
    gf_likeness_tell_failure(gf_report_file(run->command), &run->limits, path, &why);
}

/* Prints what the job has found, and its failure, which does not end the run. */
static void tell_job(struct run *run, struct job *job, const char *name, enum gf_status *status,
                     struct gf_error *error)
{
    FILE *const file = gf_report_file(run->command);
    for (size_t i = 0; i < job->count; i++) {
        const struct found *const found = &job->found[i];
        if (found->is_warning)
            gf_message_warn(NULL, found->text);
        else
            gf_likeness_tell(file, &run->limits, &run->pairs, found->text, &found->likeness);
        free(found->text);
    }
    free(job->found);
    if (job->status) {
        gf_name_options_as_typed(job->error.text);
        gf_likeness_tell_failure(file, &run->limits, name, &job->error);
    }
    gf_message_add_error(job->status, &job->error, status, error);
}

static enum gf_status compare_pair(void *context, int thread, int item, struct gf_error *error)
{
    struct folders *const folders = context;
    struct run *const run = folders->run;
    struct job *const job = &folders->job[item % SLOTS];
    const char *const *const path = folders->pair[item].path;
    (void)error;
    *job = (struct job){.options = run->options,
                        .budget = &folders->budget,
                        .on_device = &folders->on_device[thread]};
    job->options.warn = run->options.warn ? keep_warning : NULL;
    job->options.warn_context = job;
    if (path[0] && path[1])
        job->status = compare_files(run, path, job, &job->error);
    return GF_OK; /* the other pairs are compared, too */
}

/* Pairs that a GPU compares at the same time at least: 16 threads compare 1,270 to 1,460 pairs of
 * 1920 x 1080 a second on an H200 with 16 processors, 32 threads 1,110 to 1,320. */
enum { PAIRS_ON_DEVICE = 16 };

/* Returns how many pairs are compared at the same time: as many as there are threads; more, which
 * wait for it, where a GPU decodes them. */
static int count_workers(const struct run *run, int threads, int pairs)
{
    const bool waits = !run->options.threads && threads < PAIRS_ON_DEVICE &&
                       run->options.device == GF_DEVICE_CUDA &&
                       gf_likeness_suits_device(&run->options, run->limits.printed);
    const int workers = gf_batch_most_workers(waits ? PAIRS_ON_DEVICE : threads);
    return workers < pairs ? workers : pairs ? pairs : 1;
}

/* Compares the pairs by several threads, and tells what they find in the order of the names. */
static enum gf_status compare_pairs(struct folders *folders, struct gf_error *error)
{
    struct run *const run = folders->run;
    const int threads = run->options.threads ? run->options.threads : gf_cpu_count(),
              count = (int)folders->count, workers = count_workers(run, threads, count);
    const struct gf_ordered_setup setup = {
        .call = compare_pair, .context = folders, .threads = workers, .slots = SLOTS};
    struct gf_ordered *ordered;
    enum gf_status status = GF_OK;
    run->options.threads = threads > workers ? threads / workers : 1;
    run->options.serial |= workers > 1 && run->options.threads == 1;
    folders->on_device = calloc((size_t)workers, sizeof *folders->on_device);
    GF_ALLOCATED(folders->on_device, error);
    GF_TRY(gf_ordered_open(&setup, &ordered, error));
    for (int i = 0; i < count && !gf_ordered_next(ordered, count, error); i++) {
        const char *const *const path = folders->pair[i].path;
        if (path[0] && path[1])
            tell_job(run, &folders->job[i % SLOTS], path[1], &status, error);
        else
            tell_alone(run, path[!path[0]], run->name[path[0] != NULL]);
    }
    gf_ordered_close(ordered);
    for (int i = 0; i < workers; i++)
        gf_device_pair_close(&folders->on_device[i]);
    return status;
}

static enum gf_status compare_folders(struct run *run, struct gf_error *error)
{
    const uint64_t bytes = run->options.memory_bytes;
    struct gf_inputs list[2] = {{.item = NULL}};
    enum gf_status status = GF_OK;
    run->pairs.several = true;
    if (run->command->output)
        return refuse_drawing(run, error);
    GF_NEW(struct folders, folders, error);
    folders->run = run;
    gf_memory_budget_open(&folders->budget, bytes ? bytes : gf_memory_pictures_bytes(), 1);
    for (int i = 0; i < 2 && !status; i++) {
        const struct gf_inputs_request request = {
            .argument = &run->name[i], .count = 1, .recursive = run->command->recursive};
        status = gf_inputs_expand(&request, &list[i], error);
    }
    GF_THEN(status, gf_inputs_pair(list, &folders->pair, &folders->count, error));
    gf_cells_join();
    GF_THEN(status, compare_pairs(folders, error));
    gf_cells_leave();
    gf_memory_budget_close(&folders->budget);
    gf_inputs_free(&list[0]);
    gf_inputs_free(&list[1]);
    free(folders->on_device);
    free(folders->pair);
    free(folders);
    return status;
}

static bool is_folder(const char *name)
{
    struct stat file;
    return !stat(name, &file) && S_ISDIR(file.st_mode);
}

static enum gf_status compare(struct run *run, struct gf_error *error)
{
    const bool folder = is_folder(run->name[0]);
    if (folder != is_folder(run->name[1]))
        return gf_fail(error, GF_ERROR_UNFIT, "%.100s is a folder, and %.100s is none",
                       run->name[!folder], run->name[folder]);
    return folder ? compare_folders(run, error) : compare_files(run, run->name, NULL, error);
}

/* Reads the value of --compare, "a.png:json" before another picture or "json" before both. */
static enum gf_status begin(struct run *run, char *value, struct gf_error *error)
{
    const struct gf_command *const command = run->command;
    const bool two = command->inputs == 2;
    GF_TRY(gf_likeness_take_limits(value, &run->limits, error));
    if (two == (*value != '\0'))
        return two ? gf_fail(
                         error, GF_ERROR_USAGE, "%s",
                         "--compare=FILE takes one other picture behind it: --compare=a.png b.png")
                   : gf_fail(error, GF_ERROR_USAGE, "--compare: the name of the file is empty");
    if (!two && access(value, F_OK) != 0) { /* a word, and one picture behind it? */
        bool is_word;
        GF_TRY(gf_likeness_take_limit(value, &run->limits, &is_word, error));
        if (is_word)
            return gf_fail(error, GF_ERROR_USAGE,
                           "--compare=%.60s takes two pictures behind it: a.png b.png", value);
    }
    run->name[0] = two ? command->input[0] : value;
    run->name[1] = command->input[command->inputs - 1];
    return check_output(run, error);
}

enum gf_status gf_act_compare(const struct gf_command *command, struct gf_error *error)
{
    struct run run = {.command = command, .options = command->options};
    char *value = NULL; /* a copy of the option's value, from which words are cut */
    run.options.warn = command->quiet ? NULL : gf_message_warn;
    if (asprintf(&value, "%s%s", command->inputs == 2 ? ":" : "", command->likeness) < 0)
        return gf_fail_memory(error);
    enum gf_status status = begin(&run, value, error);
    if (!status)
        status = compare(&run, error);
    run.pairs.failed = status != GF_OK;
    if (run.pairs.several && run.pairs.count)
        gf_likeness_tell_sums(gf_report_file(command), &run.limits, &run.pairs);
    struct gf_error beyond;
    const enum gf_status verdict =
        status && !run.pairs.several ? GF_OK : gf_likeness_check(&run.limits, &run.pairs, &beyond);
    if (verdict && status)
        gf_message_print("", beyond.text);
    else if (verdict)
        status = gf_fail(error, verdict, "%s", beyond.text);
    free(value);
    return status;
}
