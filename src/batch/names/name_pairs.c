/* Pairs the files of two folders by their names. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "batch/names/names.h"

/* Compares two names below their folders, first without their extensions. */
static int order(const struct gf_input_name *a, const struct gf_input_name *b, bool stems)
{
    const char *const x = a->path + a->below, *const y = b->path + b->below;
    const size_t length = gf_archive_stem(x), other = gf_archive_stem(y);
    const int stem = strncmp(x, y, length < other ? length : other);
    return stem ? stem : length != other ? (length < other ? -1 : 1) : stems ? 0 : strcmp(x, y);
}

static int by_name(const void *a, const void *b)
{
    return order(a, b, false);
}

/* Whether the name stands in the list from `i` on, before one that differs not in its extension
 * alone. */
static bool is_ahead(const struct gf_inputs *list, size_t i, const struct gf_input_name *name)
{
    while (i < list->count && !order(&list->item[i], name, true)) {
        if (!order(&list->item[i++], name, false))
            return true;
    }
    return false;
}

enum gf_status gf_inputs_pair(struct gf_inputs list[2], struct gf_input_pair **pairs, size_t *count,
                              struct gf_error *error)
{
    struct gf_input_pair *const made = malloc((list[0].count + list[1].count + 1) * sizeof *made);
    GF_ALLOCATED(made, error);
    for (int i = 0; i < 2; i++)
        qsort(list[i].item, list[i].count, sizeof *list[i].item, by_name);
    *pairs = made;
    *count = 0;
    for (size_t i = 0, j = 0; i < list[0].count || j < list[1].count;) {
        const struct gf_input_name *const a = &list[0].item[i], *const b = &list[1].item[j];
        int side = i == list[0].count ? 1 : j == list[1].count ? -1 : order(a, b, true);
        if (!side && order(a, b, false))
            side = is_ahead(&list[0], i, b) ? -1 : is_ahead(&list[1], j, a) ? 1 : 0;
        made[(*count)++] =
            (struct gf_input_pair){{side <= 0 ? a->path : NULL, side >= 0 ? b->path : NULL}};
        i += side <= 0;
        j += side >= 0;
    }
    return GF_OK;
}
