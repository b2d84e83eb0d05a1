#include "batch/sheets/sheet_run.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/text/json.h"

static const char *basename_of(const char *path)
{
    const char *const slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool ends_in(const char *path, const char *extension)
{
    const char *const dot = strrchr(basename_of(path), '.');
    return dot && !strcmp(dot, extension);
}

bool gf_places_named(const char *path)
{
    return ends_in(path, ".css") || ends_in(path, ".json");
}

/* Returns the page's name as the places file refers to it: without the folder if both are in the
 * same folder. */
static const char *page_seen(const struct gf_places *places)
{
    const char *const name = basename_of(places->page), *const own = basename_of(places->path);
    const size_t folder = (size_t)(name - places->page);
    const bool same =
        folder == (size_t)(own - places->path) && !strncmp(places->page, places->path, folder);
    return same ? name : places->page;
}

/* ---- places as CSS ---- */

/* Writes the picture's CSS class: "sprite-" and the stem of its name, in which characters with a
 * meaning in CSS become "-". */
static void put_class(FILE *file, const char *input)
{
    const char *const name = basename_of(input), *const dot = strrchr(name, '.');
    const size_t length = dot && dot != name ? (size_t)(dot - name) : strlen(name);
    fputs("sprite-", file);
    for (size_t i = 0; i < length; i++) {
        const unsigned char byte = (unsigned char)name[i];
        putc(isalnum(byte) || byte == '_' || byte >= 0x80 ? byte : '-', file);
    }
}

static void put_css(const struct gf_places *places, FILE *file)
{
    for (size_t i = 0; i < places->count; i++) {
        const struct gf_sheet_place *const place = &places->place[i];
        putc('.', file);
        put_class(file, place->input);
        fputs(" { background: url(\"", file);
        for (const char *at = page_seen(places); *at; at++)
            fprintf(file, *at == '\n' ? "\\a " : *at == '"' || *at == '\\' ? "\\%c" : "%c", *at);
        fprintf(file, "\") %dpx %dpx no-repeat; width: %dpx; height: %dpx; }\n", -place->x,
                -place->y, place->width, place->height);
    }
}

struct class
{
    char *name;
    const char *input;
};

static int compare_classes(const void *a, const void *b)
{
    return strcmp(((const struct class *)a)->name, ((const struct class *)b)->name);
}

static char *class_of(const char *input)
{
    char *text = NULL;
    size_t size;
    FILE *const file = open_memstream(&text, &size);
    if (file)
        put_class(file, input);
    if (!file || fclose(file)) {
        free(text);
        return NULL;
    }
    return text;
}

enum gf_status gf_places_check(const char *path, const struct gf_inputs *inputs,
                               struct gf_error *error)
{
    if (!ends_in(path, ".css"))
        return GF_OK;
    struct class *const class = calloc(inputs->count, sizeof *class);
    enum gf_status status = class ? GF_OK : gf_fail_memory(error);
    for (size_t i = 0; !status && i < inputs->count; i++) {
        class[i] = (struct class){class_of(inputs->item[i].path), inputs->item[i].path};
        status = class[i].name ? GF_OK : gf_fail_memory(error);
    }
    if (!status)
        qsort(class, inputs->count, sizeof *class, compare_classes);
    for (size_t i = 1; !status && i < inputs->count; i++) {
        if (!strcmp(class[i].name, class[i - 1].name))
            status = gf_fail(error, GF_ERROR_USAGE,
                             "'%.120s' and '%.120s' would both be .%.80s in the CSS",
                             class[i - 1].input, class[i].input, class[i].name);
    }
    for (size_t i = 0; class && i < inputs->count; i++)
        free(class[i].name);
    free(class);
    return status;
}

/* ---- places as JSON ---- */

static void put_size(struct gf_json *json, const char *key, int width, int height)
{
    gf_json_object(json, key, GF_JSON_COMPACT);
    gf_json_number(json, "w", width, 0);
    gf_json_number(json, "h", height, 0);
    gf_json_end(json);
}

/* Writes the array form of texture atlases, which game engines read. */
static void put_json(const struct gf_places *places, int page_width, int page_height, FILE *file)
{
    struct gf_json json = gf_json_begin(file);
    gf_json_object(&json, NULL, GF_JSON_LINES);
    gf_json_array(&json, "frames", GF_JSON_LINES);
    for (size_t i = 0; i < places->count; i++) {
        const struct gf_sheet_place *const place = &places->place[i];
        gf_json_object(&json, NULL, GF_JSON_COMPACT);
        gf_json_string(&json, "filename", basename_of(place->input));
        gf_json_object(&json, "frame", GF_JSON_COMPACT);
        gf_json_number(&json, "x", place->x, 0);
        gf_json_number(&json, "y", place->y, 0);
        gf_json_number(&json, "w", place->width, 0);
        gf_json_number(&json, "h", place->height, 0);
        gf_json_end(&json);
        gf_json_bool(&json, "rotated", false);
        gf_json_bool(&json, "trimmed", false);
        put_size(&json, "sourceSize", place->width, place->height);
        gf_json_end(&json);
    }
    gf_json_end(&json);
    gf_json_object(&json, "meta", GF_JSON_COMPACT);
    gf_json_string(&json, "image", page_seen(places));
    put_size(&json, "size", page_width, page_height);
    gf_json_string(&json, "scale", "1");
    gf_json_end(&json);
    gf_json_end(&json);
}

/* ---- the file of places ---- */

enum gf_status gf_places_open(struct gf_places *places, const char *path, const char *page,
                              size_t room, const struct gf_options *options, struct gf_error *error)
{
    *places = (struct gf_places){.path = path, .page = page};
    places->place = calloc(room, sizeof *places->place);
    GF_ALLOCATED(places->place, error);
    GF_TRY(gf_make_folders_of(path, error));
    GF_TRY(gf_output_open(path, &places->output, error));
    gf_output_set_options(
        places->output,
        (struct gf_output_options){.no_clobber = options->no_clobber, .sync = options->sync});
    return GF_OK;
}

enum gf_status gf_places_write(struct gf_places *places, int page_width, int page_height,
                               struct gf_error *error)
{
    char *text = NULL;
    size_t size = 0;
    FILE *const file = open_memstream(&text, &size);
    GF_ALLOCATED(file, error);
    if (ends_in(places->path, ".css"))
        put_css(places, file);
    else
        put_json(places, page_width, page_height, file);
    enum gf_status status = fclose(file) || !text ? gf_fail_memory(error) : GF_OK;
    GF_THEN(status, gf_output_write(places->output, text, size, error));
    free(text);
    return status ? status : gf_output_commit(places->output, error);
}

void gf_places_close(struct gf_places *places)
{
    gf_output_close(places->output);
    free(places->place);
    *places = (struct gf_places){0};
}
