#include "report/profile/profile_report.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "report/page/html.h"
#include "report/text.h"

/* The units along the drawing's time axis, the most boxes of the drawing, and the number of tracks
 * up to which rows are tall. */
enum { WIDTH = 100000, BOXES_MAX = 2400, TRACKS_TALL = 12 };

/* A timeline that is being drawn. Spans of one stage whose gap is shorter than gap_s are drawn as
 * one box. */
struct drawing {
    FILE *file; /* NULL: the boxes are only counted */
    const struct gf_profile *profile;
    const struct gf_profile_report *report;
    const struct gf_timeline *timeline;
    double end_s, gap_s;
    int tall; /* the height of a row of the drawing */
    int boxes;
};

/* The spans that are drawn as one box. */
struct box {
    int row, series; /* series: the report's row; -1: the start of the device */
    int spans;
    double begin_s, end_s, bytes;
};

static void put_box(struct drawing *drawing, const struct box *box)
{
    char bytes[32];
    const double scale = WIDTH / drawing->end_s;
    drawing->boxes++;
    if (!drawing->file)
        return;
    gf_text_bytes(box->bytes, bytes, sizeof bytes);
    gf_html(drawing->file, "<rect x=\"%.0f\" y=\"%d\" width=\"%.0f\" height=\"%d\"",
            box->begin_s * scale, box->row * drawing->tall + 2,
            fmax(1, (box->end_s - box->begin_s) * scale), drawing->tall - 4);
    if (box->series < 0)
        gf_html(drawing->file, " class=\"start\"><title>CUDA start");
    else
        gf_html(drawing->file, " class=\"s%d\"><title>%s", box->series % GF_HTML_SERIES,
                drawing->report->row[box->series].name);
    if (box->spans > 1)
        gf_html(drawing->file, ", %d times", box->spans);
    gf_html(drawing->file, ": %.3f ms at %.3f ms", (box->end_s - box->begin_s) * 1e3,
            box->begin_s * 1e3);
    if (box->bytes > 0)
        gf_html(drawing->file, ", %s", bytes);
    gf_html(drawing->file, "</title></rect>\n");
}

/* Draws one row: the events of a track's layer. */
static void put_layer(struct drawing *drawing, size_t first, size_t end, int layer, int row)
{
    const struct gf_timeline_event *const event = drawing->timeline->event;
    struct box box = {0};
    for (size_t i = first; i < end; i++) {
        const struct gf_span *const span = event[i].span;
        if (event[i].layer != layer)
            continue;
        const int series = gf_profile_report_row_of(drawing->report, span);
        const bool joins = box.spans && series == box.series &&
                           span->begin_s - box.end_s <= drawing->gap_s && drawing->gap_s > 0;
        if (box.spans && !joins)
            put_box(drawing, &box);
        if (!joins)
            box = (struct box){.row = row, .series = series, .begin_s = span->begin_s};
        box.spans++;
        box.end_s = fmax(span->end_s, span->begin_s);
        box.bytes += (double)span->bytes;
    }
    if (box.spans)
        put_box(drawing, &box);
}

/* Draws every row or, with `names`, writes their names. Returns the number of rows. */
static int put_rows(struct drawing *drawing, bool names)
{
    const struct gf_timeline *const timeline = drawing->timeline;
    int row = 0;
    for (size_t first = 0, end; first < timeline->count; first = end) {
        int layers = 0;
        for (end = first;
             end < timeline->count && timeline->event[end].track == timeline->event[first].track;
             end++) {
            char name[48];
            if (timeline->event[end].layer < layers)
                continue;
            layers++;
            gf_timeline_name(timeline, &timeline->event[end], name, sizeof name);
            if (names)
                gf_html(drawing->file, "<li>%s</li>", name);
        }
        for (int layer = 0; !names && layer < layers; layer++)
            put_layer(drawing, first, end, layer, row + layer);
        row += layers;
    }
    return row;
}

static void put_axis(const struct drawing *drawing)
{
    enum { TICKS = 5 };
    const int decimals = drawing->end_s < 1e-2 ? 2 : drawing->end_s < 0.1 ? 1 : 0;
    gf_html(drawing->file, "<div class=\"axis\" aria-hidden=\"true\">");
    for (int i = 0; i < TICKS; i++)
        gf_html(drawing->file, "<span>%.*f ms</span>", decimals,
                drawing->end_s * 1e3 * i / (TICKS - 1));
    gf_html(drawing->file, "</div>");
}

static void put_drawing(struct drawing *drawing, FILE *file)
{
    const size_t spans = drawing->timeline->count;
    const int rows = put_rows(drawing, false);
    while (drawing->boxes > BOXES_MAX && drawing->gap_s < drawing->end_s) {
        drawing->gap_s = drawing->gap_s > 0 ? 2 * drawing->gap_s : drawing->end_s / 8000;
        drawing->boxes = 0;
        (void)put_rows(drawing, false);
    }
    drawing->boxes = 0;
    drawing->file = file;
    drawing->tall = rows > TRACKS_TALL ? 14 : 24;
    gf_html(file, "<div class=\"timeline\" style=\"--row:%dpx\"><ol>", drawing->tall);
    (void)put_rows(drawing, true);
    gf_html(file,
            "</ol>\n<div class=\"lanes\" tabindex=\"0\" role=\"group\" data-ms=\"%.6f\" "
            "aria-label=\"Timeline: plus and minus zoom, arrows move, 0 shows all of it\">\n"
            "<svg viewBox=\"0 0 %d %d\" height=\"%d\" preserveAspectRatio=\"none\" role=\"img\" "
            "aria-label=\"What each lane did, and when\">\n",
            drawing->end_s * 1e3, WIDTH, rows * drawing->tall, rows * drawing->tall);
    (void)put_rows(drawing, false);
    gf_html(file, "</svg>\n");
    put_axis(drawing);
    gf_html(file, "</div>\n<div class=\"zoom\" hidden><button value=\"-\" aria-label=\"zoom out\">"
                  "&minus;</button><button value=\"+\" aria-label=\"zoom in\">+</button>"
                  "<button value=\"0\">all</button><span>wheel, + and &minus; zoom; arrows and "
                  "dragging move</span></div></div>\n");
    if (drawing->gap_s > 0)
        gf_html(
            file,
            "<p class=\"small\">%zu spans are drawn as %d boxes: those of one stage that follow "
            "each other within %.3f ms are joined. <code>--trace</code> writes every one.</p>\n",
            spans, drawing->boxes, drawing->gap_s * 1e3);
}

static enum gf_status put_timeline(FILE *file, const struct gf_profile_report *report,
                                   const struct gf_profile *profile, struct gf_error *error)
{
    struct gf_timeline timeline;
    if (!profile->span_count)
        return GF_OK;
    GF_TRY(gf_timeline_make(profile, &timeline, error));
    struct drawing drawing = {.profile = profile, .report = report, .timeline = &timeline};
    for (size_t i = 0; i < profile->span_count; i++)
        drawing.end_s = fmax(drawing.end_s, profile->spans[i].end_s);
    gf_html(file, "<h3>When each lane did what</h3>\n");
    if (drawing.end_s > 0)
        put_drawing(&drawing, file);
    gf_timeline_free(&timeline);
    return GF_OK;
}

static void put_facts(FILE *file, const struct gf_profile_report *report,
                      const struct gf_profile *profile)
{
    char text[280], in[GF_TEXT_FORMAT_SIZE], out[GF_TEXT_FORMAT_SIZE];
    gf_html(file, "<dl class=\"facts\">");
    gf_text_time(report->elapsed_s, text, sizeof text);
    gf_html_fact(file, "wall time", text);
    if (report->pictures > 1) {
        snprintf(text, sizeof text, "%zu", report->pictures);
        gf_html_fact(file, "pictures", text);
        snprintf(text, sizeof text, "%.1f", (double)report->pictures / report->elapsed_s);
        gf_html_fact(file, "pictures a second", text);
    }
    if ((size_t)profile->frames > report->pictures) {
        snprintf(text, sizeof text, "%d", profile->frames);
        gf_html_fact(file, "frames", text);
        snprintf(text, sizeof text, "%.1f", profile->frames / report->elapsed_s);
        gf_html_fact(file, "frames a second", text);
    }
    if (report->bound >= 0)
        gf_html_fact(file, "bound by", report->row[report->bound].name);
    gf_text_number(100 * report->overlap, 0, "%", text, sizeof text);
    gf_html_fact(file, "overlap", text);
    if (report->start_end_s > report->start_begin_s) {
        gf_text_time(report->start_end_s - report->start_begin_s, text, sizeof text);
        gf_html_fact(file, "CUDA start", text);
    }
    snprintf(text, sizeof text, "%d rows", profile->band_rows);
    gf_html_fact(file, "bands of", text);
    snprintf(text, sizeof text, "%d", profile->lanes);
    gf_html_fact(file, "lanes", text);
    snprintf(text, sizeof text, "%d", profile->segments);
    gf_html_fact(file, "segments", text);
    snprintf(text, sizeof text, "%s (%s)", profile->device, profile->reason);
    gf_html(file, "<div class=\"wide\"><dt>device</dt><dd>%s</dd></div>", text);
    const bool same = !memcmp(&profile->in, &profile->out, sizeof profile->in);
    gf_html(file, "<div class=\"wide\"><dt>picture</dt><dd>%s%s%s</dd></div></dl>\n",
            gf_text_format(profile->in, in), same ? "" : " to ",
            same ? "" : gf_text_format(profile->out, out));
}

static void put_bound(FILE *file, const struct gf_profile_report *report)
{
    if (!report->advice)
        return;
    gf_html(file,
            "<div class=\"says\"><p><strong>%s</strong> bounds the run: it is busy for %.0f%% of "
            "the wall time. What holds it back is %s.</p>",
            report->row[report->bound].name, report->bound_percent, report->advice->why);
    if (report->advice->guide)
        gf_html(file, "<p class=\"small\">Best Practices Guide %s</p>", report->advice->guide);
    fputs("</div>\n", file);
}

static void put_stage(FILE *file, const struct gf_profile_report *report, int index)
{
    const struct gf_profile_report_row *const row = &report->row[index];
    const double most_s = report->row[report->bound].busy_s;
    char bytes[32];
    gf_text_bytes(row->bytes, bytes, sizeof bytes);
    gf_html(file,
            "<tr class=\"%s\"><th scope=\"row\"><span class=\"key s%d\"></span>%s</th>"
            "<td class=\"n\">%d</td>",
            index == report->bound ? "chosen" : "", index % GF_HTML_SERIES, row->name, row->calls);
    gf_html_field(file, row->busy_s * 1e3, 3, "");
    gf_html_bar(file, most_s > 0 ? row->busy_s / most_s : NAN, index, false);
    gf_html(file, "<td class=\"n\">%s</td>", bytes);
    gf_html_field(file, row->rate > 0 ? row->rate * 1e-9 : NAN, 2, "");
    gf_html_field(file, row->percent, 1, "%");
    gf_html_bar(file, row->percent / 100, index, true);
    gf_html(file, "</tr>\n");
}

static void put_peaks(FILE *file, const struct gf_profile *profile)
{
    if (profile->device_copy_peak <= 0)
        return;
    gf_html(file, "<p class=\"small\">Copies measured in this run: %.1f GB/s, read and written",
            profile->device_copy_peak * 1e-9);
    if (profile->upload_peak > 0)
        gf_html(file, "; upload %.1f GB/s, download %.1f GB/s", profile->upload_peak * 1e-9,
                profile->download_peak * 1e-9);
    gf_html(file, ". A stage that stays in a cache can pass 100%%.</p>\n");
}

enum gf_status gf_profile_html(FILE *file, const struct gf_profile_report *report,
                               const struct gf_profile *profile, const char *id,
                               const char *heading, struct gf_error *error)
{
    gf_html(file, "<section id=\"%s\">\n", id);
    if (*heading)
        gf_html(file, "<h2>%s</h2>\n", heading);
    put_facts(file, report, profile);
    put_bound(file, report);
    const enum gf_status status = put_timeline(file, report, profile, error);
    gf_html(file, "<h3>What each stage took</h3>\n<div class=\"scroll\"><table><thead><tr>"
                  "<th scope=\"col\">stage</th><th scope=\"col\" class=\"n\">calls</th>"
                  "<th scope=\"col\" class=\"n\">busy ms</th><th></th>"
                  "<th scope=\"col\" class=\"n\">bytes</th>"
                  "<th scope=\"col\" class=\"n\">GB/s</th>"
                  "<th scope=\"col\" class=\"n\">of a copy</th><th></th></tr></thead><tbody>\n");
    for (int i = 0; i < report->count; i++)
        put_stage(file, report, i);
    gf_html(file, "</tbody></table></div>\n");
    put_peaks(file, profile);
    gf_html(file, "</section>\n");
    return status;
}
