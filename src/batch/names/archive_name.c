#include "batch/names/archive_name.h"

#include <string.h>
#include <strings.h>

#include "batch/names/url.h"

static const char prefix[] = "tar:";

/* The extensions of archives, and the packers of such files by libarchive's names. */
static const struct {
    const char *extension, *packer;
} kinds[] = {{".tar", NULL},    {".tar.gz", "gzip"},  {".tgz", "gzip"}, {".tar.bz2", "bzip2"},
             {".tar.xz", "xz"}, {".tar.zst", "zstd"}, {".tzst", "zstd"}};

static int kind_of(const char *name)
{
    const size_t length = gf_url_path(name);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const size_t size = strlen(kinds[i].extension);
        if (length > size && !strncasecmp(name + length - size, kinds[i].extension, size))
            return (int)i;
    }
    return -1;
}

bool gf_archive_named(const char *argument)
{
    return !strncmp(argument, prefix, sizeof prefix - 1) || kind_of(argument) >= 0;
}

const char *gf_archive_path(const char *argument)
{
    return strncmp(argument, prefix, sizeof prefix - 1) ? argument : argument + sizeof prefix - 1;
}

size_t gf_archive_stem(const char *name)
{
    const int kind = kind_of(name);
    const char *const dot = strrchr(name, '.');
    if (kind >= 0)
        return gf_url_path(name) - strlen(kinds[kind].extension);
    return dot && dot != name ? (size_t)(dot - name) : strlen(name);
}

const char *gf_archive_packer(const char *argument)
{
    const int kind = kind_of(gf_archive_path(argument));
    return kind < 0 ? NULL : kinds[kind].packer;
}
