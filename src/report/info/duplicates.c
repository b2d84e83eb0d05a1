/* Prints which pictures show the same. */
#include "report/info/duplicates.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/text/plain_text.h"

const struct gf_key_help gf_duplicates_keys[] = {
    {"files[].file", "its name"},
    {"files[].distance", "bits that differ from the first, in the hash of more"},
    {"files[].width", "columns, as stored"},
    {"files[].height", "rows"},
    {"files[].bytes", "its size"},
    {"files[].pages",
     "pages or frames, as many in each; null where the header does not count them"},
    {0},
};

/* A picture and the index of the first of its group. */
struct member {
    const struct gf_copy *found;
    size_t group;
};

static int compare(double a, double b)
{
    return (a > b) - (a < b);
}

/* Orders members by their groups; in a group the best come first. */
static int by_group(const void *a, const void *b)
{
    const struct member *const x = a, *const y = b;
    const struct gf_copy *const p = x->found, *const q = y->found;
    const int pixels = compare(q->width * q->height, p->width * p->height),
              bytes = compare(fmax(q->bytes, 0), fmax(p->bytes, 0)); /* NaN: 0 */
    return x->group != y->group ? (x->group > y->group) - (x->group < y->group)
           : pixels             ? pixels
           : bytes              ? bytes
                                : (p > q) - (p < q);
}

/* Orders members by how many pictures their files have, then as they were given. */
static int by_pages(const void *a, const void *b)
{
    const struct member *const x = a, *const y = b;
    const int pages = compare(fmax(x->found->pages, 0), fmax(y->found->pages, 0));
    return pages ? pages : (x->found > y->found) - (x->found < y->found);
}

static void put_text(const struct member *first, const struct member *end, FILE *file)
{
    for (const struct member *at = first; at < end; at++) {
        const struct gf_copy *const found = at->found;
        char size[32], bytes[32] = "-", name[4096];
        snprintf(size, sizeof size, "%.0fx%.0f", found->width, found->height);
        if (!isnan(found->bytes))
            snprintf(bytes, sizeof bytes, "%.0f", found->bytes);
        snprintf(name, sizeof name, "%s", found->name);
        gf_make_printable(name);
        fprintf(file, "%2d %12s %10s %s", gf_hashes_distance(first->found->hashes, found->hashes),
                size, bytes, name);
        fprintf(file, found->pages > 1 ? " (%.0f pictures)\n" : "\n", found->pages);
    }
}

static void put_json(const struct member *first, const struct member *end, FILE *file)
{
    struct gf_json json = gf_json_begin(file);
    gf_json_object(&json, NULL, GF_JSON_COMPACT);
    gf_json_array(&json, "files", GF_JSON_COMPACT);
    for (const struct member *at = first; at < end; at++) {
        const struct gf_copy *const found = at->found;
        gf_json_object(&json, NULL, GF_JSON_COMPACT);
        gf_json_string(&json, "file", found->name);
        gf_json_number(&json, "distance", gf_hashes_distance(first->found->hashes, found->hashes),
                       0);
        gf_json_number(&json, "width", found->width, 0);
        gf_json_number(&json, "height", found->height, 0);
        gf_json_number(&json, "bytes", found->bytes, 0);
        gf_json_number(&json, "pages", found->pages, 0);
        gf_json_end(&json);
    }
    gf_json_end(&json);
    gf_json_end(&json);
}

enum gf_status gf_duplicates_put(const struct gf_copy *found, size_t count, int most, bool json,
                                 FILE *file, struct gf_error *error)
{
    struct gf_hashes *const hashes = malloc((count + 1) * sizeof *hashes);
    struct member *const member = malloc((count + 1) * sizeof *member);
    size_t *const group = malloc((count + 1) * sizeof *group), groups = 0;
    enum gf_status status = hashes && member && group ? GF_OK : gf_fail_memory(error);
    for (size_t i = 0; !status && i < count; i++)
        member[i].found = &found[i];
    if (!status)
        qsort(member, count, sizeof *member, by_pages);
    for (size_t i = 0; !status && i < count; i++)
        hashes[i] = member[i].found->hashes;
    for (size_t i = 0, end; !status && i < count; i = end) {
        const double pages = fmax(member[i].found->pages, 0); /* NaN: 0 */
        for (end = i + 1; end < count && !compare(fmax(member[end].found->pages, 0), pages);)
            end++;
        status = gf_hashes_group(hashes + i, end - i, most, group, error);
        for (size_t k = i; !status && k < end; k++)
            member[k].group = (size_t)(member[i + group[k - i]].found - found);
    }
    if (!status)
        qsort(member, count, sizeof *member, by_group);
    for (size_t i = 0, end; !status && i < count; i = end) {
        for (end = i + 1; end < count && member[end].group == member[i].group;)
            end++;
        if (end - i > 1 && json)
            put_json(member + i, member + end, file);
        else if (end - i > 1) {
            fputs(groups++ ? "\n" : "", file);
            put_text(member + i, member + end, file);
        }
    }
    free(hashes);
    free(member);
    free(group);
    return status;
}
