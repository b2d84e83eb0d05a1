#include "batch/names/search.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "batch/names/url.h"

static bool is_less(struct gf_part_load a, struct gf_part_load b)
{
    return a.bytes != b.bytes ? a.bytes < b.bytes : a.part < b.part;
}

/* Moves the first part down to its place in the heap. */
static void sift(struct gf_part_load *load, int count)
{
    for (int at = 0, child; (child = 2 * at + 1) < count; at = child) {
        child += child + 1 < count && is_less(load[child + 1], load[child]);
        if (!is_less(load[child], load[at]))
            return;
        const struct gf_part_load lower = load[child];
        load[child] = load[at];
        load[at] = lower;
    }
}

static bool open_loads(struct gf_parts *parts)
{
    parts->load = calloc((size_t)parts->parts, sizeof *parts->load);
    for (int i = 0; parts->load && i < parts->parts; i++)
        parts->load[i].part = i;
    return parts->load;
}

/* Continues the hash with an input's name, without what signs it, and its bytes. */
static bool hash_input(uint64_t *hash, const char *name, int64_t bytes)
{
    char *const plain = strdup(name);
    if (!plain)
        return false;
    gf_url_hide(plain);
    *hash = gf_hash(gf_hash(*hash, plain, strlen(plain) + 1), &bytes, sizeof bytes);
    free(plain);
    return true;
}

bool gf_parts_take(struct gf_parts *parts, const char *name, int64_t bytes, bool *own)
{
    const size_t position = parts->position++;
    *own = true;
    if (!parts->parts)
        return true;
    if (!hash_input(&parts->list, name, bytes))
        return false;
    if (bytes < 0) {
        *own = position % (size_t)parts->parts == (size_t)parts->part - 1;
        return true;
    }
    if (!parts->load && !open_loads(parts))
        return false;
    *own = parts->load[0].part == parts->part - 1;
    parts->load[0].bytes += (uint64_t)bytes + 1; /* empty files are divided, too */
    sift(parts->load, parts->parts);
    return true;
}

void gf_parts_free(struct gf_parts *parts)
{
    free(parts->load);
    parts->load = NULL;
}
