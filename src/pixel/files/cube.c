#include "pixel/files/cube.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/process/files.h"
#include "base/text/plain_text.h"
#include "pixel/files/kept_files.h"

static const char blanks[] = " \t";

/* The largest absolute values of a curve's points, and of a cube's nodes (stored with 16 bits). */
static const double value_most = 1e6, node_most = 64;

struct reader {
    struct gf_cube *cube;
    double *node; /* values of the cube's nodes, in 1/65535 of the full scale */
    bool has_cube_range;
    struct gf_error *error;
    const char *at; /* the position in the current line */
    int line;
    size_t done, count; /* done: the colours that were read; count: those that the file must have */
};

static enum gf_status fail(const struct reader *reader, const char *what)
{
    return gf_fail(reader->error, GF_ERROR_USAGE, "line %d: %s", reader->line, what);
}

static bool at_end(const struct reader *reader)
{
    return !*reader->at || strchr("\r\n#", *reader->at);
}

/* Reads `count` numbers from the current line, which must then end. */
static bool read_numbers(struct reader *reader, double *value, int count)
{
    for (int i = 0; i < count; i++) {
        reader->at += strspn(reader->at, blanks);
        if (!gf_value_number(reader->at, &value[i], &reader->at) ||
            !strchr(" \t\r\n#", *reader->at))
            return false;
    }
    reader->at += strspn(reader->at, blanks);
    return at_end(reader);
}

static enum gf_status read_size(struct reader *reader, bool is_3d)
{
    struct gf_cube *const cube = reader->cube;
    const int most = is_3d ? GF_TABLE3D_MAX : GF_CUBE_CURVE_MAX;
    double size;
    if (is_3d ? cube->size : cube->points)
        return fail(reader, "a second size");
    if (reader->done)
        return fail(reader, "a size behind colours");
    if (!read_numbers(reader, &size, 1) || size != floor(size) || size < 2)
        return fail(reader, "the size is not a whole number from 2 on");
    if (size > most)
        return gf_fail(reader->error, GF_ERROR_USAGE, "line %d: the size %g is above %d",
                       reader->line, size, most);
    const size_t side = (size_t)size, count = is_3d ? side * side * side : side;
    reader->count += count;
    if (is_3d) {
        cube->size = (int)size;
        reader->node = malloc(count * 3 * sizeof *reader->node);
    } else {
        cube->points = (int)size;
        cube->value = malloc(count * 3 * sizeof *cube->value);
    }
    return (is_3d ? (void *)reader->node : (void *)cube->value) ? GF_OK
                                                                : gf_fail_memory(reader->error);
}

static enum gf_status read_range(struct reader *reader, struct gf_cube_domain *domain)
{
    double range[2];
    if (!read_numbers(reader, range, 2))
        return fail(reader, "two numbers are needed");
    for (int c = 0; c < 3; c++) {
        domain->least[c] = range[0];
        domain->greatest[c] = range[1];
    }
    return GF_OK;
}

static enum gf_status read_keyword(struct reader *reader, size_t length)
{
    struct gf_cube *const cube = reader->cube;
    const char *const word = reader->at;
    const struct {
        const char *name;
        int what;
    } keywords[] = {
        {"TITLE", 0},      {"LUT_1D_SIZE", 1},        {"LUT_3D_SIZE", 2},       {"DOMAIN_MIN", 3},
        {"DOMAIN_MAX", 4}, {"LUT_1D_INPUT_RANGE", 5}, {"LUT_3D_INPUT_RANGE", 6}};
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++) {
        if (strlen(keywords[i].name) != length || strncmp(word, keywords[i].name, length) != 0)
            continue;
        reader->at += length;
        switch (keywords[i].what) {
        case 0:
            return GF_OK;
        case 1:
        case 2:
            return read_size(reader, keywords[i].what == 2);
        case 5:
            return read_range(reader, &cube->domain);
        case 6:
            reader->has_cube_range = true;
            return read_range(reader, &cube->cube_domain);
        default:
            return read_numbers(reader,
                                keywords[i].what == 3 ? cube->domain.least : cube->domain.greatest,
                                3)
                       ? GF_OK
                       : fail(reader, "three numbers are needed");
        }
    }
    return gf_fail(reader->error, GF_ERROR_USAGE, "line %d: unknown keyword '%.*s'", reader->line,
                   (int)(length < 40 ? length : 40), word);
}

static double within(double v, double least, double most)
{
    return v > least ? (v < most ? v : most) : least;
}

static enum gf_status read_colour(struct reader *reader)
{
    const struct gf_cube *const cube = reader->cube;
    const size_t points = (size_t)cube->points;
    double value[3];
    if (!reader->count)
        return fail(reader, "a colour before LUT_1D_SIZE or LUT_3D_SIZE");
    if (!read_numbers(reader, value, 3))
        return fail(reader, "a colour is three numbers");
    if (reader->done == reader->count)
        return gf_fail(reader->error, GF_ERROR_USAGE, "line %d: more than %zu colours",
                       reader->line, reader->count);
    for (size_t c = 0; c < 3; c++) {
        if (reader->done < points)
            cube->value[3 * reader->done + c] = (float)within(value[c], -value_most, value_most);
        else
            reader->node[3 * (reader->done - points) + c] =
                within(value[c], -node_most, node_most) * 65535;
    }
    reader->done++;
    return GF_OK;
}

static enum gf_status read_line(struct reader *reader)
{
    reader->at += strspn(reader->at, blanks);
    const size_t word = strspn(reader->at, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
    if (at_end(reader) || *reader->at == '#')
        return GF_OK;
    return *reader->at >= 'A' && *reader->at <= 'Z' ? read_keyword(reader, word)
                                                    : read_colour(reader);
}

static enum gf_status check_domain(const struct reader *reader, const struct gf_cube_domain *domain)
{
    for (int c = 0; c < 3; c++) {
        if (!(domain->greatest[c] - domain->least[c] >= 1e-6) || fabs(domain->least[c]) > 1e6 ||
            fabs(domain->greatest[c]) > 1e6)
            return gf_fail(reader->error, GF_ERROR_USAGE, "its domain %g..%g is no range",
                           domain->least[c], domain->greatest[c]);
    }
    return GF_OK;
}

static bool curves_are_same(const struct gf_cube *cube)
{
    const struct gf_cube_domain *const domain = &cube->domain;
    for (int i = 0; i < cube->points; i++) {
        const float *const v = cube->value + 3 * (size_t)i;
        if (v[0] != v[1] || v[1] != v[2])
            return false;
    }
    for (int c = 1; c < 3; c++) {
        if (domain->least[c] != domain->least[0] || domain->greatest[c] != domain->greatest[0])
            return false;
    }
    return true;
}

static enum gf_status finish(const struct reader *reader)
{
    struct gf_cube *const cube = reader->cube;
    if (!reader->count)
        return gf_fail(reader->error, GF_ERROR_USAGE,
                       "it has neither LUT_1D_SIZE nor LUT_3D_SIZE: it is no .cube file");
    if (reader->done < reader->count)
        return gf_fail(reader->error, GF_ERROR_USAGE, "it has %zu of %zu colours", reader->done,
                       reader->count);
    if (!cube->points && reader->has_cube_range)
        cube->domain = cube->cube_domain;
    GF_TRY(check_domain(reader, &cube->domain));
    GF_TRY(check_domain(reader, &cube->cube_domain));
    cube->same = curves_are_same(cube);
    return cube->size ? gf_cube_set_nodes(cube, reader->node, reader->error) : GF_OK;
}

/* Returns the end of the line: a line feed, a carriage return, or the end of the text. */
static const char *line_end(const char *line, const char *end)
{
    while (line < end && *line != '\n' && *line != '\r')
        line++;
    return line;
}

static enum gf_status read_lines(struct reader *reader, const char *text, const char *end)
{
    enum gf_status status = GF_OK;
    while (!status && text < end) {
        const char *const stop = line_end(text, end);
        reader->at = text;
        reader->line++;
        if (memchr(text, '\0', (size_t)(stop - text)))
            status = fail(reader, "a zero byte: it is no .cube file");
        else
            status = read_line(reader);
        text = stop + (stop + 1 < end && stop[0] == '\r' && stop[1] == '\n') + 1;
    }
    return status;
}

enum gf_status gf_cube_parse(const char *text, size_t length, struct gf_cube *cube,
                             struct gf_error *error)
{
    static const struct gf_cube_domain whole = {.greatest = {1, 1, 1}};
    struct reader reader = {.cube = cube, .error = error};
    size_t mark;
    *cube = (struct gf_cube){.domain = whole, .cube_domain = whole};
    enum gf_status status = gf_text_mark(text, length, GF_ERROR_USAGE, &mark, error);
    GF_THEN(status, read_lines(&reader, text + mark, text + length));
    GF_THEN(status, finish(&reader));
    free(reader.node);
    if (status)
        gf_cube_free(cube);
    return status;
}

/* Stores a cube's nodes with 16 bits, which span the full scale, or a larger range if a value is
 * outside of it. */
enum gf_status gf_cube_set_nodes(struct gf_cube *cube, const double *value, struct gf_error *error)
{
    const size_t side = (size_t)cube->size, count = 3 * side * side * side;
    double least = 0, greatest = 65535;
    for (size_t i = 0; i < count; i++) {
        least = fmin(least, value[i]);
        greatest = fmax(greatest, value[i]);
    }
    uint16_t *const node = malloc(count * sizeof *node);
    GF_ALLOCATED(node, error);
    const double scale = 65535 / (greatest - least);
    for (size_t i = 0; i < count; i++)
        node[i] = (uint16_t)((value[i] - least) * scale + 0.5);
    cube->nodes = (struct gf_table3d_nodes){node, least / 65535, greatest / 65535};
    return GF_OK;
}

/* Makes the table for users without a file: dark tones towards teal, bright ones towards orange. */
static GF_CHECKED enum gf_status cube_make_look(struct gf_cube *cube, struct gf_error *error)
{
    enum { SIDE = 17 };
    double value[3 * SIDE * SIDE * SIDE];
    *cube = (struct gf_cube){.size = SIDE, .domain.greatest = {1, 1, 1}};
    for (int i = 0; i < SIDE * SIDE * SIDE; i++) {
        const int index[3] = {i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE};
        double v[3];
        for (int c = 0; c < 3; c++) {
            const double x = (double)index[c] / (SIDE - 1);
            v[c] = 0.5 * x + 0.5 * x * x * (3 - 2 * x); /* an S-shaped curve, which adds contrast */
        }
        const double shift = 0.2126 * v[0] + 0.7152 * v[1] + 0.0722 * v[2] - 0.45;
        const double colour[3] = {v[0] + 0.16 * shift, v[1] + 0.02 * shift, v[2] - 0.16 * shift};
        for (int c = 0; c < 3; c++)
            value[3 * i + c] = within(colour[c], 0, 1) * 65535;
    }
    return gf_cube_set_nodes(cube, value, error);
}

void gf_cube_free(struct gf_cube *cube)
{
    free(cube->value);
    free(cube->nodes.node);
    *cube = (struct gf_cube){0};
}

static enum gf_status read_file(int fd, const char *path, struct gf_cube *cube,
                                struct gf_error *error)
{
    struct gf_error detail = {0};
    unsigned char *text = NULL;
    size_t length;
    enum gf_status status =
        gf_named_file_read(fd, GF_CUBE_BYTES_MAX, GF_ERROR_USAGE, &text, &length, &detail);
    GF_THEN(status, gf_cube_parse((const char *)text, length, cube, &detail));
    free(text);
    return status ? gf_fail(error, status, "%.200s: %s", path, detail.text) : GF_OK;
}

/* Reads the table of a file; without a file it makes the one of cube_make_look(). */
static enum gf_status read_cube(int fd, const char *path, const char *how, void **value,
                                struct gf_error *error)
{
    GF_NEW(struct gf_cube, cube, error);
    const enum gf_status status =
        fd >= 0 ? read_file(fd, path, cube, error) : cube_make_look(cube, error);
    GF_OPENED(status, free, cube, value);
}

static void free_cube(void *cube)
{
    gf_cube_free(cube);
    free(cube);
}

static struct gf_kept_files cubes = {
    .unused = 4, .read = read_cube, .free = free_cube, .lock = PTHREAD_MUTEX_INITIALIZER};

enum gf_status gf_cube_load(const char *path, const struct gf_cube **cube, struct gf_error *error)
{
    const void *value = NULL;
    const enum gf_status status = gf_kept_files_find(&cubes, path, "", &value, error);
    *cube = value;
    return status;
}

void gf_cube_release(const struct gf_cube *cube)
{
    gf_kept_files_release(&cubes, cube);
}
