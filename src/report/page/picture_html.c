#include "report/page/picture_html.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "gpufilter/pipeline.h"
#include "report/page/html.h"

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
