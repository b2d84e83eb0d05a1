/* Reads and writes NumPy's .npy: one array of (H, W) or (H, W, C) in C order, of u1, u2, f2 and f4;
 * f8 is read as f4, rounded. (numpy.lib.format, versions 1 to 3) */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "codec/array/array.h"
#include "codec/common/checks.h"

enum { MAGIC = 6, DIMENSIONS = 3 };

static const struct {
    const char *name;
    int bits;
    enum gf_samples samples;
} types[] = {{"u1", 8, GF_SAMPLES_INTEGER},
             {"u2", 16, GF_SAMPLES_INTEGER},
             {"f2", 16, GF_SAMPLES_FLOAT},
             {"f4", 32, GF_SAMPLES_FLOAT},
             {"f8", 32, GF_SAMPLES_FLOAT}};
enum { TYPES = sizeof types / sizeof *types };

/* Returns what stands behind a key of the dictionary; NULL if there is no such key. */
static const char *value_of(const char *dictionary, const char *key)
{
    const char *at = strstr(dictionary, key);
    if (!at)
        return NULL;
    at += strlen(key);
    at += strspn(at, " ");
    return *at == ':' ? at + 1 + strspn(at + 1, " ") : NULL;
}

/* Reads "(480, 640, 3)". Returns the number of dimensions; 0 for another number of them. */
static int read_shape(const char *text, uint64_t shape[DIMENSIONS])
{
    int count = 0;
    if (*text++ != '(')
        return 0;
    for (;; count++) {
        char *end;
        text += strspn(text, " ");
        if (*text == ')')
            return count;
        if (count == DIMENSIONS || *text < '0' || *text > '9')
            return 0;
        shape[count] = strtoull(text, &end, 10);
        text = end + strspn(end, " ");
        text += *text == ',';
    }
}

/* How much of a text a message shows. */
static int shown(size_t length)
{
    return length < 40 ? (int)length : 40;
}

static enum gf_status read_type(const char *name, const char *text, struct gf_array *array,
                                struct gf_error *error)
{
    const char quote[] = {*text, '\n', '\0'};
    const bool quoted = *text == '\'' || *text == '"';
    text += quoted;
    const size_t length = strcspn(text, quoted ? quote : ",}\n");
    for (int i = 0; quoted && length == 3 && i < TYPES && strchr("|<>=", text[0]); i++) {
        if (strncmp(text + 1, types[i].name, 2))
            continue;
        array->format.bits = types[i].bits;
        array->format.samples = types[i].samples;
        array->doubles = types[i].name[1] == '8';
        array->swapped = types[i].bits > 8 && text[0] == (gf_is_big_endian() ? '<' : '>');
        return GF_OK;
    }
    return gf_fail(error, GF_ERROR_INPUT,
                   "%s: an array of %.*s, which is not read: u1, u2, f2, f4 and f8 are", name,
                   shown(length), text);
}

static enum gf_status read_header(const char *name, const char *head, size_t size,
                                  const struct gf_options *options, struct gf_array *array,
                                  struct gf_error *error)
{
    const unsigned char *const bytes = (const unsigned char *)head;
    const size_t begin = size > MAGIC && bytes[MAGIC] > 1 ? 12 : 10;
    uint64_t shape[DIMENSIONS] = {0}, length = 0;
    for (size_t i = begin; size >= begin && i > MAGIC + 2; i--)
        length = length << 8 | bytes[i - 1];
    if (!length || length > size - begin)
        return size < GF_ARRAY_HEAD
                   ? gf_fail_truncated(error, name, -1, 0)
                   : gf_fail(error, GF_ERROR_INPUT, "%s: damaged: its header", name);
    const char *const dictionary = head + begin, *const type = value_of(dictionary, "'descr'"),
                      *const order = value_of(dictionary, "'fortran_order'"),
                      *const dimensions = value_of(dictionary, "'shape'");
    if (!type || !*type || !order || !dimensions)
        return gf_fail(error, GF_ERROR_INPUT, "%s: damaged: its header", name);
    if (strncmp(order, "False", 5))
        return gf_fail(error, GF_ERROR_INPUT, "%s: an array in Fortran's order, which is not read",
                       name);
    *array = (struct gf_array){.data = (int64_t)(begin + length)};
    GF_TRY(read_type(name, type, array, error));
    const int count = read_shape(dimensions, shape);
    if (count < 2 || (count == 3 && (shape[2] < 1 || shape[2] > 4)))
        return gf_fail(error, GF_ERROR_INPUT,
                       "%s: an array of %.*s), which is not read: (H, W) and (H, W, 1 to 4) are",
                       name, shown(strcspn(dimensions, ")}\n")), dimensions);
    GF_TRY(gf_size_check(name, shape[1], shape[0], options, error));
    array->format.width = (int)shape[1];
    array->format.height = (int)shape[0];
    array->format.channels = count == 3 ? (int)shape[2] : 1;
    return GF_OK;
}

enum gf_status gf_npy_source_open(struct gf_input *input, const struct gf_options *options,
                                  struct gf_source **source, struct gf_error *error)
{
    return gf_array_source_open(read_header, input, options, source, error);
}

enum gf_status gf_npy_sink_open(const struct gf_sink_order *order, struct gf_sink **sink,
                                struct gf_error *error)
{
    enum { HEADER = 128, LENGTH = HEADER - 10 };
    const struct gf_format format = order->format;
    const struct gf_array array = {.format = format};
    char header[HEADER + 1], channels[20] = "";
    int type = 0;
    while (type < TYPES - 1 &&
           (types[type].bits != format.bits || types[type].samples != format.samples))
        type++;
    if (format.channels > 1)
        snprintf(channels, sizeof channels, ", %d", format.channels);
    memcpy(header, "\x93NUMPY\1\0", 8);
    header[8] = LENGTH;
    header[9] = 0;
    const int length = snprintf(header + 10, LENGTH,
                                "{'descr': '%c%s', 'fortran_order': False, 'shape': (%d, %d%s), }",
                                format.bits == 8     ? '|'
                                : gf_is_big_endian() ? '>'
                                                     : '<',
                                types[type].name, format.height, format.width, channels);
    memset(header + 10 + length, ' ', (size_t)(LENGTH - length));
    header[HEADER - 1] = '\n';
    return gf_array_sink_open(order, &array, header, HEADER, sink, error);
}
