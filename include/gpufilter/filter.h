/* The filters there are, and how each is declared. Help, validation, completion and the self-test
 * all read these declarations; nothing about a filter is stated anywhere else. */
#ifndef GPUFILTER_FILTER_H
#define GPUFILTER_FILTER_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum gf_param_type {
    GF_TYPE_FLOAT,  /* double, least..greatest */
    GF_TYPE_INT,    /* int, least..greatest */
    GF_TYPE_CHOICE, /* int, an index into choices */
    GF_TYPE_WORD,   /* double, least..greatest, or the word choices[0], held as NaN */
    GF_TYPE_LENGTH, /* struct gf_length: pixels ("640"), or per cent of the input ("50%") */
    GF_TYPE_MATRIX, /* struct gf_matrix: "0 1 0/1 -4 1/0 1 0" */
    GF_TYPE_FILE,   /* char[GF_FILE_NAME_SIZE], the name of a file; "" where none is given */
};

enum { GF_FILE_NAME_SIZE = 4096 };

enum gf_unit { GF_UNSET, GF_PIXELS, GF_PERCENT };

struct gf_length {
    double value;
    enum gf_unit unit; /* GF_UNSET: not given */
};

enum { GF_MATRIX_SIDE_MAX = 31 };

struct gf_matrix {
    int width, height; /* odd, 1..31; 0: not given */
    float value[GF_MATRIX_SIDE_MAX * GF_MATRIX_SIDE_MAX];
};

struct gf_param {
    const char *name;
    enum gf_param_type type;
    size_t offset; /* of the member in the filter's parameter struct */
    bool required; /* has no default */
    double value;  /* default; for a choice, its index; NaN for the word */
    double least, greatest;
    const char *const *choices; /* ends with NULL */
    const char *help;           /* with units */
};

struct gf_filter; /* opaque */

/* The filters in the order of filters.def; NULL past the last one. */
const struct gf_filter *gf_filter_at(int index);
/* By name or alias; NULL where there is none. */
const struct gf_filter *gf_filter_find(const char *name);
/* The filter name nearest to a mistyped one, or NULL where none is near. */
const char *gf_filter_suggest(const char *name);

const char *gf_filter_name(const struct gf_filter *filter);
const char *gf_filter_alias(const struct gf_filter *filter); /* or NULL */
const char *gf_filter_summary(const struct gf_filter *filter);
/* What the filter computes, in a few lines of plain text. */
const char *gf_filter_definition(const struct gf_filter *filter);
/* A chain of the filter alone that does something worth seeing; NULL: one of its defaults does. */
const char *gf_filter_example(const struct gf_filter *filter);
/* The parameters in the order in which they are taken by position; ends with a NULL name. */
const struct gf_param *gf_filter_params(const struct gf_filter *filter);
/* The variants of its CUDA kernels, by `variant=name` in a chain, first the default; all give the
 * same picture. *summary: the technique. NULL past the last one. */
const char *gf_filter_variant(const struct gf_filter *filter, int index, const char **summary);

#ifdef __cplusplus
}
#endif
#endif
