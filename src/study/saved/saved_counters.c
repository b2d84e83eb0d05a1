/* Reads the instructions of kernels that Nsight Compute counts, from the output of `ncu --csv
 * --page raw --print-units base`. A line of names comes after other lines of ncu, and a line of
 * units comes after the line of names. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory/grow.h"
#include "study/saved/saved.h"

enum { FIELD_SIZE = GF_COUNTED_NAME_SIZE };

enum column { KERNEL, BLOCK, GRID, INSTRUCTIONS, PEAK, CYCLES_PER_S, COLUMNS };
static const char *const column_names[COLUMNS] = {"Kernel Name",
                                                  "Block Size",
                                                  "Grid Size",
                                                  "smsp__inst_executed.sum",
                                                  "smsp__inst_executed.sum.peak_sustained",
                                                  "smsp__cycles_elapsed.avg.per_second"};

struct reader {
    const char *at, *end;
};

/* Copies the next field of the line, or as much of it as fits. Returns false if the line has no
 * more fields. */
static bool next_field(struct reader *reader, char field[FIELD_SIZE])
{
    size_t length = 0;
    if (reader->at >= reader->end || *reader->at == '\n' || *reader->at == '\r')
        return false;
    bool quoted = *reader->at == '"';
    for (reader->at += quoted; reader->at < reader->end; reader->at++) {
        const bool quote = quoted && *reader->at == '"';
        const bool twice = quote && reader->at + 1 < reader->end && reader->at[1] == '"';
        if (!quoted && (*reader->at == ',' || *reader->at == '\n' || *reader->at == '\r'))
            break;
        reader->at += twice;
        if (quote && !twice)
            quoted = false;
        else if (length + 1 < FIELD_SIZE)
            field[length++] = *reader->at;
    }
    field[length] = 0;
    if (reader->at < reader->end && *reader->at == ',')
        reader->at++;
    return true;
}

static void end_line(struct reader *reader)
{
    while (reader->at < reader->end && *reader->at != '\n')
        reader->at++;
    reader->at += reader->at < reader->end;
}

/* Goes to the line of names. */
static bool find_names(struct reader *reader)
{
    static const char first[] = "\"ID\",";
    for (; reader->at < reader->end; end_line(reader)) {
        if (reader->end - reader->at >= (ptrdiff_t)sizeof first - 1 &&
            !memcmp(reader->at, first, sizeof first - 1))
            return true;
    }
    return false;
}

bool gf_saved_is_counters(const char *text, size_t size)
{
    struct reader reader = {text, text + size};
    return find_names(&reader);
}

/* Reads "12,345.5". Returns NaN for a text that is no number. */
static double number(const char *field)
{
    char digits[FIELD_SIZE], *end;
    size_t length = 0;
    for (; *field; field++) {
        if (*field != ',')
            digits[length++] = *field;
    }
    digits[length] = 0;
    const double value = strtod(digits, &end);
    return end == digits || *end || !(value >= 0) || !(value < 1e30) ? NAN : value;
}

static void read_size(const char *field, int size[3])
{
    size[0] = size[1] = size[2] = 0;
    if (sscanf(field, "(%9d, %9d, %9d)", &size[0], &size[1], &size[2]) != 3)
        size[0] = 0;
}

static enum gf_status add(struct gf_counters *counters, char field[COLUMNS][FIELD_SIZE],
                          struct gf_error *error)
{
    struct gf_counted_kernel kernel = {.instructions = number(field[INSTRUCTIONS])};
    const double peak = number(field[PEAK]) * number(field[CYCLES_PER_S]);
    if (isnan(kernel.instructions)) /* this line has the units */
        return GF_OK;
    if (peak > counters->issue_peak)
        counters->issue_peak = peak;
    memcpy(kernel.name, field[KERNEL], sizeof kernel.name);
    read_size(field[GRID], kernel.grid);
    read_size(field[BLOCK], kernel.block);
    if (!GF_GROW(counters->kernel, counters->kernels))
        return gf_fail_memory(error);
    counters->kernel[counters->kernels++] = kernel;
    return GF_OK;
}

enum gf_status gf_saved_read_counters(const char *text, size_t size, struct gf_saved *saved,
                                      struct gf_error *error)
{
    struct reader reader = {text, text + size};
    int place[COLUMNS], count = 0;
    char field[COLUMNS][FIELD_SIZE], one[FIELD_SIZE];
    enum gf_status status = GF_OK;
    saved->kind = GF_SAVED_COUNTERS;
    memset(place, -1, sizeof place);
    find_names(&reader);
    for (; next_field(&reader, one); count++) {
        for (int i = 0; i < COLUMNS; i++)
            place[i] = strcmp(one, column_names[i]) ? place[i] : count;
    }
    for (int i = 0; i <= INSTRUCTIONS; i++) {
        if (place[i] < 0)
            return gf_fail(error, GF_ERROR_INPUT,
                           "%s: has no column %s: is it of ncu --csv --page raw --metrics %s?",
                           saved->name, column_names[i], column_names[INSTRUCTIONS]);
    }
    for (end_line(&reader); reader.at < reader.end && !status; end_line(&reader)) {
        memset(field, 0, sizeof field);
        for (int at = 0; next_field(&reader, one); at++) {
            for (int i = 0; i < COLUMNS; i++) {
                if (place[i] == at)
                    memcpy(field[i], one, sizeof one);
            }
        }
        status = add(&saved->counters, field, error);
    }
    return status;
}

static void put_size(struct gf_json *json, const char *key, const int size[3])
{
    gf_json_array(json, key, GF_JSON_COMPACT);
    for (int i = 0; i < 3; i++)
        gf_json_number(json, NULL, size[i], 0);
    gf_json_end(json);
}

void gf_counters_page(struct gf_page *page, const struct gf_counters *counters)
{
    struct gf_json json = gf_json_begin(gf_page_part(page, "counters", ""));
    gf_json_object(&json, NULL, GF_JSON_COMPACT);
    gf_json_figure(&json, "issue_peak", counters->issue_peak);
    gf_json_array(&json, "kernels", GF_JSON_LINES);
    for (int i = 0; i < counters->kernels; i++) {
        const struct gf_counted_kernel *const kernel = &counters->kernel[i];
        gf_json_object(&json, NULL, GF_JSON_COMPACT);
        gf_json_string(&json, "name", kernel->name);
        put_size(&json, "grid", kernel->grid);
        put_size(&json, "block", kernel->block);
        gf_json_figure(&json, "instructions", kernel->instructions);
        gf_json_end(&json);
    }
    gf_json_end(&json);
    gf_json_end(&json);
}
