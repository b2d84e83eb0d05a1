/* Writes the frame of the page, text that cannot become markup, curves, and pictures. */
#include "report/page/html.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/process/program.h"
#include "base/text/plain_text.h"
#include "gpufilter/pipeline.h"
#include "report/text.h"

GF_EMBED(page_html, "src/report/page/page.html");
GF_EMBED(page_css, "src/report/page/page.css");
GF_EMBED(page_js, "src/report/page/page.js");

static void put_text(FILE *file, const char *text)
{
    for (const char *at = text; *at;) {
        char letter[5] = "";
        const int length = gf_utf8_length(at);
        memcpy(letter, at, length ? (size_t)length : 1);
        gf_make_printable(letter);
        if (!strncmp(letter, at, length ? (size_t)length : 1)) {
            switch (*at) {
            case '&':
                fputs("&amp;", file);
                break;
            case '<':
                fputs("&lt;", file);
                break;
            case '>':
                fputs("&gt;", file);
                break;
            case '"':
                fputs("&quot;", file);
                break;
            case '\'':
                fputs("&#39;", file);
                break;
            default:
                fputs(letter, file);
            }
        } else {
            fputs(*at == '\n' || *at == '\t' ? " " : "\xef\xbf\xbd", file);
        }
        at += length ? length : 1;
    }
}

/* Writes one conversion. `specification` is the text from % to its letter. */
static void put_value(FILE *file, const char *specification, va_list *arguments)
{
    const char *const star = strchr(specification, '*');
    char text[400], whole[32];
    snprintf(whole, sizeof whole, "%s", specification);
    if (star)
        snprintf(whole, sizeof whole, "%.*s%d%s", (int)(star - specification), specification,
                 va_arg(*arguments, int), star + 1);
    switch (whole[strlen(whole) - 1]) {
    case 's':
        put_text(file, va_arg(*arguments, const char *));
        return;
    case 'f':
    case 'g':
        snprintf(text, sizeof text, whole, va_arg(*arguments, double));
        break;
    default:
        if (strchr(whole, 'z'))
            snprintf(text, sizeof text, whole, va_arg(*arguments, size_t));
        else
            snprintf(text, sizeof text, whole, va_arg(*arguments, int));
    }
    put_text(file, text);
}

void gf_html(FILE *file, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    while (*format) {
        const size_t plain = strcspn(format, "%");
        fwrite(format, 1, plain, file);
        format += plain;
        if (!*format)
            break;
        const size_t length = 1 + strspn(format + 1, "0123456789.*+-z") + 1;
        char specification[16];
        snprintf(specification, sizeof specification, "%.*s", (int)length, format);
        if (format[1] == '%')
            putc('%', file);
        else
            put_value(file, specification, &arguments);
        format += length;
    }
    va_end(arguments);
}

void gf_html_base64(FILE *file, const void *data, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *const byte = data;
    for (size_t i = 0; i < size; i += 3) {
        const unsigned bits = (unsigned)byte[i] << 16 |
                              (i + 1 < size ? (unsigned)byte[i + 1] << 8 : 0) |
                              (i + 2 < size ? (unsigned)byte[i + 2] : 0);
        putc(digits[bits >> 18], file);
        putc(digits[bits >> 12 & 63], file);
        putc(i + 1 < size ? digits[bits >> 6 & 63] : '=', file);
        putc(i + 2 < size ? digits[bits & 63] : '=', file);
    }
}

/* Writes the frame from the mark, such as "{body}", to the next mark or the end. A `mark` of NULL
 * is the beginning. */
static void put_frame(FILE *file, const char *mark)
{
    const char *const from = mark ? strstr(gf_page_html, mark) + strlen(mark) : gf_page_html;
    fwrite(from, 1, strcspn(from, "{"), file);
}

void gf_html_begin(FILE *file, const char *title, const char *line)
{
    put_frame(file, NULL);
    put_text(file, title);
    put_frame(file, "{title}");
    fputs(gf_page_css, file);
    put_frame(file, "{style}");
    gf_html(file, "<header><p class=\"made\">gpufilter %s</p><h1>%s</h1>", gf_version(), title);
    if (*line)
        gf_html(file, "<p class=\"line\">%s</p>", line);
    gf_html(file, "</header>\n<main>\n");
}

void gf_html_end(FILE *file)
{
    gf_html(file,
            "</main>\n<footer>Written by gpufilter %s from the figures that its tables and JSON "
            "hold. The man page explains each.</footer>\n",
            gf_version());
    put_frame(file, "{body}");
    fputs(gf_page_js, file);
    put_frame(file, "{script}");
}

void gf_html_field(FILE *file, double value, int decimals, const char *unit)
{
    char text[64];
    gf_text_number(value, decimals, unit, text, sizeof text);
    gf_html(file, "<td class=\"n\">%s</td>", text);
}

void gf_html_bar(FILE *file, double part, int series, bool of_all)
{
    if (isnan(part)) {
        gf_html(file, "<td class=\"bar\"></td>");
        return;
    }
    fputs(of_all ? "<td class=\"bar of\"><b>" : "<td class=\"bar\"><b>", file);
    gf_html(file, "<i class=\"s%d\" style=\"width:%.2f%%\"></i></b></td>", series % GF_HTML_SERIES,
            100 * fmin(fmax(part, 0), 1));
}

void gf_html_fact(FILE *file, const char *name, const char *value)
{
    gf_html(file, "<div><dt>%s</dt><dd>%s</dd></div>", name, value);
}

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

/* The most bytes of a picture, so that two pictures and a timeline stay below a megabyte; base64
 * takes a third more. */
enum { BYTES_MAX = 190000 };

/* Reads all bytes of a file. Returns NULL for anything but a regular file, such as a pipe that was
 * read before. */
static char *read_file(const char *path, size_t *size)
{
    struct stat about;
    FILE *const file = !stat(path, &about) && S_ISREG(about.st_mode) ? fopen(path, "re") : NULL;
    char *const bytes = file ? malloc((size_t)about.st_size + 1) : NULL;
    *size = bytes ? fread(bytes, 1, (size_t)about.st_size, file) : 0;
    if (file)
        fclose(file);
    return bytes;
}

/* Converts a file in memory to another format. Returns NULL after a failure. */
static void *convert(const void *data, size_t size, const char *chain,
                     const struct gf_options *options, enum gf_file_format format,
                     size_t *result_size)
{
    struct gf_pipeline *pipeline = NULL;
    struct gf_error error;
    void *result = NULL;
    if (gf_pipeline_open(chain, options, &pipeline, &error))
        return NULL;
    if (gf_pipeline_run_bytes(pipeline, data, size, format, &result, result_size, &error))
        result = NULL;
    gf_pipeline_close(pipeline);
    return result;
}

static struct gf_page_picture shrink(const void *data, size_t size, struct gf_options options)
{
    static const char chain[] = "resize=w=880:h=880:fit=inside:only=shrink:load=reduced";
    static const int qualities[] = {82, 60, 35};
    for (size_t i = 0; i < sizeof qualities / sizeof *qualities; i++) {
        struct gf_page_picture small = {0};
        options.quality = qualities[i];
        small.data = convert(data, size, chain, &options, GF_FILE_JPEG, &small.size);
        if (!small.data || small.size <= BYTES_MAX)
            return small;
        gf_free(small.data);
    }
    return (struct gf_page_picture){0};
}

struct gf_page_picture gf_page_picture_make(const char *path, const char *chain,
                                            const struct gf_options *options)
{
    struct gf_options settings = gf_options_default();
    struct gf_page_picture picture = {0};
    size_t size = 0, filtered_size = 0;
    char *const bytes = read_file(path, &size);
    void *filtered = NULL;
    settings.device = GF_DEVICE_CPU;
    settings.strip = true;
    settings.autorotate = options->autorotate;
    settings.allow_truncated = options->allow_truncated;
    settings.no_fuse = options->no_fuse;
    settings.max_pixels = options->max_pixels;
    if (bytes && chain && *chain)
        filtered = convert(bytes, size, chain, &settings, GF_FILE_PAM, &filtered_size);
    if (filtered)
        picture = shrink(filtered, filtered_size, settings);
    else if (bytes && !(chain && *chain))
        picture = shrink(bytes, size, settings);
    gf_free(filtered);
    free(bytes);
    return picture;
}

void gf_page_picture_free(struct gf_page_picture *picture)
{
    gf_free(picture->data);
    *picture = (struct gf_page_picture){0};
}

static void put_picture(FILE *file, const char *words, const struct gf_page_picture *picture)
{
    gf_html(file, "<img class=\"%s\" alt=\"the picture %s\" src=\"data:image/jpeg;base64,", words,
            words);
    gf_html_base64(file, picture->data, picture->size);
    gf_html(file, "\">");
}

void gf_pictures_html(FILE *file, const struct gf_page_picture *before,
                      const struct gf_page_picture *after)
{
    if (!before->data || !after->data)
        return;
    gf_html(file, "<h3>The picture, before and after</h3>\n<div class=\"slider\">");
    put_picture(file, "before", before);
    put_picture(file, "after", after);
    gf_html(file,
            "<input type=\"range\" min=\"0\" max=\"100\" value=\"50\" hidden "
            "aria-label=\"how much of the picture is shown as it was before\"></div>\n"
            "<p class=\"small\">Made smaller, as JPEG: before at the left, after at the right."
            "</p>\n");
}

/* Writes the pixels as an image element: a BMP of 24 bits, whose rows go upwards and end at
 * multiples of four bytes. */
static void put_pixels(FILE *file, const char *words, int width, int height,
                       const unsigned char *rgb)
{
    enum { HEAD = 54 };
    unsigned char bmp[HEAD + (3 * GF_SPOT_SIDE + 3) * GF_SPOT_SIDE] = "BM";
    const int pitch = (3 * width + 3) / 4 * 4, size = HEAD + pitch * height;
    const int fields[][2] = {{2, size}, {10, HEAD}, {14, 40}, {18, width}, {22, height}};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        for (int byte = 0; byte < 4; byte++)
            bmp[fields[i][0] + byte] = (unsigned char)(fields[i][1] >> 8 * byte);
    }
    bmp[26] = 1;
    bmp[28] = 24;
    for (int i = 0; i < width * height; i++) {
        unsigned char *const to = bmp + HEAD + (height - 1 - i / width) * pitch + 3 * (i % width);
        for (int c = 0; c < 3; c++)
            to[c] = rgb[3 * i + 2 - c];
    }
    gf_html(file,
            "<figure><figcaption>%s</figcaption><img alt=\"%s, enlarged\" "
            "src=\"data:image/bmp;base64,",
            words, words);
    gf_html_base64(file, bmp, (size_t)size);
    gf_html(file, "\"></figure>");
}

void gf_spot_html(FILE *file, const char *name, const struct gf_compare_spot *spot)
{
    gf_html(
        file,
        "<p class=\"small\">Where %s differs most from the CPU's picture: %dx%d pixels at %d, %d"
        "</p>\n<div class=\"spot\">",
        name, spot->width, spot->height, spot->x, spot->y);
    put_pixels(file, "the CPU's", spot->width, spot->height, spot->expected);
    put_pixels(file, name, spot->width, spot->height, spot->found);
    put_pixels(file, "the difference", spot->width, spot->height, spot->difference);
    gf_html(file, "</div>\n");
}
