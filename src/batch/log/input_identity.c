#include "batch/log/input_identity.h"

#include <stdio.h>
#include <sys/stat.h>

#include "base/hash.h"
#include "codec/io/input.h"

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
