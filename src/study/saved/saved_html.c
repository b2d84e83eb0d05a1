#include "study/saved/saved.h"

#include <stdlib.h>

#include "base/fail.h"
#include "report/page/html.h"
#include "report/profile/profile_report.h"
#include "report/text.h"
#include "study/report/compare_report.h"
#include "study/saved/sides.h"

static const char *const kind_names[] = {[GF_SAVED_RUN] = "Runs",
                                         [GF_SAVED_COMPARISON] = "Comparisons",
                                         [GF_SAVED_LABS] = "Labs",
                                         [GF_SAVED_LOG] = "Batches"};
enum {
    KINDS = sizeof kind_names / sizeof *kind_names
}; /* number of kinds whose reports are shown
    * side by side */

/* Finds the reports of one kind. Returns their number. */
static int of_kind(const struct gf_saved *saved, int count, int kind, const struct gf_saved **found)
{
    int number = 0;
    for (int i = 0; i < count; i++) {
        if ((int)saved[i].kind == kind)
            found[number++] = &saved[i];
    }
    return number;
}

static void put_links(FILE *file, const struct gf_saved *saved, int count,
                      const struct gf_saved **found)
{
    gf_html(file, "<nav aria-label=\"parts of this page\">");
    for (int kind = 0; kind < KINDS; kind++) {
        if (of_kind(saved, count, kind, found) > 1)
            gf_html(file, "<a href=\"#sides%d\">%s side by side</a>", kind, kind_names[kind]);
    }
    for (int i = 0; i < count; i++) {
        if (saved[i].kind != GF_SAVED_COUNTERS)
            gf_html(file, "<a href=\"#report%d\">%s</a>", i, saved[i].name);
    }
    gf_html(file, "</nav>\n");
}

static enum gf_status put_one(FILE *file, const struct gf_saved *saved, int index, bool alone,
                              struct gf_error *error)
{
    char id[24];
    const char *const heading = alone ? "" : saved->name;
    snprintf(id, sizeof id, "report%d", index);
    switch (saved->kind) {
    case GF_SAVED_RUN:
        return gf_profile_html(file, &saved->report, &saved->profile, id, heading, error);
    case GF_SAVED_COMPARISON:
        gf_compare_html(file, &saved->comparison, id, heading);
        break;
    case GF_SAVED_LABS:
        gf_labs_html(file, saved->lab, saved->labs, id, heading);
        break;
    case GF_SAVED_LOG:
        gf_batch_html(file, &saved->batch, id, heading);
        break;
    case GF_SAVED_COUNTERS: /* counters are shown in the comparisons */
        break;
    }
    return GF_OK;
}

static enum gf_status put_all(FILE *file, const struct gf_saved *saved, int count,
                              const struct gf_saved **found, struct gf_error *error)
{
    if (count > 1)
        put_links(file, saved, count, found);
    for (int kind = 0; kind < KINDS; kind++) {
        char id[24], heading[64];
        const int sides = of_kind(saved, count, kind, found);
        snprintf(id, sizeof id, "sides%d", kind);
        snprintf(heading, sizeof heading, "%s side by side", kind_names[kind]);
        if (sides > 1)
            GF_TRY(gf_sides_html(file, found, sides, id, heading, error));
    }
    for (int i = 0; i < count; i++)
        GF_TRY(put_one(file, &saved[i], i, count == 1, error));
    return GF_OK;
}

enum gf_status gf_saved_html(FILE *file, const struct gf_saved *saved, int count,
                             struct gf_error *error)
{
    const struct gf_saved **const found = calloc((size_t)count + 1, sizeof(*found));
    char line[64];
    if (!found)
        return gf_fail_memory(error);
    snprintf(line, sizeof line, "%d saved report%s", count, gf_text_plural(count));
    gf_html_begin(file, count == 1 ? saved->name : "Report", count == 1 ? "" : line);
    const enum gf_status status = put_all(file, saved, count, found, error);
    gf_html_end(file);
    free(found);
    return status;
}
