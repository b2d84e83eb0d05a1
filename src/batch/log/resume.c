/* Reads the log of an earlier run for --resume; computes the identity by which an input is
 * recognised. */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/fail.h"
#include "base/process/files.h"
#include "base/text/json.h"
#include "batch/log/batch_log.h"
#include "batch/names/names.h"
#include "codec/io/input.h"
#include "codec/layouts/layouts.h"
#include "pipeline/pipeline_internal.h"

static struct gf_input_identity identify(uint64_t size, struct timespec time, const char *more)
{
    struct gf_input_identity identity = {.changed = time};
    snprintf(identity.text, sizeof identity.text, "%llu %lld.%09ld%.64s", (unsigned long long)size,
             (long long)time.tv_sec, time.tv_nsec, more);
    return identity;
}

struct gf_input_identity gf_identify_file(const char *path)
{
    struct stat file;
    if (!gf_input_stat(path, &file))
        return (struct gf_input_identity){.is_gone = true};
    return S_ISREG(file.st_mode) ? identify((uint64_t)file.st_size, file.st_mtim, "")
                                 : (struct gf_input_identity){0};
}

struct gf_input_identity gf_identify_member(const void *bytes, size_t size, struct timespec time,
                                            const struct gf_input_identity *archive)
{
    char more[sizeof archive->text + 4];
    if (*archive->text)
        snprintf(more, sizeof more, " in %s", archive->text);
    else
        snprintf(more, sizeof more, " %016llx",
                 (unsigned long long)gf_hash(GF_HASH_START, bytes, size));
    struct gf_input_identity identity = identify(size, time, more);
    if (*archive->text)
        identity.changed = archive->changed;
    return identity;
}

/* ---- the log of an earlier run ---- */

/* Continues the hash over the contents and the size of a file. A file that can be read only once is
 * left out. */
static uint64_t hash_file(uint64_t hash, const char *path)
{
    unsigned char part[1 << 14];
    struct stat file;
    /* Without O_NONBLOCK the call would wait for the writer of a pipe. */
    const int fd = gf_named_file_open(path, O_NONBLOCK);
    if (fd < 0)
        return hash;
    uint64_t size = 0;
    for (ssize_t got = !fstat(fd, &file) && S_ISREG(file.st_mode); got > 0;) {
        got = read(fd, part, sizeof part);
        hash = gf_hash(hash, part, got > 0 ? (size_t)got : 0);
        size += got > 0 ? (size_t)got : 0;
    }
    close(fd);
    return gf_hash(hash, &size, sizeof size); /* the size separates the contents of one file from
                                               * those of the next */
}

static uint64_t hash_files(uint64_t hash, const struct gf_chain *chain)
{
    const int count = gf_chain_files(chain, NULL, 0);
    const char **const path = calloc((size_t)count + 1, sizeof *path);
    for (int i = 0; path && i < gf_chain_files(chain, path, count); i++)
        hash = hash_file(hash, path[i]);
    free(path);
    return hash;
}

/* The numbers that options.def gives to options for the fingerprint. Each option up to PRINT_INTS
 * is always hashed, as an int. Options of a later number are hashed together, in the order of the
 * table, if one of them is not 0; those of PRINT_FIT and PRINT_RANGE as doubles. */
enum { PRINT_INTS = 13, PRINT_FIT = 15, PRINT_RANGE = 16 };

static uint64_t hash_option(uint64_t hash, const struct gf_options *options,
                            const struct gf_option_member *member)
{
    const double value = gf_option_member_value(options, member);
    if (member->print <= PRINT_INTS)
        return gf_hash(hash, &(int){(int)value}, sizeof(int));
    if (member->print == PRINT_FIT || member->print == PRINT_RANGE)
        return gf_hash(hash, &value, sizeof value);
    return gf_hash(hash, (const char *)options + member->offset, member->size);
}

static uint64_t hash_options(uint64_t hash, const struct gf_options *options)
{
    const struct gf_option_member *member;
    const double depth = options->depth + 100 * options->dither + 200 * options->no_dither;
    bool found = true;
    for (int print = 1; found; print++) {
        bool counts = print <= PRINT_INTS || (print == PRINT_RANGE && depth != 0);
        uint64_t longer = hash;
        found = false;
        for (int i = 0; (member = gf_option_member_at(i)); i++) {
            if (member->print != print)
                continue;
            found = true;
            counts |= gf_option_member_value(options, member) != 0;
            longer = hash_option(longer, options, member);
        }
        if (print == PRINT_RANGE)
            longer = gf_hash(longer, &depth, sizeof depth);
        hash = counts ? longer : hash;
    }
    return hash;
}

uint64_t gf_chain_fingerprint(const char *given, const struct gf_chain *chain,
                              const struct gf_options *options)
{
    const char *const text = given ? given : "";
    const char *const inks = options->cmyk_profile ? options->cmyk_profile : "";
    uint64_t hash = hash_options(gf_hash(GF_HASH_START, text, strlen(text) + 1), options);
    if (*inks)
        hash = hash_file(gf_hash(hash, inks, strlen(inks)), inks);
    if (options->set)
        hash = gf_hash(hash, options->set, strlen(options->set) + 1);
    if (options->pyramid)
        hash = gf_hash(hash, options->pyramid, strlen(options->pyramid) + 1);
    return hash_files(hash, chain);
}

/* The facts in the last line about an output. */
struct record {
    uint64_t key;   /* a hash of the output's name; 0: the record is empty */
    uint64_t input; /* a hash of the input's name */
    uint64_t fingerprint;
    /* A hash of the input's identity; 0: the input has none, because it is a pipe. */
    uint64_t identity;
    long long bytes_out;
    bool done, is_old; /* is_old: the line is from a version without identities */
    int log;           /* the number of the log that has the line */
    double finished;   /* the line's time in seconds since 1970 */
};

struct gf_resume {
    struct record *record;
    size_t capacity, count; /* the capacity is a power of two, at least twice the count */
    int logs;               /* the number of logs read so far */
    /* Sorted hashes of the names of the part's inputs; NULL: all inputs are the part's. */
    uint64_t *own;
    size_t owns;
};

static int compare_hashes(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Notes the names of the part's inputs in resume->own. Returns false when out of memory. */
static bool note_own(struct gf_resume *resume, const struct gf_inputs *inputs)
{
    if (!inputs || !inputs->elsewhere)
        return true;
    resume->own = malloc((inputs->count + 1) * sizeof *resume->own);
    for (; resume->own && resume->owns < inputs->count; resume->owns++) {
        const char *const name = gf_archive_path(inputs->item[resume->owns].path);
        resume->own[resume->owns] = gf_hash(GF_HASH_START, name, strlen(name));
    }
    if (resume->own)
        qsort(resume->own, resume->owns, sizeof *resume->own, compare_hashes);
    return resume->own;
}

/* Whether the input, or the archive whose member it is, is the part's. */
static bool is_own(const struct gf_resume *resume, const char *input)
{
    uint64_t hash = GF_HASH_START;
    bool own = !resume->own;
    for (const char *at = input; !own && *at;) {
        const size_t length = strcspn(at + 1, "/") + 1;
        hash = gf_hash(hash, at, length);
        at += length;
        own = bsearch(&hash, resume->own, resume->owns, sizeof hash, compare_hashes);
    }
    return own;
}

/* Returns a hash of a text. The hash is 0 only for an empty text. */
static uint64_t hash_text(const char *text)
{
    const uint64_t hash = gf_hash(GF_HASH_START, text, strlen(text));
    return !*text ? 0 : hash ? hash : 1;
}

static struct record *find_record(const struct gf_resume *resume, uint64_t key)
{
    size_t at = (size_t)key & (resume->capacity - 1);
    while (resume->record[at].key && resume->record[at].key != key)
        at = (at + 1) & (resume->capacity - 1);
    return &resume->record[at];
}

static bool grow(struct gf_resume *resume)
{
    struct gf_resume grown = *resume;
    grown.capacity = resume->capacity ? 2 * resume->capacity : 1024;
    grown.record = calloc(grown.capacity, sizeof *grown.record);
    if (!grown.record)
        return false;
    for (size_t i = 0; i < resume->capacity; i++) {
        if (resume->record[i].key)
            *find_record(&grown, resume->record[i].key) = resume->record[i];
    }
    free(resume->record);
    *resume = grown;
    return true;
}

/* Keeps what a line says of an output. A line about another part's input counts only if an input of
 * this part has had the same output. */
static bool keep_line(struct gf_resume *resume, const struct gf_json_value *line)
{
    if (!is_own(resume, gf_json_text_of(line, "input")) &&
        !find_record(resume, hash_text(gf_json_text_of(line, "output")))->key)
        return true;
    if (2 * (resume->count + 1) > resume->capacity && !grow(resume))
        return false;
    const char *const outcome = gf_json_text_of(line, "status");
    const uint64_t key = hash_text(gf_json_text_of(line, "output")),
                   input = hash_text(gf_json_text_of(line, "input"));
    const double bytes_out = gf_json_number_of(line, "bytes_out");
    struct record *const record = find_record(resume, key);
    const double finished = gf_json_number_of(line, "finished");
    const bool done = !strcmp(outcome, gf_outcome_names[GF_OUTCOME_DONE]);
    /* If several logs have lines about the output, the line that was finished last counts. */
    if (record->key && record->log != resume->logs && finished < record->finished)
        return true;
    resume->count += !record->key;
    /* The line counts if it says "ok", or "failed" for the input that the record already names. A
     * line about a skipped file does not tell which chain made the file. After a failure the output
     * may be an earlier one's. */
    if (done || (record->input == input && strcmp(outcome, gf_outcome_names[GF_OUTCOME_SKIPPED])))
        *record = (struct record){.input = input,
                                  .fingerprint = strtoull(gf_json_text_of(line, "job"), NULL, 16),
                                  .identity = hash_text(gf_json_text_of(line, "identity")),
                                  .bytes_out = fabs(bytes_out) < 0x1p62 ? (long long)bytes_out : -1,
                                  .done = done,
                                  .is_old = !gf_json_member(line, "identity"),
                                  .log = resume->logs,
                                  .finished = finished};
    record->key = key;
    return true;
}

/* Reads a line of the log. Returns false when out of memory. A line that is damaged, or names no
 * input or output, is ignored. */
static bool read_line(struct gf_resume *resume, const char *text, size_t length)
{
    struct gf_json_tree tree;
    if (text[length - 1] != '\n')
        return true;
    const enum gf_status status = gf_json_read("", 1, text, length, &tree, NULL);
    if (status)
        return status != GF_ERROR_MEMORY;
    const struct gf_json_value *const line = tree.value;
    const bool kept = !*gf_json_text_of(line, "input") || !*gf_json_text_of(line, "output") ||
                      keep_line(resume, line);
    gf_json_tree_free(&tree);
    return kept;
}

static enum gf_status read_lines(struct gf_resume *resume, FILE *file, const char *path,
                                 struct gf_error *error)
{
    char *const text = malloc(GF_LINE_MOST + 1);
    enum gf_status status = text ? GF_OK : gf_fail_memory(error);
    size_t length;
    while (!status && (length = gf_line_read(file, '\n', text))) {
        if (length == GF_LINE_MOST)
            status = gf_fail(error, GF_ERROR_INPUT, "%s: more than 1 MB in a line is no log", path);
        else if (!read_line(resume, text, length))
            status = gf_fail_memory(error);
    }
    if (!status && ferror(file))
        status = gf_fail(error, GF_ERROR_READ, "%s: %s", path, strerror(errno));
    free(text);
    return status;
}

static enum gf_status read_log(struct gf_resume *resume, const char *path, struct gf_error *error)
{
    FILE *const file = fopen(path, "re");
    if (!file)
        return errno == ENOENT ? GF_OK
                               : gf_fail(error, gf_status_of_name(GF_ERROR_USAGE, GF_ERROR_READ),
                                         "%s: %s", path, strerror(errno));
    resume->logs++;
    const enum gf_status status = read_lines(resume, file, path, error);
    fclose(file);
    return status;
}

bool gf_resume_is_pattern(const char *path)
{
    return strpbrk(path, "*?[") && access(path, F_OK);
}

enum gf_status gf_resume_read(const char *path, const struct gf_inputs *inputs,
                              struct gf_resume **resume, struct gf_error *error)
{
    struct gf_resume *const read = calloc(1, sizeof *read);
    glob_t found = {0};
    if (!read || !grow(read) || !note_own(read, inputs)) {
        gf_resume_free(read);
        return gf_fail_memory(error);
    }
    const int failed = gf_resume_is_pattern(path) ? glob(path, 0, NULL, &found) : GLOB_NOMATCH;
    enum gf_status status = failed == GLOB_NOSPACE ? gf_fail_memory(error) : GF_OK;
    /* A part reads several logs twice: only after the first reading are all outputs of its own
     * inputs known, about which any log may have lines. */
    const size_t times = read->own && found.gl_pathc > 1 ? 2 : 1;
    for (size_t i = 0; !status && i < times * found.gl_pathc; i++)
        status = read_log(read, found.gl_pathv[i % found.gl_pathc], error);
    if (!status && !found.gl_pathc)
        status = read_log(read, path, error);
    globfree(&found);
    GF_OPENED(status, gf_resume_free, read, resume);
}

void gf_resume_free(struct gf_resume *resume)
{
    if (!resume)
        return;
    free(resume->record);
    free(resume->own);
    free(resume);
}

static bool is_same_input(const struct record *record, const struct gf_input_identity *input,
                          const struct stat *output)
{
    if (input->is_gone)
        return true;
    if (!*input->text)
        return false;
    return record->is_old ? !gf_is_earlier(&output->st_mtim, &input->changed)
                          : record->identity == hash_text(input->text);
}

bool gf_resume_done(const struct gf_resume *resume, const char *input,
                    const struct gf_input_identity *identity, const char *output, bool is_far,
                    uint64_t fingerprint)
{
    const struct record *const record = find_record(resume, hash_text(output));
    struct stat file = {.st_size = 0};
    return record->key && record->done && record->input == hash_text(input) &&
           record->fingerprint == fingerprint &&
           (is_far || (!stat(output, &file) && gf_tiles_bytes(output) == record->bytes_out &&
                       record->bytes_out >= 0)) &&
           is_same_input(record, identity, &file);
}
