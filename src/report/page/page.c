/* Writes the frame of the page (page.h), its parts, and its pictures. */
#include "report/page/page.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "base/process/program.h"
#include "base/text/json.h"
#include "gpufilter/pipeline.h"

GF_EMBED(page_html, "src/report/page/page.html");
GF_EMBED(page_css, "src/report/page/page.css");
GF_EMBED(page_js, "src/report/page/page.js");

/* Writes the text of page.html that follows the mark, such as "{style}", up to the next mark or the
 * end; from the beginning if `mark` is NULL. */
static void put_frame(FILE *file, const char *mark)
{
    const char *const from = mark ? strstr(gf_page_html, mark) + strlen(mark) : gf_page_html;
    fwrite(from, 1, strcspn(from, "{"), file);
}

/* Writes JSON inside an element of HTML, where a < could begin a tag. In JSON a < only occurs in
 * strings, where the escape \u003c means the same. */
static ssize_t write_escaped(void *context, const char *text, size_t size)
{
    FILE *const file = context;
    const char *const end = text + size;
    for (const char *at = text; at < end; at++) {
        const char *const less = memchr(at, '<', (size_t)(end - at));
        fwrite(at, 1, (size_t)((less ? less : end) - at), file);
        if (!less)
            break;
        fputs("\\u003c", file);
        at = less;
    }
    return (ssize_t)size;
}

static void end_part(struct gf_page *page)
{
    if (!page->in_part)
        return;
    putc('}', page->data);
    fflush(page->data);
    fputs("</script>\n", page->file);
    page->in_part = false;
}

FILE *gf_page_part(struct gf_page *page, const char *kind, const char *name)
{
    end_part(page);
    page->in_part = true;
    fputs("<script type=\"application/json\">", page->file);
    fprintf(page->data, "{\"kind\":\"%s\",\"name\":", kind);
    struct gf_json json = gf_json_begin(page->data);
    gf_json_string(&json, NULL, name);
    fputs(",\"data\":", page->data);
    return page->data;
}

enum gf_status gf_page_begin(struct gf_page *page, FILE *file, const char *title, const char *line,
                             struct gf_error *error)
{
    *page = (struct gf_page){
        file, fopencookie(file, "w", (cookie_io_functions_t){.write = write_escaped}), false};
    GF_ALLOCATED(page->data, error);
    put_frame(file, NULL);
    fputs(gf_page_css, file);
    put_frame(file, "{style}");
    struct gf_json json = gf_json_begin(gf_page_part(page, "page", ""));
    gf_json_object(&json, NULL, GF_JSON_COMPACT);
    gf_json_string(&json, "title", title);
    gf_json_string(&json, "line", line);
    gf_json_string(&json, "version", gf_version());
    gf_json_end(&json);
    return GF_OK;
}

void gf_page_end(struct gf_page *page)
{
    end_part(page);
    fclose(page->data);
    put_frame(page->file, "{data}");
    fputs(gf_page_js, page->file);
    put_frame(page->file, "{script}");
}

/* The most bytes of a JPEG on the page, so that a page with two pictures and a timeline stays below
 * a megabyte; base64 adds a third. */
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

/* Writes bytes as base64, for a data: address. */
static void put_base64(FILE *file, const void *data, size_t size)
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

static void put_picture(FILE *file, const char *key, const struct gf_page_picture *picture)
{
    fprintf(file, "\"%s\":\"", key);
    put_base64(file, picture->data, picture->size);
    putc('"', file);
}

void gf_page_pictures(struct gf_page *page, struct gf_page_picture *before,
                      struct gf_page_picture *after)
{
    if (before->data && after->data) {
        FILE *const file = gf_page_part(page, "pictures", "");
        putc('{', file);
        put_picture(file, "before", before);
        putc(',', file);
        put_picture(file, "after", after);
        putc('}', file);
    }
    gf_free(before->data);
    gf_free(after->data);
    *before = *after = (struct gf_page_picture){0};
}
