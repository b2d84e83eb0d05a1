#include "pixel/cube.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/value.h"

static const char blanks[] = " \t\r";

struct reader {
    struct gf_cube *cube;
    struct gf_error *error;
    const char *at; /* in the line */
    int line;
    size_t done, count; /* colours */
};

static enum gf_status fail(const struct reader *reader, const char *what)
{
    return gf_fail(reader->error, GF_ERROR_USAGE, "line %d: %s", reader->line, what);
}

static bool at_end(const struct reader *reader)
{
    return !*reader->at || *reader->at == '\n';
}

/* Reads `count` numbers, after which the line must end. */
static bool read_numbers(struct reader *reader, double *value, int count)
{
    for (int i = 0; i < count; i++) {
        reader->at += strspn(reader->at, blanks);
        if (!gf_value_number(reader->at, &value[i], &reader->at) || !strchr(" \t\r\n", *reader->at))
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
    if (cube->size)
        return fail(reader, "a second size");
    if (!read_numbers(reader, &size, 1) || size != floor(size) || size < 2)
        return fail(reader, "the size is not a whole number from 2 on");
    if (size > most)
        return gf_fail(reader->error, GF_ERROR_USAGE, "line %d: the size %g is above %d",
                       reader->line, size, most);
    cube->size = (int)size;
    cube->is_3d = is_3d;
    const size_t side = (size_t)cube->size;
    reader->count = is_3d ? side * side * side : side;
    if (is_3d)
        cube->node = malloc(reader->count * 3 * sizeof *cube->node);
    else
        cube->value = malloc(reader->count * 3 * sizeof *cube->value);
    return cube->node || cube->value ? GF_OK : gf_fail_memory(reader->error);
}

static enum gf_status read_range(struct reader *reader, double *least, double *greatest)
{
    double range[2];
    if (!read_numbers(reader, range, 2))
        return fail(reader, "two numbers are needed");
    for (int c = 0; c < 3; c++) {
        least[c] = range[0];
        greatest[c] = range[1];
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
        {"DOMAIN_MAX", 4}, {"LUT_1D_INPUT_RANGE", 5}, {"LUT_3D_INPUT_RANGE", 5}};
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
            return read_range(reader, cube->least, cube->greatest);
        default:
            return read_numbers(reader, keywords[i].what == 3 ? cube->least : cube->greatest, 3)
                       ? GF_OK
                       : fail(reader, "three numbers are needed");
        }
    }
    return gf_fail(reader->error, GF_ERROR_USAGE, "line %d: unknown keyword '%.*s'", reader->line,
                   (int)(length < 40 ? length : 40), word);
}

static double part(double v)
{
    return v > 0 ? (v < 1 ? v : 1) : 0;
}

static enum gf_status read_colour(struct reader *reader)
{
    struct gf_cube *const cube = reader->cube;
    double value[3];
    if (!cube->size)
        return fail(reader, "a colour before LUT_1D_SIZE or LUT_3D_SIZE");
    if (!read_numbers(reader, value, 3))
        return fail(reader, "a colour is three numbers");
    if (reader->done == reader->count)
        return gf_fail(reader->error, GF_ERROR_USAGE, "line %d: more than %zu colours",
                       reader->line, reader->count);
    for (size_t c = 0; c < 3; c++) {
        if (cube->is_3d)
            cube->node[3 * reader->done + c] = (uint16_t)(part(value[c]) * 65535 + 0.5);
        else
            cube->value[3 * reader->done + c] = (float)part(value[c]);
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
    if (*reader->at >= 'A' && *reader->at <= 'Z')
        return read_keyword(reader, word);
    return read_colour(reader);
}

static enum gf_status finish(const struct reader *reader)
{
    struct gf_cube *const cube = reader->cube;
    if (!cube->size)
        return gf_fail(reader->error, GF_ERROR_USAGE,
                       "it has neither LUT_1D_SIZE nor LUT_3D_SIZE: it is no .cube file");
    if (reader->done < reader->count)
        return gf_fail(reader->error, GF_ERROR_USAGE, "it has %zu of %zu colours", reader->done,
                       reader->count);
    for (int c = 0; c < 3; c++) {
        if (!(cube->greatest[c] - cube->least[c] >= 1e-6) || fabs(cube->least[c]) > 1e6 ||
            fabs(cube->greatest[c]) > 1e6)
            return gf_fail(reader->error, GF_ERROR_USAGE, "its domain %g..%g is no range",
                           cube->least[c], cube->greatest[c]);
    }
    cube->same = !cube->is_3d;
    for (size_t i = 0; cube->same && i < reader->count; i++) {
        const float *const v = cube->value + 3 * i;
        cube->same = v[0] == v[1] && v[1] == v[2];
    }
    for (int c = 1; c < 3; c++)
        cube->same &= cube->least[c] == cube->least[0] && cube->greatest[c] == cube->greatest[0];
    return GF_OK;
}

enum gf_status gf_cube_parse(const char *text, size_t length, struct gf_cube *cube,
                             struct gf_error *error)
{
    struct reader reader = {.cube = cube, .error = error};
    enum gf_status status = GF_OK;
    *cube = (struct gf_cube){.greatest = {1, 1, 1}};
    for (const char *line = text; !status && line < text + length;) {
        const char *const end = memchr(line, '\n', (size_t)(text + length - line));
        reader.at = line;
        reader.line++;
        if (memchr(line, '\0', (size_t)((end ? end : text + length) - line)))
            status = fail(&reader, "a zero byte: it is no .cube file");
        else
            status = read_line(&reader);
        line = end ? end + 1 : text + length;
    }
    if (!status)
        status = finish(&reader);
    if (status)
        gf_cube_free(cube);
    return status;
}

enum gf_status gf_cube_make_look(struct gf_cube *cube, struct gf_error *error)
{
    enum { SIDE = 17 };
    *cube = (struct gf_cube){.size = SIDE, .is_3d = true, .greatest = {1, 1, 1}};
    cube->node = malloc((size_t)SIDE * SIDE * SIDE * 3 * sizeof *cube->node);
    if (!cube->node)
        return gf_fail_memory(error);
    for (int i = 0; i < SIDE * SIDE * SIDE; i++) {
        const int index[3] = {i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE};
        double v[3];
        for (int c = 0; c < 3; c++) {
            const double x = (double)index[c] / (SIDE - 1);
            v[c] = 0.5 * x + 0.5 * x * x * (3 - 2 * x); /* some contrast */
        }
        const double shift = 0.2126 * v[0] + 0.7152 * v[1] + 0.0722 * v[2] - 0.45;
        const double colour[3] = {v[0] + 0.16 * shift, v[1] + 0.02 * shift, v[2] - 0.16 * shift};
        for (int c = 0; c < 3; c++)
            cube->node[3 * i + c] = (uint16_t)(part(colour[c]) * 65535 + 0.5);
    }
    return GF_OK;
}

void gf_cube_free(struct gf_cube *cube)
{
    free(cube->value);
    free(cube->node);
    *cube = (struct gf_cube){0};
}
