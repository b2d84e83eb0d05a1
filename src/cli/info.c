/* --info: what the files of pictures say about them, and the statistics of their levels. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cpu.h"
#include "base/fail.h"
#include "base/process/program.h"
#include "base/threads/ordered.h"
#include "batch/archives/archive_file.h"
#include "batch/names/names.h"
#include "cli/cli.h"
#include "codec/cell/cell.h"
#include "codec/codec.h"
#include "report/info/facts.h"

enum { SLOTS = 256 };

/* What is printed about an input. */
struct result {
    char *text; /* what is printed, from malloc(); NULL: nothing */
    /* Sizes of the text, and counts of files and failed files; an archive has several files. */
    size_t size, files, failures;
    bool told; /* the failures of its files were printed already */
    enum gf_status status;
    struct gf_error error;
};

struct run {
    const struct gf_command *command;
    struct gf_options options; /* the options for reading headers: no warnings, no threads */
    struct gf_inputs inputs;
    bool json, single;
    struct gf_pipeline *pipeline; /* filters and counts levels; NULL: only headers are read */
    struct result result[SLOTS];
};

static enum gf_status read_header(const struct run *run, const char *name, struct gf_input *input,
                                  struct gf_facts *facts, struct gf_error *error)
{
    const struct gf_pages pages = gf_input_pages(input);
    struct gf_source *source = NULL;
    enum gf_file_format format;
    enum gf_status status = gf_input_format(input, &format, error);
    if (!status && gf_input_page(input) < 0 && gf_format_animates_unasked(format))
        /* So that all frames are counted. */
        gf_input_choose_pages(input, (struct gf_pages){0, GF_PAGES_ALL});
    if (!status)
        status = gf_source_open(input, &run->options, &source, error);
    gf_input_choose_pages(input, pages);
    if (!status && !gf_facts_read(facts, name, gf_input_size(input), source))
        status = gf_fail_memory(error);
    if (source)
        source->close(source);
    return status;
}

static enum gf_status open_input(const struct run *run, const struct gf_input_name *item,
                                 struct gf_input **input, struct gf_error *error)
{
    if (item->data)
        return gf_input_open_memory(item->data, item->size, item->path, input, error);
    if (!strcmp(item->path, "-"))
        GF_TRY(gf_check_stdin(error));
    return gf_input_open(item->path, run->pipeline != NULL, input, error);
}

static enum gf_status read_file(struct run *run, const struct gf_input_name *item,
                                struct gf_facts *facts, struct gf_levels *levels,
                                struct gf_error *error)
{
    struct gf_input *input = NULL;
    enum gf_status status = open_input(run, item, &input, error);
    if (!status && !run->pipeline)
        gf_input_set_headers_only(input);
    if (!status)
        status = read_header(run, item->path, input, facts, error);
    if (!status && run->pipeline)
        status = gf_input_rewind(input, error);
    if (!status && run->pipeline)
        status = gf_pipeline_count(run->pipeline, input, levels, error);
    if (input)
        gf_input_close(input);
    return status;
}

/* Writes the facts and levels of a file as a line of JSON. */
static void put_json(const struct run *run, const struct gf_facts *facts,
                     const struct gf_levels *levels, FILE *file)
{
    struct gf_json json = gf_json_begin(file);
    gf_json_object(&json, NULL, GF_JSON_COMPACT);
    gf_facts_json(facts, &json);
    if (run->pipeline)
        gf_levels_json(levels, &json);
    gf_json_end(&json);
}

static void put_failure(const char *name, const struct gf_error *error, FILE *file)
{
    struct gf_json json = gf_json_begin(file);
    gf_json_object(&json, NULL, GF_JSON_COMPACT);
    gf_json_string(&json, "file", name);
    gf_json_string(&json, "error", error->text);
    gf_json_end(&json);
}

/* Reads a file and writes its facts and levels. As JSON, a failure is written as a line, too. */
static enum gf_status describe(struct run *run, const struct gf_input_name *item, FILE *file,
                               struct gf_error *error)
{
    struct gf_facts facts = {.text = {NULL}};
    struct gf_levels levels = {.histogram = {.count = NULL}};
    const enum gf_status status = read_file(run, item, &facts, &levels, error);
    if (run->json && status) {
        put_failure(item->path, error, file);
    } else if (run->json) {
        put_json(run, &facts, &levels, file);
    } else if (!status && !run->single && !run->pipeline) {
        gf_facts_row(&facts, file);
    } else if (!status) {
        gf_facts_list(&facts, file);
        if (run->pipeline)
            gf_levels_plot(&levels, file);
    }
    gf_facts_free(&facts);
    free(levels.histogram.count);
    return status;
}

/* Counts a file in the result, and its failure if `status` is one. */
static void count(struct result *result, enum gf_status status, const struct gf_error *error)
{
    result->files++;
    result->failures += status != GF_OK;
    if (gf_graver_status(result->status, status) != result->status)
        result->status = gf_fail(&result->error, status, "%s", error->text);
}

/* The context while the members of an archive are described. */
struct archive {
    struct run *run;
    FILE *file;
    struct result *result;
};

static void describe_member(void *context, const char *name, const void *data, size_t size)
{
    const struct archive *const archive = context;
    const struct gf_input_name item = {.path = (char *)name, .data = data, .size = size};
    struct gf_error error = {0};
    const enum gf_status status = describe(archive->run, &item, archive->file, &error);
    if (status && !archive->run->json)
        gf_message_print("", error.text);
    count(archive->result, status, &error);
}

/* Describes the members of an archive, each of which is in memory as a whole. */
static enum gf_status describe_archive(struct run *run, const char *name, FILE *file,
                                       struct result *result, struct gf_error *error)
{
    struct archive archive = {run, file, result};
    const enum gf_status status = gf_archive_each(name, describe_member, &archive, error);
    if (status && run->json)
        put_failure(name, error, file);
    else if (status)
        gf_message_print("", error->text);
    return status;
}

static enum gf_status examine(void *context, int thread, int index, struct gf_error *failure)
{
    struct run *const run = context;
    struct result *const result = &run->result[index % SLOTS];
    const struct gf_input_name *const item = &run->inputs.item[index];
    struct gf_error error = {0};
    (void)thread;
    (void)failure;
    *result = (struct result){.told = gf_archive_named(item->path)};
    FILE *const file = open_memstream(&result->text, &result->size);
    enum gf_status status = !file          ? gf_fail_memory(&error)
                            : result->told ? describe_archive(run, item->path, file, result, &error)
                                           : describe(run, item, file, &error);
    if (file && fclose(file))
        status = gf_fail_memory(&error);
    if (status || !result->told)
        count(result, status, &error);
    return GF_OK;
}

/* Prints the result of an input, and its failure unless that is in the JSON or printed
 * elsewhere. */
static void print(const struct run *run, struct result *result)
{
    if (result->text)
        fwrite(result->text, 1, result->size, stdout);
    if (result->status && !run->single && !run->json && !result->told)
        gf_message_print("", result->error.text);
    free(result->text);
    result->text = NULL;
}

/* Examines all files. Headers are read by several threads at once. Levels are counted in one
 * picture after another, each by all threads. */
static enum gf_status examine_all(struct run *run, struct gf_error *error)
{
    const int asked = run->command->options.threads, count = (int)run->inputs.count;
    const int threads = run->pipeline ? 1 : asked ? asked : gf_cpu_count();
    const struct gf_ordered_setup setup = {
        .call = examine, .context = run, .threads = threads, .slots = SLOTS};
    struct gf_ordered *ordered;
    enum gf_status worst = gf_ordered_open(&setup, &ordered, error);
    size_t failures = 0, files = 0;
    if (worst)
        return worst;
    for (int taken = 0; taken < count && !gf_ordered_next(ordered, count, error); taken++) {
        struct result *const result = &run->result[taken % SLOTS];
        files += result->files;
        failures += result->failures;
        if (gf_graver_status(worst, result->status) != worst)
            worst = gf_fail(error, result->status, "%s", result->error.text);
        print(run, result);
    }
    gf_ordered_close(ordered);
    return failures && !run->single
               ? gf_fail(error, worst, "%zu of %zu files could not be read", failures, files)
               : worst;
}

static enum gf_status expand(struct run *run, struct gf_error *error)
{
    const struct gf_command *const command = run->command;
    const struct gf_inputs_request request = {.argument = command->input,
                                              .count = command->inputs,
                                              .recursive = command->recursive,
                                              .nul_separated = command->nul_separated,
                                              .shard = command->shard,
                                              .shards = command->shards};
    const enum gf_status status = gf_inputs_expand(&request, &run->inputs, error);
    run->single = gf_inputs_total(&run->inputs) == 1 && command->inputs == 1 &&
                  !gf_inputs_is_group(command->input[0]) && !gf_archive_named(command->input[0]);
    return status;
}

enum gf_status gf_act_info(const struct gf_command *command, struct gf_error *error)
{
    struct run *const run = calloc(1, sizeof *run);
    if (!run)
        return gf_fail_memory(error);
    const bool counts = command->form >= GF_INFO_STATISTICS;
    struct gf_options options = command->options;
    *run = (struct run){.command = command, .options = options};
    run->options.threads = 1;
    options.warn = command->quiet ? NULL : gf_message_warn;
    run->json = command->form == GF_INFO_JSON || command->form == GF_INFO_STATISTICS_JSON ||
                (command->form == GF_INFO_STATISTICS && !isatty(STDOUT_FILENO));
    enum gf_status status = expand(run, error);
    if (!status && counts)
        status = gf_pipeline_open(command->chain, &options, &run->pipeline, error);
    if (!status && !run->json && !run->single && !counts)
        gf_facts_heading(stdout);
    gf_cells_join();
    if (!status)
        status = examine_all(run, error);
    gf_cells_leave();
    if (run->pipeline)
        gf_pipeline_close(run->pipeline);
    gf_inputs_free(&run->inputs);
    free(run);
    return status;
}
