/* A batch that reads an archive: into a folder, into an archive, or into both. The input makes the
 * archive: the names of its members, its links and its pax headers; or it is the archive, as it
 * stands. Whatever the names are, nothing is written but below the outputs' folder, and an archive
 * that was written can be read again. */
#include "fuzz_file.h"
#include "tar_maker.h"

#include <dirent.h>
#include <ftw.h>
#include <sys/stat.h>

#include "batch/archives/archive_file.h"
#include "batch/batch.h"

enum { TO_FOLDER = 1, TO_ARCHIVE = 2, PLAIN = 4, FAIL_FAST = 8, RAW = 16 };

/* SCRATCH/a/b holds the outputs, "folder" and "out.tar", and the archive's record, "out.tar.json".
 * It holds nothing else; nor do the folders above. */
static char scratch[] = "/tmp/gpufilter-fuzz-XXXXXX";
static char folder[80], archive[80], record[80];

static int remove_one(const char *path, const struct stat *file, int kind, struct FTW *where)
{
    (void)file;
    (void)kind;
    (void)where;
    FUZZ_CHECK(!remove(path), "%s", path);
    return 0;
}

static void remove_scratch(void)
{
    (void)nftw(scratch, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void prepare_scratch(void)
{
    char path[80];
    if (*folder)
        return;
    FUZZ_CHECK(mkdtemp(scratch), "%s", scratch);
    snprintf(path, sizeof path, "%s/a", scratch);
    FUZZ_CHECK(!mkdir(path, 0700), "%s", path);
    snprintf(path, sizeof path, "%s/a/b", scratch);
    FUZZ_CHECK(!mkdir(path, 0700), "%s", path);
    snprintf(folder, sizeof folder, "%s/folder/", path);
    snprintf(archive, sizeof archive, "%s/out.tar", path);
    snprintf(record, sizeof record, "%s.json", archive);
    atexit(remove_scratch);
}

/* Whether the folder has no other entries than these two. */
static void check_entries(const char *below, const char *one, const char *two)
{
    char path[80];
    snprintf(path, sizeof path, "%s%s", scratch, below);
    DIR *const open = opendir(path);
    FUZZ_CHECK(open, "%s", path);
    for (const struct dirent *entry; (entry = readdir(open));) {
        const char *const name = entry->d_name;
        FUZZ_CHECK(!strcmp(name, ".") || !strcmp(name, "..") || !strcmp(name, one) ||
                       !strcmp(name, two),
                   "%s/%s", path, name);
    }
    closedir(open);
}

static void check_scratch(void)
{
    check_entries("", "a", "a");
    check_entries("/a", "b", "b");
    unlink(record);
    check_entries("/a/b", "folder", "out.tar");
    (void)nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* The archive that was written has an end, and with `plain` only members with plain names. */
static void check_archive(bool plain)
{
    struct gf_archive_reader *reader = NULL;
    struct gf_archive_member member;
    struct gf_error error = {0};
    bool found = true, more;
    FUZZ_CHECK(!gf_archive_reader_open(archive, &reader, &error), "%s", error.text);
    while (found) {
        FUZZ_CHECK(!gf_archive_next(reader, &member, &found, &error), "%s", error.text);
        FUZZ_CHECK(!found || !plain || !gf_archive_member_strange(&member), "%s", member.name);
        gf_archive_member_free(&member);
    }
    FUZZ_CHECK(!gf_archive_end(reader, &more, &error) && !more, "%s", error.text);
    gf_archive_reader_close(reader);
    unlink(archive);
}

static void check_message(void *context, enum gf_message_kind kind, const char *text)
{
    (void)context;
    (void)kind;
    FUZZ_CHECK(*text && !strchr(text, '\n'), "%s", text);
}

/* Where a picture went. */
static void check_entry(void *context, const struct gf_batch_log_entry *entry)
{
    (void)context;
    if (!entry->output || entry->outcome != GF_OUTCOME_DONE)
        return;
    const bool in_folder = !strncmp(entry->output, folder, strlen(folder));
    FUZZ_CHECK(in_folder || !strncmp(entry->output, archive, strlen(archive)), "%s", entry->output);
    FUZZ_CHECK(!in_folder || !strstr(entry->output, "/../"), "%s", entry->output);
}

static void run(unsigned how, const char *path)
{
    char from[60];
    snprintf(from, sizeof from, "tar:%s", path);
    const char *const argument = from;
    const struct gf_inputs_request wish = {.argument = &argument, .count = 1};
    struct gf_inputs inputs;
    struct gf_template output[2];
    struct gf_error error = {0};
    struct gf_batch_state state;
    const int outputs = (how & TO_FOLDER && how & TO_ARCHIVE) ? 2 : 1;
    const bool first_is_folder = how & TO_FOLDER || !(how & TO_ARCHIVE);
    FUZZ_CHECK(!gf_inputs_expand(&wish, &inputs, &error), "%s", error.text);
    FUZZ_CHECK(!gf_template_parse(folder, &(struct gf_options){0}, true, &output[0], &error), "%s",
               error.text);
    FUZZ_CHECK(!gf_template_of_archive(archive, GF_FILE_AUTO, &output[1], &error), "%s",
               error.text);
    struct gf_options options = fuzz_options();
    options.max_output_bytes = 1 << 20;
    const struct gf_batch_output second = {
        .chain = "invert", .options = options, .name = &output[1]};
    const struct gf_batch_request request = {.chain = "",
                                             .options = options,
                                             .inputs = &inputs,
                                             .output = &output[first_is_folder ? 0 : 1],
                                             .more = &second,
                                             .more_outputs = outputs - 1,
                                             .server = GF_SERVER_OFF,
                                             .fail_fast = how & FAIL_FAST,
                                             .plain_members = how & PLAIN,
                                             .message = check_message,
                                             .entry = check_entry};
    const enum gf_status status = gf_batch_run(&request, &state, &error);
    FUZZ_CHECK(!status || (*error.text && !strchr(error.text, '\n')), "%s", error.text);
    FUZZ_CHECK(state.done + state.failed + state.skipped <= state.files, "%zu of %zu", state.done,
               state.files);
    gf_inputs_free(&inputs);
    gf_template_free(&output[0]);
    gf_template_free(&output[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct tar tar;
    struct fuzz_bytes bytes = {data, size};
    const unsigned how = fuzz_byte(&bytes);
    prepare_scratch();
    tar.size = 0;
    while (bytes.size && !(how & RAW))
        tar_add(&tar, &bytes);
    if (how & 32)
        tar_append(&tar, (char[2 * TAR_BLOCK]){0}, 2 * TAR_BLOCK);
    run(how, how & RAW ? fuzz_path(bytes.data, bytes.size) : fuzz_path(tar.data, tar.size));
    check_scratch();
    if (!access(archive, F_OK))
        check_archive(how & PLAIN);
    return 0;
}
