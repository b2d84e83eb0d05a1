/* --info: what the files of pictures say about them, the statistics of their levels, and hashes of
 * what they show; --duplicates: which show the same. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cpu.h"
#include "base/fail.h"
#include "base/process/machine.h"
#include "base/process/program.h"
#include "base/threads/ordered.h"
#include "base/threads/times.h"
#include "batch/archives/archive_file.h"
#include "batch/names/names.h"
#include "cli/cli.h"
#include "codec/cell/cell.h"
#include "codec/codec.h"
#include "codec/common/checks.h"
#include "report/info/duplicates.h"
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
    bool json, single, hashes;
    bool *repeated; /* inputs that an earlier input names, too; NULL: none is left out */
    struct gf_pipeline *pipeline;   /* filters and counts levels; NULL: they are not counted */
    struct gf_memory_budget budget; /* for the pictures that are hashed at the same time */
    FILE *out; /* standard output, or where a struct gf_copy of each picture is collected */
    struct result result[SLOTS];
};

/* Decodes the picture, whose header was read, and adds its hashes. */
static enum gf_status hash(struct run *run, struct gf_input *input, struct gf_source *source,
                           struct gf_facts *facts, struct gf_error *error)
{
    const struct gf_options *const options = &run->options;
    const uint64_t bytes = source->memory.bytes + gf_hashes_bytes(source->format),
                   most = options->memory_bytes ? options->memory_bytes : gf_memory_picture_bytes();
    const double begin_s = gf_now();
    struct gf_hashes hashes;
    if (gf_is_float(source->format))
        return gf_fail(error, GF_ERROR_UNFIT, "%s: its samples are floats, which have no hashes",
                       gf_input_name(input));
    GF_TRY(gf_memory_check_proportion(source, input, options, error));
    GF_TRY(gf_memory_check(gf_input_name(input),
                           source->memory.why ? source->memory.why : "its rows are read", bytes,
                           most, options, error));
    gf_memory_budget_acquire(&run->budget, bytes);
    gf_time_limit_excuse(begin_s);
    const enum gf_status status = gf_hashes_read(source, options->autorotate, &hashes, error);
    gf_memory_budget_release(&run->budget, bytes);
    return !status && !gf_facts_add_hashes(facts, hashes) ? gf_fail_memory(error) : status;
}

static enum gf_status read_header(struct run *run, const char *name, struct gf_input *input,
                                  struct gf_facts *facts, struct gf_error *error)
{
    const struct gf_pages pages = gf_input_pages(input);
    struct gf_source *source = NULL;
    enum gf_file_format format;
    enum gf_status status = gf_input_format(input, &format, error);
    if (!status && gf_input_page(input) < 0 && gf_format_animates_unasked(format))
        /* So that all frames are counted. */
        gf_input_choose_pages(input, (struct gf_pages){0, GF_PAGES_ALL});
    GF_THEN(status, gf_source_open(input, &run->options, &source, error));
    gf_input_choose_pages(input, pages);
    if (!status && !gf_facts_read(facts, name, gf_input_size(input), source))
        status = gf_fail_memory(error);
    if (!status && run->hashes)
        status = hash(run, input, source, facts, error);
    if (!status && run->hashes && !source->stored.pages) {
        unsigned char byte;
        size_t more;
        status = gf_input_peek(input, &byte, 1, &more, error);
        /* The rows of a BMP are read from its end. */
        facts->number[GF_FACT_PAGES] = !status && (!more || format == GF_FILE_BMP) ? 1 : NAN;
    }
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
    const double seconds = run->hashes ? run->options.timeout_s : 0;
    struct gf_input *input = NULL;
    enum gf_status status = open_input(run, item, &input, error);
    if (!status && !run->pipeline && !run->hashes)
        gf_input_set_headers_only(input);
    gf_time_limit_set(seconds > 0 ? gf_now() + seconds : 0);
    GF_THEN(status, read_header(run, item->path, input, facts, error));
    status = gf_time_tell(item->path, seconds, status, error);
    gf_time_limit_set(0);
    if (!status && run->pipeline)
        status = gf_input_rewind(input, error);
    if (!status && run->pipeline)
        status = gf_pipeline_count(run->pipeline, input, levels, error);
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

/* Writes a struct gf_copy for the search of duplicates. */
static enum gf_status put_copy(const struct gf_facts *facts, FILE *file, struct gf_error *error)
{
    struct gf_pages chosen;
    /* What a JPEG holds beside its picture, previews and gain maps, belongs to that picture. */
    const bool one = !strcmp(facts->text[GF_FACT_FORMAT], gf_file_format_name(GF_FILE_JPEG)) ||
                     (gf_input_split_pages(facts->text[GF_FACT_FILE], &chosen) && chosen.last < 0);
    const struct gf_copy copy = {.name = strdup(facts->text[GF_FACT_FILE]),
                                 .hashes = gf_facts_hashes(facts),
                                 .width = facts->number[GF_FACT_WIDTH],
                                 .height = facts->number[GF_FACT_HEIGHT],
                                 .bytes = facts->number[GF_FACT_BYTES],
                                 .pages = one ? 1 : facts->number[GF_FACT_PAGES]};
    GF_ALLOCATED(copy.name, error);
    fwrite(&copy, sizeof copy, 1, file);
    return GF_OK;
}

/* Reads a file and writes its facts and levels. As JSON, a failure is written as a line, too. */
static enum gf_status describe(struct run *run, const struct gf_input_name *item, FILE *file,
                               struct gf_error *error)
{
    struct gf_facts facts = {.text = {NULL}};
    struct gf_levels levels = {.histogram = {.count = NULL}};
    enum gf_status status = read_file(run, item, &facts, &levels, error);
    if (run->command->duplicates) {
        status = status ? status : put_copy(&facts, file, error);
    } else if (run->json && status) {
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

static void describe_member(void *context, const char *name, const void *data, size_t size,
                            const struct gf_error *failure)
{
    const struct archive *const archive = context;
    const struct gf_input_name item = {.path = (char *)name, .data = data, .size = size};
    struct gf_error error = failure ? *failure : (struct gf_error){0};
    const enum gf_status status =
        failure ? error.status : describe(archive->run, &item, archive->file, &error);
    if (failure && archive->run->json)
        put_failure(name, &error, archive->file);
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
    if (run->repeated && run->repeated[index])
        return GF_OK;
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
        fwrite(result->text, 1, result->size, run->out);
    if (result->status && !run->single && !run->json && !result->told)
        gf_message_print("", result->error.text);
    free(result->text);
    result->text = NULL;
}

/* Examines all files. Headers are read, and pictures hashed, by several threads at once. Levels are
 * counted in one picture after another, each by all threads. */
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

/* The file, and the pages of it, that an input names. */
struct named {
    struct gf_pages pages;
    dev_t device;
    ino_t inode;
    size_t index;
};

static int by_file(const void *a, const void *b)
{
    const struct named *const x = a, *const y = b;
    const int file = x->device != y->device ? (x->device > y->device) - (x->device < y->device)
                                            : (x->inode > y->inode) - (x->inode < y->inode);
    return file                               ? file
           : x->pages.first != y->pages.first ? x->pages.first - y->pages.first
                                              : x->pages.last - y->pages.last;
}

static int by_file_and_index(const void *a, const void *b)
{
    const size_t x = ((const struct named *)a)->index, y = ((const struct named *)b)->index;
    const int file = by_file(a, b);
    return file ? file : (x > y) - (x < y);
}

/* Marks the inputs that name a file, by whatever path or link, which another input names: whoever
 * deletes all but one of a group must not lose the only copy. */
static enum gf_status mark_repeated(struct run *run, struct gf_error *error)
{
    const size_t count = run->inputs.count;
    struct named *const named = malloc((count + 1) * sizeof *named);
    struct stat file;
    size_t files = 0;
    run->repeated = calloc(count + 1, sizeof *run->repeated);
    for (size_t i = 0; named && run->repeated && i < count; i++) {
        const char *const path = run->inputs.item[i].path;
        struct gf_pages pages = {-1, -1};
        (void)gf_input_split_pages(path, &pages);
        if (gf_input_stat(gf_archive_path(path), &file) && S_ISREG(file.st_mode))
            named[files++] = (struct named){pages, file.st_dev, file.st_ino, i};
    }
    if (named)
        qsort(named, files, sizeof *named, by_file_and_index);
    for (size_t i = 1; named && run->repeated && i < files; i++)
        run->repeated[named[i].index] = !by_file(&named[i - 1], &named[i]);
    free(named);
    return named && run->repeated ? GF_OK : gf_fail_memory(error);
}

/* Examines all files and prints which of them show the same. */
static enum gf_status find_duplicates(struct run *run, struct gf_error *error)
{
    const bool json = run->json;
    char *text = NULL;
    size_t size = 0;
    struct gf_error why = {0};
    GF_TRY(mark_repeated(run, error));
    run->out = open_memstream(&text, &size);
    GF_ALLOCATED(run->out, error);
    run->json = false; /* failures are told on standard error, which leaves the groups alone */
    const enum gf_status examined = examine_all(run, error);
    enum gf_status status = fclose(run->out) ? gf_fail_memory(&why) : GF_OK;
    struct gf_copy *const copy = (struct gf_copy *)(void *)text;
    const size_t count = size / sizeof *copy;
    GF_THEN(status, gf_duplicates_put(copy, count, run->command->distance, json, stdout, &why));
    for (size_t i = 0; i < count; i++)
        free(copy[i].name);
    free(text);
    return status ? gf_fail(error, status, "%s", why.text) : examined;
}

enum gf_status gf_act_info(const struct gf_command *command, struct gf_error *error)
{
    GF_NEW(struct run, run, error);
    const int form = command->form;
    const bool counts = form >= GF_INFO_STATISTICS;
    struct gf_options options = command->options;
    *run = (struct run){.command = command,
                        .options = options,
                        .out = stdout,
                        .hashes = command->duplicates || (form >= GF_INFO_HASH && !counts)};
    run->options.threads = 1;
    options.warn = command->quiet ? NULL : gf_message_warn;
    run->json = form == GF_INFO_JSON || form == GF_INFO_HASH_JSON ||
                form == GF_INFO_STATISTICS_JSON ||
                ((form == GF_INFO_HASH || form == GF_INFO_STATISTICS) && !isatty(STDOUT_FILENO));
    gf_memory_budget_open(
        &run->budget, options.memory_bytes ? options.memory_bytes : gf_memory_pictures_bytes(), 1);
    enum gf_status status = expand(run, error);
    if (!status && counts)
        status = gf_pipeline_open(command->chain, &options, &run->pipeline, error);
    if (!status && !run->json && !run->single && !counts && !command->duplicates)
        gf_facts_heading(run->hashes, stdout);
    gf_cells_join();
    GF_THEN(status, command->duplicates ? find_duplicates(run, error) : examine_all(run, error));
    gf_cells_leave();
    gf_memory_budget_close(&run->budget);
    gf_pipeline_close(run->pipeline);
    gf_inputs_free(&run->inputs);
    free(run->repeated);
    free(run);
    return status;
}
