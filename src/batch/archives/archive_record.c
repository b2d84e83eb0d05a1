#include "batch/archives/archive_record.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/exit_status.h"
#include "base/fail.h"
#include "base/grow.h"
#include "base/json_read.h"
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
    if (!status)
        status = gf_output_commit(output, error);
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
    if (!status)
        status = composed ? write_file(name, text, size, sync, error) : gf_fail_memory(error);
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

/* Reads a whole record into memory from malloc(). Returns NULL if there is none. */
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
    const char *const end = memmem(text, size, "\n}", 2); /* of the record */
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
