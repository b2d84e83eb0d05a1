/* The records of output archives, and their lines in the log. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/memory/grow.h"
#include "base/process/program.h"
#include "base/text/json.h"
#include "batch/archives/archive_file.h"
#include "batch/log/batch_log.h"
#include "codec/io/output.h"
#include "gpufilter/pipeline.h"

const struct gf_key_help gf_archive_record_keys[] = {
    {"input", "the name of the input archive"},
    {"identity", "its size and time, by which a later run sees that it has changed; of one that "
                 "is fetched its size, and the word in the list or a hash"},
    {"output", "the name of the output archive"},
    {"bytes_out", "its size"},
    {"chain", "the filters"},
    {"job", "names the chain, the files that it names and the options that the result depends on"},
    {"list", GF_BATCH_LOG_LIST_HELP},
    {"pictures", "the number of pictures in the input archive: done, and failed"},
    {"done", "the number of pictures that were filtered"},
    {"passed", "the number of other files that were copied"},
    {"dropped", "the number of files left out with another picture of their sample"},
    {"failed", "the pictures that were bad: input, message"},
    {"begun", "when the archive was begun, in seconds since 1970-01-01 UTC"},
    {"finished", "when it was complete"},
    {"device", "what ran: cpu, or cuda and the numbers of the devices"},
    {"version", "of gpufilter"},
    {0},
};

bool gf_archive_record_add(struct gf_archive_record *record, const char *input,
                           enum gf_status status, const char *why)
{
    record->again |= gf_exit_status(status) != GF_EXIT_INPUTS;
    if (!GF_GROW(record->failed, record->failures))
        return false;
    struct gf_archive_failed *const failed = &record->failed[record->failures++];
    *failed = (struct gf_archive_failed){strdup(input), strdup(why)};
    return failed->input && failed->why;
}

void gf_archive_record_free(struct gf_archive_record *record)
{
    for (size_t i = 0; i < record->failures; i++) {
        free(record->failed[i].input);
        free(record->failed[i].why);
    }
    free(record->failed);
    *record = (struct gf_archive_record){0};
}

/* Returns the record's name, from malloc(); NULL when out of memory. */
static char *name_of(const char *output)
{
    char *name;
    return asprintf(&name, "%s.json", output) < 0 ? NULL : name;
}

static void put_record(FILE *file, const struct gf_archive_record *record, const char *device,
                       long long bytes_out)
{
    struct gf_json json = gf_json_begin(file);
    gf_json_object(&json, NULL, GF_JSON_LINES);
    gf_json_string(&json, "input", record->input);
    gf_json_string(&json, "identity", record->identity);
    gf_json_string(&json, "output", record->output);
    gf_json_number(&json, "bytes_out", (double)bytes_out, 0);
    gf_json_string(&json, "chain", record->chain ? record->chain : "");
    gf_json_hash(&json, "job", record->job);
    gf_json_hash(&json, "list", record->list);
    gf_json_number(&json, "pictures", (double)(record->done + record->failures), 0);
    gf_json_number(&json, "done", (double)record->done, 0);
    gf_json_number(&json, "passed", (double)record->passed, 0);
    gf_json_number(&json, "dropped", (double)record->dropped, 0);
    gf_json_array(&json, "failed", GF_JSON_LINES);
    for (size_t i = 0; i < record->failures; i++) {
        gf_json_object(&json, NULL, GF_JSON_INLINE);
        gf_json_string(&json, "input", record->failed[i].input);
        gf_json_string(&json, "message", record->failed[i].why);
        gf_json_end(&json);
    }
    gf_json_end(&json);
    gf_json_number(&json, "begun", record->begun, 3);
    gf_json_number(&json, "finished", gf_batch_log_now(), 3);
    gf_json_string(&json, "device", device);
    gf_json_string(&json, "version", gf_version());
    gf_json_end(&json);
}

static enum gf_status write_file(const char *name, const char *text, size_t size, bool sync,
                                 struct gf_error *error)
{
    struct gf_output *output;
    GF_TRY(gf_output_open(name, &output, error));
    gf_output_set_options(output, (struct gf_output_options){.sync = sync});
    enum gf_status status = gf_output_write(output, text, size, error);
    GF_THEN(status, gf_output_commit(output, error));
    gf_output_close(output);
    return status;
}

enum gf_status gf_archive_record_write(const struct gf_archive_record *record, const char *device,
                                       bool sync, struct gf_error *error)
{
    struct stat file;
    char *text = NULL, *const name = name_of(record->file);
    size_t size = 0;
    FILE *const memory = open_memstream(&text, &size);
    enum gf_status status = GF_OK;
    if (stat(record->file, &file))
        status = gf_fail(error, GF_ERROR_OUTPUT, "%s: %s", record->file, strerror(errno));
    else if (memory)
        put_record(memory, record, device, (long long)file.st_size);
    const bool composed = memory && !fclose(memory) && text && name;
    GF_THEN(status, composed ? write_file(name, text, size, sync, error) : gf_fail_memory(error));
    free(text);
    free(name);
    return status;
}

enum gf_status gf_archive_record_remove(const char *output, struct gf_error *error)
{
    char *const name = name_of(output);
    enum gf_status status = name ? GF_OK : gf_fail_memory(error);
    if (name && unlink(name) && errno != ENOENT)
        status = gf_fail(error, GF_ERROR_OUTPUT, "%s: %s", name, strerror(errno));
    free(name);
    return status;
}

/* Reads a record file as a whole into memory from malloc(), *size bytes and a zero. Returns NULL if
 * there is none. */
static char *read_file(const char *name, size_t *size)
{
    enum { MOST = 64 << 20 };
    struct stat there;
    char *text = NULL;
    FILE *const file = fopen(name, "re");
    if (file && !fstat(fileno(file), &there) && S_ISREG(there.st_mode) && there.st_size < MOST)
        text = malloc((size_t)there.st_size + 1);
    if (text)
        *size = fread(text, 1, (size_t)there.st_size, file);
    if (file)
        fclose(file);
    return text;
}

/* Whether the record describes the wanted archive, which has `bytes` bytes; -1: they are not known.
 */
static bool describes(const struct gf_json_value *record, const struct gf_archive_record *wanted,
                      long long bytes)
{
    char *end;
    const char *const job = gf_json_text_of(record, "job");
    const unsigned long long number = strtoull(job, &end, 16);
    return *job && !*end && number == wanted->job && *wanted->identity &&
           !strcmp(gf_json_text_of(record, "input"), wanted->input) &&
           !strcmp(gf_json_text_of(record, "identity"), wanted->identity) &&
           (bytes < 0 || gf_json_number_of(record, "bytes_out") == (double)bytes);
}

static bool fits(struct gf_archive_record *wanted, const char *name, const char *text, size_t size,
                 long long bytes)
{
    struct gf_json_tree tree;
    if (gf_json_read(name, 1, text, size, &tree, &(struct gf_error){0}))
        return false;
    const struct gf_json_value *const record = tree.value;
    const bool fits = describes(record, wanted, bytes);
    wanted->pictures = (size_t)gf_json_int_of(record, "pictures", 0, INT32_MAX, 0);
    wanted->done = (size_t)gf_json_int_of(record, "done", 0, INT32_MAX, 0);
    gf_json_tree_free(&tree);
    return fits;
}

bool gf_archive_record_fits_text(struct gf_archive_record *wanted, const char *text, size_t size,
                                 bool sized)
{
    const char *const end = memmem(text, size, "\n}", 2); /* the end of the record's JSON object */
    long long bytes = -1;
    if (end && sscanf(end + 2, "%lld", &bytes) != 1)
        bytes = -1;
    return (!sized || bytes >= 0) &&
           fits(wanted, wanted->output, text, end ? (size_t)(end + 2 - text) : size, bytes);
}

bool gf_archive_record_fits(struct gf_archive_record *wanted)
{
    struct stat file;
    size_t size = 0;
    char *const name = name_of(wanted->output);
    char *const text = name ? read_file(name, &size) : NULL;
    const bool is_done = text && !stat(wanted->output, &file) && S_ISREG(file.st_mode) &&
                         fits(wanted, name, text, size, (long long)file.st_size);
    free(text);
    free(name);
    return is_done;
}

/* ---- the lines in the log ---- */

#ifdef GF_LIBRARY_archive
#include "batch/archives/archive_ring.h"

struct gf_archive_line {
    struct gf_batch_log_entry entry;
    struct gf_input_identity identity;
    struct gf_error why; /* why the output failed; status GF_OK: it did not fail */
};

/* Sets *why to an error if the archive lacks pictures. For a skipped archive, the earlier run's
 * record says how many. */
static void tell_failures(const struct gf_archive_record *record, bool skipped,
                          struct gf_error *why)
{
    const size_t before = skipped ? record->pictures - record->done : 0;
    if (before)
        (void)gf_fail(why, GF_ERROR_INPUT, "%zu of %zu pictures failed before, says '%.300s.json'",
                      before, record->pictures, record->output);
    else if (record->failures)
        (void)gf_fail(why, record->again ? GF_ERROR_READ : GF_ERROR_INPUT,
                      "%zu of %zu pictures failed: %s%s", record->failures,
                      record->done + record->failures, record->failed->why,
                      record->failures > 1 ? "; ..." : "");
}

static struct gf_archive_line describe(const struct gf_archive_ring *ring,
                                       const struct gf_archive *archive, int number)
{
    const struct gf_archive_output *const output = &archive->output[number];
    struct stat file;
    struct gf_archive_line line = {
        .identity = archive->identity,
        .why = output->status ? output->why : archive->fault,
        .entry = {.index = archive->index + 1,
                  .input = archive->from,
                  .output = output->argument ? output->record.output : NULL,
                  .bytes_in = archive->is_file ? (long long)archive->file.st_size : -1,
                  .outcome = archive->skipped ? GF_OUTCOME_SKIPPED : GF_OUTCOME_DONE,
                  .message = archive->skipped ? "done before, says the record" : NULL,
                  .bytes_out = -1,
                  .fingerprint = ring->batch->fingerprint[number]}};
    if (!line.why.status && output->argument && !stat(output->record.file, &file))
        line.entry.bytes_out = (long long)file.st_size;
    if (!line.why.status)
        tell_failures(&output->record, archive->skipped, &line.why);
    return line;
}

/* Writes a line. If that fails, the run ends. */
static void put(struct gf_archive_ring *ring, struct gf_archive_line *line)
{
    struct gf_batch *const batch = ring->batch;
    struct gf_error error;
    line->entry.identity = line->identity.text;
    line->entry.failure = line->why.status;
    if (line->why.status) {
        line->entry.outcome = GF_OUTCOME_FAILED;
        line->entry.message = line->why.text;
    }
    const enum gf_status status = gf_batch_log_add(batch->request->log, &line->entry, &error);
    if (!status)
        return;
    pthread_mutex_lock(&batch->lock);
    if (!batch->fatal) {
        batch->status = status;
        batch->error = error;
    }
    batch->fatal = batch->stopped = true;
    pthread_cond_broadcast(&batch->changed);
    pthread_mutex_unlock(&batch->lock);
}

struct gf_archive_line *gf_archive_line_of(const struct gf_archive_ring *ring,
                                           const struct gf_archive *archive, int number)
{
    struct gf_archive_line *const line = malloc(sizeof *line);
    if (line)
        *line = describe(ring, archive, number);
    return line;
}

void gf_archive_log_stored(struct gf_archive_ring *ring, struct gf_archive_line *line,
                           const struct gf_error *why)
{
    if (why->status)
        line->why = *why;
    if (ring->batch->request->log)
        put(ring, line);
}

/* Whether the output is skipped because an earlier run has made it, and the log that --resume reads
 * already has its line. */
static bool is_logged(const struct gf_archive_ring *ring, const struct gf_archive_line *line)
{
    const struct gf_resume *const resume = ring->batch->request->resume;
    const struct gf_batch_log_entry *const entry = &line->entry;
    return entry->outcome == GF_OUTCOME_SKIPPED && !line->why.status && resume &&
           gf_resume_done(resume, entry->input, &line->identity, entry->output, true,
                          entry->fingerprint);
}

void gf_archive_log(struct gf_archive_ring *ring, const struct gf_archive *archive)
{
    bool files = false; /* whether the line of all outputs that are files was written */
    for (int k = 0; ring->batch->request->log && ring->from_archives && k < ring->outputs; k++) {
        const bool is_archive = archive->output[k].argument;
        if (archive->output[k].is_handed || (!is_archive && files))
            continue;
        struct gf_archive_line line = describe(ring, archive, k);
        if (!is_logged(ring, &line))
            put(ring, &line);
        files |= !is_archive;
    }
}

#endif
