#include "batch/input_identity.h"

#include <stdio.h>
#include <sys/stat.h>

#include "codec/io/input.h"

static struct gf_input_identity identify(uint64_t size, struct timespec time, const char *archive)
{
    struct gf_input_identity identity = {.changed = time};
    snprintf(identity.text, sizeof identity.text, "%llu %lld.%09ld%s%.60s",
             (unsigned long long)size, (long long)time.tv_sec, time.tv_nsec, *archive ? " in " : "",
             archive);
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

struct gf_input_identity gf_identify_member(uint64_t size, struct timespec time,
                                            const struct gf_input_identity *archive)
{
    struct gf_input_identity identity = identify(size, time, archive->text);
    if (*archive->text)
        identity.changed = archive->changed;
    return identity;
}
