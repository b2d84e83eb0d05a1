/* Writes saved reports on a page: those of one kind side by side, and then each report. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory/grow.h"
#include "report/page/html.h"
#include "report/profile/profile_report.h"
#include "report/text.h"
#include "study/report/study_report.h"
#include "study/saved/saved.h"

enum gf_change gf_change_of(const struct gf_timing *a, const struct gf_timing *b)
{
    if (a->runs < 2 || b->runs < 2)
        return GF_CHANGE_UNKNOWN;
    if (b->most_s < a->least_s)
        return GF_CHANGE_FASTER;
    return b->least_s > a->most_s ? GF_CHANGE_SLOWER : GF_CHANGE_NONE;
}

/* The state of collecting rows. */
struct collector {
    struct gf_sides *sides;
    int count; /* the number of reports */
    int side;  /* the report that is being read */
    bool full; /* memory has run out */
};

static void add(struct collector *collector, const char *group, const char *name,
                struct gf_timing timing)
{
    struct gf_sides *const sides = collector->sides;
    int at = 0;
    if (!timing.runs)
        return;
    while (at < sides->rows &&
           (strcmp(sides->row[at].group, group) || strcmp(sides->row[at].name, name)))
        at++;
    if (at == sides->rows) {
        struct gf_timing *const side = calloc((size_t)collector->count, sizeof *side);
        if (!side || !GF_GROW(sides->row, sides->rows)) {
            free(side);
            collector->full = true;
            return;
        }
        struct gf_side_row *const row = &sides->row[at];
        *row = (struct gf_side_row){.side = side};
        snprintf(row->group, sizeof row->group, "%s", group);
        snprintf(row->name, sizeof row->name, "%s", name);
        sides->rows++;
    }
    sides->row[at].side[collector->side] = timing;
}

static struct gf_timing once(double seconds)
{
    return (struct gf_timing){
        .runs = 1, .median_s = seconds, .least_s = seconds, .most_s = seconds};
}

static void add_run(struct collector *collector, const struct gf_saved *saved)
{
    add(collector, "", "wall time", once(saved->report.elapsed_s));
    for (int i = 0; i < saved->report.count; i++)
        add(collector, "", saved->report.row[i].name, once(saved->report.row[i].busy_s));
}

static void add_comparison(struct collector *collector, const struct gf_comparison *comparison)
{
    for (int g = 0; g < comparison->groups; g++) {
        const struct gf_compare_group *const group = &comparison->group[g];
        for (int i = 0; i < group->rows; i++)
            add(collector, group->name, group->row[i].name, group->row[i].warm);
    }
    for (int i = 0; i < comparison->runs; i++)
        add(collector, "the whole chain", comparison->run[i].name, comparison->run[i].total);
}

/* Adds the times of a batch's pictures: the median, and the middle half as the spread. */
static void add_batch(struct collector *collector, const struct gf_batch_report *batch)
{
    add(collector, "", "a picture", batch->total);
    for (int i = 0; i < GF_BATCH_STAGES; i++) {
        if (batch->stage_ms[i] > 0)
            add(collector, "", gf_batch_stage_name(i), batch->stage[i]);
    }
}

enum gf_status gf_sides_make(const struct gf_saved *const *saved, int count, struct gf_sides *sides,
                             struct gf_error *error)
{
    *sides = (struct gf_sides){0};
    struct collector collector = {.sides = sides, .count = count};
    for (; collector.side < count; collector.side++) {
        const struct gf_saved *const one = saved[collector.side];
        if (one->kind == GF_SAVED_RUN)
            add_run(&collector, one);
        else if (one->kind == GF_SAVED_COMPARISON)
            add_comparison(&collector, &one->comparison);
        else if (one->kind == GF_SAVED_LOG)
            add_batch(&collector, &one->batch);
    }
    if (!collector.full)
        return GF_OK;
    gf_sides_free(sides);
    return gf_fail_memory(error);
}

void gf_sides_free(struct gf_sides *sides)
{
    for (int i = 0; i < sides->rows; i++)
        free(sides->row[i].side);
    free(sides->row);
    *sides = (struct gf_sides){0};
}

/* ---- side by side on the page ---- */

static const char *device_of(const struct gf_saved *saved)
{
    return saved->kind == GF_SAVED_RUN                        ? saved->profile.device
           : saved->kind == GF_SAVED_COMPARISON               ? saved->comparison.device
           : saved->kind == GF_SAVED_LOG && saved->batch.ways ? saved->batch.way[0].text
           : saved->labs                                      ? saved->lab[0].result->device
                                                              : "";
}

static void put_head(FILE *file, const struct gf_saved *const *saved, int count, const char *first)
{
    gf_html(file, "<div class=\"scroll\"><table><thead><tr><th scope=\"col\">%s</th>", first);
    for (int i = 0; i < count; i++)
        gf_html(file, "<th scope=\"col\" class=\"n side\">%s<span class=\"what\">%s</span></th>",
                saved[i]->name, device_of(saved[i]));
    gf_html(file, "</tr></thead><tbody>\n");
}

/* Writes the time, and its difference from the first report's time. A difference that exceeds the
 * spread of the runs gets a colour and a sign. */
static void put_time(FILE *file, const struct gf_timing *first, const struct gf_timing *timing,
                     bool is_first)
{
    static const struct {
        const char *look, *sign;
    } looks[] = {[GF_CHANGE_UNKNOWN] = {"what", ""},
                 [GF_CHANGE_NONE] = {"what", ""},
                 [GF_CHANGE_FASTER] = {"what good", "\xe2\x96\xbc "},
                 [GF_CHANGE_SLOWER] = {"what bad", "\xe2\x96\xb2 "}};
    if (!timing->runs) {
        gf_html(file, "<td class=\"n soft\">-</td>");
        return;
    }
    const double ms = timing->median_s * 1e3;
    gf_html(file, "<td class=\"n\">%.*f", gf_text_decimals(ms), ms);
    if (!is_first && first->runs && first->median_s > 0) {
        const enum gf_change change = gf_change_of(first, timing);
        gf_html(file, "<span class=\"%s\">%s%+.1f%%</span>", looks[change].look, looks[change].sign,
                100 * (timing->median_s / first->median_s - 1));
    }
    gf_html(file, "</td>");
}

static void put_times(FILE *file, const struct gf_saved *const *saved, int count,
                      const struct gf_sides *sides)
{
    for (int i = 0; i < sides->rows; i++) {
        const struct gf_side_row *const row = &sides->row[i];
        if (!i || strcmp(row->group, sides->row[i - 1].group)) {
            if (i)
                gf_html(file, "</tbody></table></div>\n");
            if (*row->group)
                gf_html(file, "<h3>%s</h3>\n", row->group);
            put_head(file, saved, count, "ms");
        }
        gf_html(file, "<tr><th scope=\"row\">%s</th>", row->name);
        for (int side = 0; side < count; side++)
            put_time(file, &row->side[0], &row->side[side], !side);
        gf_html(file, "</tr>\n");
    }
    if (sides->rows)
        gf_html(file, "</tbody></table></div>\n");
}

static const struct gf_lab_result *result_of(const struct gf_saved *saved, const char *name)
{
    for (int i = 0; i < saved->labs; i++) {
        if (!strcmp(saved->lab[i].lab->name, name))
            return saved->lab[i].result;
    }
    return NULL;
}

/* Writes the guide's claims in the order of the lab, as "= agrees" or the sign for the contrary. */
static void put_claims(FILE *file, const struct gf_lab_result *result)
{
    gf_html(file, "<td class=\"side\">");
    for (int i = 0; result && i < result->remarks; i++) {
        if (result->remark[i].kind == GF_LAB_AGREES)
            gf_html(file, "<span class=\"good\" title=\"%s\">=</span> ", result->remark[i].text);
        if (result->remark[i].kind == GF_LAB_DIFFERS)
            gf_html(file, "<span class=\"bad\" title=\"%s\">\xe2\x89\xa0</span> ",
                    result->remark[i].text);
    }
    gf_html(file, result ? "</td>" : "-</td>");
}

static bool named_before(const struct gf_saved *const *saved, int side, const char *name)
{
    bool before = false;
    for (int i = 0; i < side; i++)
        before |= result_of(saved[i], name) != NULL;
    return before;
}

static void put_labs(FILE *file, const struct gf_saved *const *saved, int count)
{
    put_head(file, saved, count, "lab");
    for (int side = 0; side < count; side++) {
        for (int i = 0; i < saved[side]->labs; i++) {
            const char *const name = saved[side]->lab[i].lab->name;
            if (named_before(saved, side, name))
                continue;
            gf_html(file, "<tr><th scope=\"row\">%s</th>", name);
            for (int k = 0; k < count; k++)
                put_claims(file, result_of(saved[k], name));
            gf_html(file, "</tr>\n");
        }
    }
    gf_html(file,
            "</tbody></table></div>\n<p class=\"small\">A sign for each claim of the guide: = "
            "it holds on that GPU, \xe2\x89\xa0 it does not.</p>\n");
}

/* Writes the part of the page. `id` consists of letters and digits. */
static GF_CHECKED enum gf_status sides_html(FILE *file, const struct gf_saved *const *saved,
                                            int count, const char *id, const char *heading,
                                            struct gf_error *error)
{
    struct gf_sides sides;
    GF_TRY(gf_sides_make(saved, count, &sides, error));
    gf_html(file, "<section id=\"%s\">\n<h2>%s</h2>\n", id, heading);
    if (saved[0]->kind == GF_SAVED_LABS)
        put_labs(file, saved, count);
    else
        put_times(file, saved, count, &sides);
    if (saved[0]->kind == GF_SAVED_COMPARISON)
        gf_html(file,
                "<p class=\"small\">Medians, and their difference from the first column. It has "
                "a colour and a sign only where every run of one is faster than every run of "
                "the other: \xe2\x96\xbc faster, \xe2\x96\xb2 slower.</p>\n");
    if (saved[0]->kind == GF_SAVED_RUN)
        gf_html(file,
                "<p class=\"small\">A profile is a single run, so that nothing tells what of a "
                "difference is chance: none has a colour. Comparisons "
                "(--profile=compare:json) have runs enough.</p>\n");
    if (saved[0]->kind == GF_SAVED_LOG)
        gf_html(file,
                "<p class=\"small\">Medians over the pictures, and their difference from the "
                "first column. It has a colour and a sign only where the middle halves of the "
                "pictures do not touch.</p>\n");
    gf_html(file, "</section>\n");
    gf_sides_free(&sides);
    return GF_OK;
}

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
            GF_TRY(sides_html(file, found, sides, id, heading, error));
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
