/* Reads and writes PFM: "PF" is RGB and "Pf" gray, floats of 32 bits from the last row on, in
 * little-endian order if the scale is negative. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/text/plain_text.h"
#include "codec/array/array.h"
#include "codec/common/checks.h"

static bool is_space(char byte)
{
    return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

/* Reads the next number and the byte of white space behind it. */
static bool take_number(const char **at, double *number)
{
    const char *end;
    while (is_space(**at))
        ++*at;
    const bool good = gf_value_number(*at, number, &end) && is_space(*end);
    *at = good ? end + 1 : *at;
    return good;
}

static enum gf_status read_header(const char *name, const char *head, size_t size,
                                  const struct gf_options *options, struct gf_array *array,
                                  struct gf_error *error)
{
    const char *at = head + 2; /* the first bytes were recognised */
    double width, height, scale;
    if (!take_number(&at, &width) || !take_number(&at, &height) || !take_number(&at, &scale) ||
        width != floor(width) || height != floor(height) || scale == 0)
        return strspn(head + 2, " \t\r\n0123456789+-.eE") == size - 2
                   ? gf_fail_truncated(error, name, -1, 0)
                   : gf_fail(error, GF_ERROR_INPUT, "%s: damaged: no header of a PFM", name);
    const double most = 1 << 30;
    GF_TRY(gf_size_check(name, (uint64_t)fmin(fmax(width, 0), most),
                         (uint64_t)fmin(fmax(height, 0), most), options, error));
    if (fabs(scale) != 1)
        gf_warn(options, "%s: its scale of %g is not applied", name, fabs(scale));
    *array = (struct gf_array){.format = {.width = (int)width,
                                          .height = (int)height,
                                          .channels = head[1] == 'F' ? 3 : 1,
                                          .bits = 32,
                                          .samples = GF_SAMPLES_FLOAT},
                               .data = at - head,
                               .bottom_up = true,
                               .swapped = (scale > 0) != gf_is_big_endian()};
    return GF_OK;
}

enum gf_status gf_pfm_source_open(struct gf_input *input, const struct gf_options *options,
                                  struct gf_source **source, struct gf_error *error)
{
    return gf_array_source_open(read_header, input, options, source, error);
}

enum gf_status gf_pfm_sink_open(const struct gf_sink_order *order, struct gf_sink **sink,
                                struct gf_error *error)
{
    struct gf_array array = {.format = order->format, .bottom_up = true};
    char header[80];
    array.format.channels = gf_colour_channels(order->format);
    const int length =
        snprintf(header, sizeof header, "%s\n%d %d\n%s\n", array.format.channels == 3 ? "PF" : "Pf",
                 array.format.width, array.format.height, gf_is_big_endian() ? "1.0" : "-1.0");
    return gf_array_sink_open(order, &array, header, (size_t)length, sink, error);
}
