#include "report/page/html.h"

#include <math.h>

/* The size of the drawing, and the margins around the curves. */
enum { WIDTH = 560, HEIGHT = 300, LEFT = 62, RIGHT = 14, TOP = 12, BOTTOM = 46, TICKS_MAX = 12 };

struct axis {
    double least, most; /* the range of the values shown, or of their logarithms with `log` */
    bool log;
    double tick[TICKS_MAX];
    int ticks;
};

static double value_on(const struct axis *axis, double value)
{
    return axis->log ? log10(value) : value;
}

static double place_x(const struct axis *axis, double x)
{
    return LEFT +
           (value_on(axis, x) - axis->least) / (axis->most - axis->least) * (WIDTH - LEFT - RIGHT);
}

static double place_y(const struct axis *axis, double y)
{
    return HEIGHT - BOTTOM -
           (value_on(axis, y) - axis->least) / (axis->most - axis->least) * (HEIGHT - TOP - BOTTOM);
}

static bool is_shown(const struct gf_chart_point *point)
{
    return isfinite(point->x) && isfinite(point->y);
}

static void widen(struct axis *axis, double value)
{
    if (!isfinite(value))
        return;
    axis->least = fmin(axis->least, value);
    axis->most = fmax(axis->most, value);
}

/* Returns a step of 1, 2 or 5 times a power of ten, so that about `count` steps fill the range. */
static double round_step(double range, int count)
{
    const double rough = range / count, power = pow(10, floor(log10(rough))), part = rough / power;
    return power * (part <= 1 ? 1 : part <= 2 ? 2 : part <= 5 ? 5 : 10);
}

/* Sets the ticks of a linear axis. With `whole` its ends become ticks, too. */
static void make_linear(struct axis *axis, int count, bool whole)
{
    if (!(axis->most > axis->least))
        axis->most = axis->least + (axis->least ? fabs(axis->least) : 1);
    const double step = round_step(axis->most - axis->least, count);
    if (whole) {
        axis->least = floor(axis->least / step + 1e-9) * step;
        axis->most = ceil(axis->most / step - 1e-9) * step;
    }
    const double first = ceil(axis->least / step - 1e-9) * step;
    for (int i = 0; i < TICKS_MAX && first + i * step <= axis->most + 1e-9 * step; i++)
        axis->tick[axis->ticks++] = first + i * step;
}

/* Sets the ticks of a logarithmic axis: at powers of `base`, or, if too few powers of ten fit, at
 * 1, 2 and 5. */
static void make_log(struct axis *axis, double base)
{
    double value = pow(base, floor(log(axis->least) / log(base) + 1e-9));
    int every = 1;
    while (log(axis->most / axis->least) / log(base) / every > TICKS_MAX - 2)
        every *= 2;
    for (; value <= axis->most * (1 + 1e-9) && axis->ticks < TICKS_MAX; value *= pow(base, every)) {
        if (value >= axis->least * (1 - 1e-9))
            axis->tick[axis->ticks++] = value;
    }
    axis->least = log10(axis->least);
    axis->most = log10(axis->most);
    if (axis->most - axis->least < 1e-9)
        axis->most = axis->least + 1;
}

static void make_axes(const struct gf_chart *chart, struct axis *x, struct axis *y)
{
    *x = *y = (struct axis){.least = INFINITY, .most = -INFINITY};
    for (int s = 0; s < chart->count; s++) {
        for (int i = 0; i < chart->series[s].points; i++) {
            const struct gf_chart_point *const point = &chart->series[s].point[i];
            if (!is_shown(point))
                continue;
            widen(x, point->x);
            widen(y, point->y);
            widen(y, point->least);
            widen(y, point->most);
        }
    }
    if (!(x->least <= x->most))
        return;
    for (int i = 0; i < chart->marks; i++) {
        widen(x, chart->mark[i].x);
        widen(y, chart->mark[i].y);
    }
    x->log = chart->log_x && x->least > 0;
    y->log = chart->log_y && y->least > 0;
    if (x->log)
        make_log(x, x->most / x->least > 2000 ? 10 : 2);
    else
        make_linear(x, 8, false);
    if (!y->log)
        widen(y, 0);
    if (y->log)
        make_log(y, y->most / y->least > 30 ? 10 : 2);
    else
        make_linear(y, 5, true);
}

/* Writes a number that is short enough for a tick: "1200", "0.25", "2 M". */
static void put_tick(FILE *file, double value)
{
    static const char *const units[] = {"", " k", " M", " G"};
    int unit = 0;
    for (; fabs(value) >= 1e5 && unit < 3; unit++)
        value /= 1000;
    gf_html(file, "%.4g%s", value, units[unit]);
}

static void put_axes(FILE *file, const struct gf_chart *chart, const struct axis *x,
                     const struct axis *y)
{
    for (int i = 0; i < y->ticks; i++) {
        const double at = place_y(y, y->tick[i]);
        gf_html(file,
                "<path class=\"grid\" d=\"M%d %.1fH%d\"/><text class=\"y\" x=\"%d\" y=\"%.1f\">",
                LEFT, at, WIDTH - RIGHT, LEFT - 8, at + 4);
        put_tick(file, y->tick[i]);
        gf_html(file, "</text>");
    }
    for (int i = 0; i < x->ticks; i++) {
        gf_html(file, "<text class=\"x\" x=\"%.1f\" y=\"%d\">", place_x(x, x->tick[i]),
                HEIGHT - BOTTOM + 18);
        put_tick(file, x->tick[i]);
        gf_html(file, "</text>");
    }
    gf_html(file,
            "<text class=\"x name\" x=\"%d\" y=\"%d\">%s</text>"
            "<text class=\"x name\" transform=\"translate(14 %d) rotate(-90)\">%s</text>\n",
            (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, chart->x_name, (TOP + HEIGHT - BOTTOM) / 2,
            chart->y_name);
}

static void put_series(FILE *file, const struct gf_chart_series *series, int index,
                       const struct axis *x, const struct axis *y)
{
    const int colour = index % GF_HTML_SERIES;
    bool draws = false;
    gf_html(file, "<path class=\"curve s%d\" d=\"", colour);
    for (int i = 0; i < series->points; i++) {
        const struct gf_chart_point *const point = &series->point[i];
        const bool shown = is_shown(point);
        if (shown)
            gf_html(file, "%s%.1f %.1f", draws ? "L" : "M", place_x(x, point->x),
                    place_y(y, point->y));
        draws = shown;
    }
    gf_html(file, "\"/>\n");
    for (int i = 0; i < series->points; i++) {
        const struct gf_chart_point *const point = &series->point[i];
        if (!is_shown(point) || series->plain)
            continue;
        const double at = place_x(x, point->x);
        if (point->most > point->least)
            gf_html(file, "<path class=\"spread s%d\" d=\"M%.1f %.1fV%.1f\"/>", colour, at,
                    place_y(y, point->least), place_y(y, point->most));
        gf_html(file, "<circle class=\"s%d\" cx=\"%.1f\" cy=\"%.1f\" r=\"3.4\"><title>", colour, at,
                place_y(y, point->y));
        gf_html(file, "%s: %.4g at %.6g", series->name, point->y, point->x);
        if (point->most > point->least)
            gf_html(file, " (%.4g to %.4g)", point->least, point->most);
        gf_html(file, "</title></circle>\n");
    }
}

/* Draws a mark. Names are above and below their lines in turns, so that two close names can be
 * read. */
static void put_mark(FILE *file, const struct gf_chart_mark *mark, bool below, const struct axis *x,
                     const struct axis *y)
{
    const double at = place_y(y, mark->y);
    const bool line = isnan(mark->x), low = below || at < TOP + 16;
    if (line)
        gf_html(file, "<path class=\"mark\" d=\"M%d %.1fH%d\"/>", LEFT, at, WIDTH - RIGHT);
    else
        gf_html(file, "<circle class=\"mark\" cx=\"%.1f\" cy=\"%.1f\" r=\"6\"/>",
                place_x(x, mark->x), at);
    gf_html(file, "<text class=\"mark\" x=\"%d\" y=\"%.1f\">%s</text>\n", WIDTH - RIGHT - 2,
            low ? at + 15 : at - 6, mark->name);
}

void gf_html_chart(FILE *file, const struct gf_chart *chart)
{
    struct axis x, y;
    make_axes(chart, &x, &y);
    if (!x.ticks && !y.ticks)
        return;
    gf_html(file, "<figure>");
    if (*chart->title)
        gf_html(file, "<figcaption>%s</figcaption>\n", chart->title);
    gf_html(file,
            "<svg class=\"chart\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s over %s\">\n",
            WIDTH, HEIGHT, chart->y_name, chart->x_name);
    put_axes(file, chart, &x, &y);
    for (int i = 0; i < chart->marks; i++)
        put_mark(file, &chart->mark[i], i % 2, &x, &y);
    for (int i = 0; i < chart->count; i++)
        put_series(file, &chart->series[i], i, &x, &y);
    gf_html(file, "</svg>\n");
    if (chart->count > 1) {
        gf_html(file, "<p class=\"keys\">");
        for (int i = 0; i < chart->count; i++)
            gf_html(file, "<span><span class=\"key s%d\"></span>%s</span>", i % GF_HTML_SERIES,
                    chart->series[i].name);
        gf_html(file, "</p>\n");
    }
    gf_html(file, "</figure>\n");
}
