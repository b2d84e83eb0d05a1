/* Tells whether the files that a chain names have changed. */
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#include "base/hash.h"
#include "base/named_file.h"
#include "chain/chain.h"
#include "gpufilter/chain.h"

/* Continues the stamp with the state of a file; returns 0 if it cannot be told. Two changes at
 * nearly the same time may leave the same times, so a file must have rested since. */
static uint64_t add_file(uint64_t stamp, const char *path)
{
    enum { RESTED_S = 2 };
    struct stat file;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (!stamp || stat(path, &file) || file.st_ctim.tv_sec + RESTED_S >= now.tv_sec)
        return 0;
    const struct gf_file_identity identity = gf_file_identify(&file);
    return gf_hash(stamp, &identity, sizeof identity);
}

uint64_t gf_chain_stamp(const char *text)
{
    struct gf_chain chain = {0};
    uint64_t stamp = !text || !gf_chain_parse_names(text, &chain, NULL);
    const int count = gf_chain_files(&chain, NULL, 0);
    const char **const path = calloc((size_t)count + 1, sizeof *path);
    if (!path || gf_chain_files(&chain, path, count) != count)
        stamp = 0;
    for (int i = 0; i < count; i++)
        stamp = add_file(stamp, path ? path[i] : "");
    free(path);
    gf_chain_free(&chain);
    return stamp;
}
