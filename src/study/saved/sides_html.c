/* Writes saved reports side by side on the page. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "report/page/html.h"
#include "study/saved/sides.h"
#include "report/text.h"

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

enum gf_status gf_sides_html(FILE *file, const struct gf_saved *const *saved, int count,
                             const char *id, const char *heading, struct gf_error *error)
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
