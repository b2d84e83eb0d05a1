#include "batch/log/batch_log.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "base/memory/grow.h"
#include "base/process/files.h"
#include "base/process/program.h"

struct account_entry {
    char *input, *output, *message;
    bool failed;
    bool again; /* it failed, and another try may succeed */
    double finished, bytes_out;
};

struct names {
    char **name;
    size_t count;
};

struct gf_account {
    void *entries; /* a tree of tsearch() with struct account_entry, by output */
    struct names missing, damaged;
    struct gf_json json; /* used while the report is written */
    size_t done, failed, again;
    double bytes_out;
    uint64_t *list; /* hashes of the lists that --shard has divided (struct gf_inputs) */
    size_t lists;
    bool is_expected; /* gf_account_expect() has named the inputs of the run */
};

const struct gf_key_help gf_account_keys[] = {
    {"outputs", "the number of outputs that the logs and records name"},
    {"done", "the number of outputs that are done"},
    {"failed", "the number of outputs that failed, or that lack a picture which failed"},
    {"bytes_out", "the bytes of all outputs that are done"},
    {"failures", "what failed: input, output, message"},
    {"lists",
     "the number of different lists that --shard has divided; more than 1: an input may be "
     "in no part"},
    {"missing", "the inputs of the list that no log or record names"},
    {"damaged", "the records that cannot be read"},
    {0},
};

static int compare_inputs(const void *a, const void *b)
{
    return strcmp(((const struct account_entry *)a)->input,
                  ((const struct account_entry *)b)->input);
}

static int compare(const void *a, const void *b)
{
    const int order = compare_inputs(a, b);
    return order ? order
                 : strcmp(((const struct account_entry *)a)->output,
                          ((const struct account_entry *)b)->output);
}

static void free_entry(void *context)
{
    struct account_entry *const entry = context;
    if (!entry)
        return;
    free(entry->input);
    free(entry->output);
    free(entry->message);
    free(entry);
}

enum gf_status gf_account_open(struct gf_account **account, struct gf_error *error)
{
    *account = calloc(1, sizeof **account);
    return *account ? GF_OK : gf_fail_memory(error);
}

static void free_names(struct names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->name[i]);
    free(names->name);
}

void gf_account_close(struct gf_account *account)
{
    if (!account)
        return;
    tdestroy(account->entries, free_entry);
    free_names(&account->missing);
    free_names(&account->damaged);
    free(account->list);
    free(account);
}

/* Notes the key "list" of a line or record. Returns false when out of memory. */
static bool note_list(struct gf_account *account, const struct gf_json_value *entry)
{
    const uint64_t list = strtoull(gf_json_text_of(entry, "list"), NULL, 16);
    size_t known = 0;
    while (known < account->lists && account->list[known] != list)
        known++;
    if (!list || known < account->lists)
        return true;
    if (!GF_GROW(account->list, account->lists))
        return false;
    account->list[account->lists++] = list;
    return true;
}

static bool add_name(struct names *names, const char *name)
{
    if (!GF_GROW(names->name, names->count))
        return false;
    names->name[names->count] = strdup(name);
    return names->name[names->count++];
}

/* Keeps an entry unless a later one about the same output is known. The account then owns the
 * texts. */
static bool keep(struct gf_account *account, const struct account_entry *given)
{
    struct account_entry *const entry = malloc(sizeof *entry);
    if (entry)
        *entry = *given;
    struct account_entry **const found = entry && entry->input && entry->output && entry->message
                                             ? tsearch(entry, &account->entries, compare)
                                             : NULL;
    if (!found || *found == entry) {
        if (!found)
            free_entry(entry);
        return found;
    }
    if (entry->finished >= (*found)->finished) {
        const struct account_entry earlier = **found;
        **found = *entry;
        *entry = earlier;
    }
    free_entry(entry);
    return true;
}

/* Adds what a line of a log says to the account. A line about a skipped output says nothing of how
 * it was made, and counts as done only if nothing else is known. */
static bool keep_line(struct gf_account *account, const struct gf_json_value *line)
{
    const char *const status = gf_json_text_of(line, "status");
    const double finished = gf_json_number_of(line, "finished");
    const double bytes_out = gf_json_number_of(line, "bytes_out");
    const bool skipped = !strcmp(status, gf_outcome_names[GF_OUTCOME_SKIPPED]);
    if (!*gf_json_text_of(line, "input") || !*status)
        return true;
    return note_list(account, line) &&
           keep(account, &(struct account_entry){
                             .input = strdup(gf_json_text_of(line, "input")),
                             .output = strdup(gf_json_text_of(line, "output")),
                             .message = strdup(gf_json_text_of(line, "message")),
                             .failed = !strcmp(status, gf_outcome_names[GF_OUTCOME_FAILED]),
                             .again = gf_json_int_of(line, "exit", 0, INT_MAX, 0) == GF_EXIT_AGAIN,
                             .finished = skipped || isnan(finished) ? 0 : finished,
                             .bytes_out = bytes_out > 0 ? bytes_out : 0});
}

static bool keep_record(struct gf_account *account, const struct gf_json_value *record)
{
    const struct gf_json_value *const failed = gf_json_first_of(record, "failed");
    const double bytes_out = gf_json_number_of(record, "bytes_out");
    char *message = NULL;
    if (failed && asprintf(&message, "%zu of %d pictures failed: %s%s", gf_json_count(failed),
                           gf_json_int_of(record, "pictures", 0, INT32_MAX, 0),
                           gf_json_text_of(failed, "message"), failed->next ? "; ..." : "") < 0)
        message = NULL;
    return note_list(account, record) &&
           keep(account,
                &(struct account_entry){.input = strdup(gf_json_text_of(record, "input")),
                                        .output = strdup(gf_json_text_of(record, "output")),
                                        .message = failed ? message : strdup(""),
                                        .failed = failed,
                                        .finished = gf_json_number_of(record, "finished"),
                                        .bytes_out = bytes_out > 0 ? bytes_out : 0});
}

/* Whether the file's name is that of an archive's record, such as "a.tar.json". */
static bool is_record(const char *path)
{
    static const char end[] = ".json";
    const size_t length = strlen(path), size = sizeof end - 1;
    char *const archive =
        length > size && !strcmp(path + length - size, end) ? strndup(path, length - size) : NULL;
    const bool is = archive && gf_archive_named(archive);
    free(archive);
    return is;
}

static enum gf_status add_record(struct gf_account *account, FILE *file, const char *path,
                                 struct gf_error *error)
{
    struct gf_json_tree tree;
    struct stat there;
    char *text = NULL;
    if (!fstat(fileno(file), &there) && S_ISREG(there.st_mode))
        text = malloc((size_t)there.st_size + 1);
    const size_t size = text ? fread(text, 1, (size_t)there.st_size, file) : 0;
    const bool read = text && !gf_json_read(path, 1, text, size, &tree, &(struct gf_error){0});
    bool kept = true;
    if (!read || !*gf_json_text_of(tree.value, "input") || !*gf_json_text_of(tree.value, "job"))
        kept = add_name(&account->damaged, path);
    else
        kept = keep_record(account, tree.value);
    if (read)
        gf_json_tree_free(&tree);
    free(text);
    return kept ? GF_OK : gf_fail_memory(error);
}

/* Adds the lines of a log. Ignores a line that a killed run left unfinished. */
static enum gf_status add_log(struct gf_account *account, FILE *file, const char *path,
                              struct gf_error *error)
{
    char *const text = malloc(GF_LINE_MOST + 1);
    enum gf_status status = text ? GF_OK : gf_fail_memory(error);
    size_t length;
    while (!status && (length = gf_line_read(file, '\n', text))) {
        struct gf_json_tree tree;
        if (length == GF_LINE_MOST)
            status = gf_fail(error, GF_ERROR_INPUT, "%s: more than 1 MB in a line is no log", path);
        else if (!gf_json_read(path, 1, text, length, &tree, &(struct gf_error){0})) {
            if (!keep_line(account, tree.value))
                status = gf_fail_memory(error);
            gf_json_tree_free(&tree);
        }
    }
    free(text);
    return status;
}

static enum gf_status add_folder(struct gf_account *account, DIR *folder, const char *path,
                                 struct gf_error *error)
{
    enum gf_status status = GF_OK;
    for (const struct dirent *entry; !status && (entry = readdir(folder));) {
        char *name = NULL;
        if (!is_record(entry->d_name))
            continue;
        if (asprintf(&name, "%s/%s", path, entry->d_name) < 0)
            return gf_fail_memory(error);
        status = gf_account_add(account, name, error);
        free(name);
    }
    return status;
}

enum gf_status gf_account_add(struct gf_account *account, const char *path, struct gf_error *error)
{
    DIR *const folder = opendir(path);
    FILE *const file = folder ? NULL : fopen(path, "re");
    enum gf_status status;
    if (folder)
        status = add_folder(account, folder, path, error);
    else if (!file)
        status = gf_fail(error, gf_status_of_name(GF_ERROR_USAGE, GF_ERROR_READ), "%s: %s", path,
                         strerror(errno));
    else if (is_record(path))
        status = add_record(account, file, path, error);
    else
        status = add_log(account, file, path, error);
    if (file && !status && ferror(file))
        status = gf_fail(error, GF_ERROR_READ, "%s: cannot be read", path);
    if (file)
        fclose(file);
    if (folder)
        closedir(folder);
    return status;
}

enum gf_status gf_account_expect(struct gf_account *account, const struct gf_inputs *inputs,
                                 struct gf_error *error)
{
    account->is_expected = true;
    for (size_t i = 0; i < inputs->count; i++) {
        struct account_entry wanted = {.input = (char *)gf_archive_path(inputs->item[i].path)};
        if (!tfind(&wanted, &account->entries, compare_inputs) &&
            !add_name(&account->missing, wanted.input))
            return gf_fail_memory(error);
    }
    return GF_OK;
}

static void count_entry(const void *node, VISIT visit, void *context)
{
    struct gf_account *const account = context;
    const struct account_entry *const entry = *(struct account_entry *const *)node;
    if (visit != postorder && visit != leaf)
        return;
    /* Lines without an output, of archives whose pictures became files, do not count as done. */
    account->failed += entry->failed;
    account->done += !entry->failed && *entry->output;
    account->again += entry->failed && entry->again;
    account->bytes_out += entry->bytes_out;
}

static void put_failure(const void *node, VISIT visit, void *context)
{
    struct gf_account *const account = context;
    const struct account_entry *const entry = *(struct account_entry *const *)node;
    if ((visit != postorder && visit != leaf) || !entry->failed)
        return;
    gf_json_object(&account->json, NULL, GF_JSON_INLINE);
    gf_json_string(&account->json, "input", entry->input);
    gf_json_string(&account->json, "output", entry->output);
    gf_json_string(&account->json, "message", entry->message);
    gf_json_end(&account->json);
}

static void put_names(struct gf_json *json, const char *key, const struct names *names)
{
    gf_json_array(json, key, GF_JSON_LINES);
    for (size_t i = 0; i < names->count; i++)
        gf_json_string(json, NULL, names->name[i]);
    gf_json_end(json);
}

void gf_account_put(struct gf_account *account, FILE *file)
{
    struct gf_json *const json = &account->json;
    *json = gf_json_begin(file);
    account->done = account->failed = account->again = 0;
    account->bytes_out = 0;
    twalk_r(account->entries, count_entry, account);
    gf_json_object(json, NULL, GF_JSON_LINES);
    gf_json_number(json, "outputs", (double)(account->done + account->failed), 0);
    gf_json_number(json, "done", (double)account->done, 0);
    gf_json_number(json, "failed", (double)account->failed, 0);
    gf_json_number(json, "bytes_out", account->bytes_out, 0);
    gf_json_number(json, "lists", (double)account->lists, 0);
    gf_json_array(json, "failures", GF_JSON_LINES);
    twalk_r(account->entries, put_failure, account);
    gf_json_end(json);
    put_names(json, "missing", &account->missing);
    put_names(json, "damaged", &account->damaged);
    gf_json_end(json);
}

enum gf_status gf_account_conclude(const struct gf_account *account, struct gf_error *error)
{
    const bool apart = account->lists > 1 && !account->is_expected;
    const bool again = account->missing.count || account->damaged.count || account->again || apart;
    char lists[100] = "";
    if (apart)
        snprintf(lists, sizeof lists,
                 ", and parts of %zu different lists: @LIST tells what is missing", account->lists);
    const enum gf_status status = again ? GF_ERROR_READ : account->failed ? GF_ERROR_INPUT : GF_OK;
    return gf_fail(
        error, status, "%zu outputs done, %zu failed, %zu inputs missing, %zu records damaged%s",
        account->done, account->failed, account->missing.count, account->damaged.count, lists);
}
