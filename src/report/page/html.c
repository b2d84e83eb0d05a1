/* Writes the frame of the page, and text that cannot become markup. */
#include "report/page/html.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include "base/embed.h"
#include "base/printable.h"
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

void gf_html_cell(FILE *file, double value, int decimals, const char *unit)
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
