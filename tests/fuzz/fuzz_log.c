/* Writing a log: whatever bytes the names have, --resume finds the picture that a line is about,
 * also behind a line that a killed run left unfinished. */
#include "fuzz_file.h"

#include <sys/stat.h>

#include "batch/log/batch_log.h"

static void add_line(const char *path, const struct gf_batch_log_entry *entry)
{
    struct gf_error error = {0};
    struct gf_batch_log *log = NULL;
    FUZZ_CHECK(!gf_batch_log_open(path, 0, &log, &error), "%s", error.text);
    FUZZ_CHECK(!gf_batch_log_add(log, entry, &error), "%s", error.text);
    gf_batch_log_close(log);
}

/* The output that the line names must be there in its size: the program itself serves. */
static long long size_of(const char *path)
{
    struct stat file;
    FUZZ_CHECK(!stat(path, &file), "%s", path);
    return file.st_size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { FINGERPRINT = 0x1234 };
    static const char torn[] = "{\"index\":1,\"input\":\"a", output[] = "/proc/self/exe";
    struct fuzz_bytes bytes = {data, size};
    struct gf_error error = {0};
    struct gf_resume *resume = NULL;
    const unsigned how = fuzz_byte(&bytes);
    char *const input = fuzz_string(&bytes), *const message = fuzz_string(&bytes);
    const char *const path = fuzz_path(torn, how & 1 ? sizeof torn - 1 : 0);
    const struct gf_input_identity identity = gf_identify_file(output);
    const struct gf_batch_log_entry entry = {.index = how,
                                             .input = *input ? input : "in",
                                             .identity = identity.text,
                                             .output = output,
                                             .outcome = GF_OUTCOME_DONE,
                                             .message = message,
                                             .bytes_in = -1,
                                             .bytes_out = size_of(output),
                                             .device = message,
                                             .fingerprint = FINGERPRINT};
    add_line(path, &entry);
    FUZZ_CHECK(!gf_resume_read(path, NULL, &resume, &error), "%s", error.text);
    FUZZ_CHECK(gf_resume_done(resume, entry.input, &identity, output, false, FINGERPRINT),
               "is not found");
    gf_resume_free(resume);
    free(input);
    free(message);
    return 0;
}
