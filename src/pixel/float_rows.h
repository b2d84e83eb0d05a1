/* Rows of samples as floats of 32 bits, on which filters compute, and back. The largest sample of
 * integers becomes 1. */
#pragma once

#include <stddef.h>

#include "gpufilter/image.h"

/* Converts `count` samples of the format, at any address, to floats. An integer v becomes v / M,
 * rounded once; a NaN becomes a quiet one with the same bits. */
void gf_floats_of_row(const void *row, struct gf_format format, size_t count, float *to);
/* Converts floats to samples of the format. Halves are the nearest ones, even ones between two. To
 * integers, v is limited to 0..1, and v M is rounded to the nearest integer, to an even one between
 * two; NaN becomes 0. Returns how many numbers were outside of 0..1 or NaN, if the samples are
 * integers, otherwise 0. */
size_t gf_floats_to_row(const float *from, struct gf_format format, size_t count, void *row);
/* Converts samples of one format to those of another by these rules, by pieces on the stack. At
 * least one of the formats has floats. Returns what gf_floats_to_row() does. */
size_t gf_row_convert(const void *row, struct gf_format in, struct gf_format out, size_t count,
                      void *to);
