/* The filters and their parameters. All these data are constant: any thread may read them at any
 * time, and they are never freed. */
#ifndef GPUFILTER_FILTER_H
#define GPUFILTER_FILTER_H

#include <stdbool.h>
#include <stddef.h>

#include "gpufilter/api.h"

#ifdef __cplusplus
extern "C" {
#endif

enum gf_param_type {
    GF_TYPE_FLOAT,  /* the value is a double, least..greatest */
    GF_TYPE_INT,    /* the value is an int, least..greatest */
    GF_TYPE_CHOICE, /* the value is an int, an index into choices */
    GF_TYPE_WORD,   /* the value is a double, least..greatest, or a word of choices: choices[0] is
                     * stored as NaN, choices[i] as greatest + i */
    GF_TYPE_LENGTH, /* struct gf_length: pixels ("640"), or per cent of the input ("50%") */
    GF_TYPE_MATRIX, /* struct gf_matrix: "0 1 0/1 -4 1/0 1 0", or a name of choices */
    GF_TYPE_FILE,   /* char[GF_FILE_NAME_SIZE], the name of a file, or one of choices; "" if none is
                     * given */
    GF_TYPE_COLOUR, /* struct gf_colour: "white", "#ff8800", or a word of choices */
    GF_TYPE_TEXT,   /* char[GF_FILE_NAME_SIZE], any text; "" if none is given */
    GF_TYPE_RELATIVE, /* struct gf_length: a number, least..greatest (GF_PIXELS), or per cent of the
                       * input ("20%") */
};

enum { GF_FILE_NAME_SIZE = 4096 };

enum gf_unit { GF_UNSET, GF_PIXELS, GF_PERCENT };

struct gf_length {
    double value;
    enum gf_unit unit; /* GF_UNSET: the length is not given */
};

/* An opaque sRGB colour. */
struct gf_colour {
    double part[3]; /* red, green, blue, as parts of the full scale */
    int word;       /* 1 + the index in choices of the given word; 0: numbers were given */
};

enum { GF_MATRIX_SIDE_MAX = 31 };

struct gf_matrix {
    int width, height; /* 1..31; 0: not given */
    float value[GF_MATRIX_SIDE_MAX * GF_MATRIX_SIDE_MAX];
};

struct gf_param {
    const char *name;
    enum gf_param_type type;
    size_t offset; /* the position of the member in the filter's own struct, for the library's
                    * use */
    bool required; /* it has no default */
    double value;  /* the default value; for a choice its index; for a colour 0xRRGGBB, or -1 less
                    * the index of a word; NaN for the first word of a GF_TYPE_WORD */
    double least, greatest;      /* the range of the value; any finite number if both are equal */
    const char *const *choices;  /* ends with NULL */
    const char *help;            /* the meaning of the parameter, with units */
    const char *const *matrices; /* the matrices of the names in choices, as text */
};

struct gf_filter; /* opaque */

/* Returns the filter with the index, from 0 on; NULL after the last one. */
GF_API const struct gf_filter *gf_filter_at(int index);
/* Returns the filter of that name or alias, or NULL. Case, dashes and underscores do not count, and
 * a few names of other programs are known: "Unsharp" and "sharpen" find unsharp. */
GF_API const struct gf_filter *gf_filter_find(const char *name);
/* Returns the name of the filter that is most similar to a mistyped name; NULL if none is
 * similar. */
GF_API const char *gf_filter_suggest(const char *name);

GF_API const char *gf_filter_name(const struct gf_filter *filter);
/* Returns the filter's second name, or NULL. */
GF_API const char *gf_filter_alias(const struct gf_filter *filter);
/* Returns one line that says what the filter does. */
GF_API const char *gf_filter_summary(const struct gf_filter *filter);
/* Describes in a few lines of plain text what the filter computes. */
GF_API const char *gf_filter_definition(const struct gf_filter *filter);
/* Returns a chain of this filter alone whose effect is easy to see; NULL: the filter with its
 * defaults is such a chain. */
GF_API const char *gf_filter_example(const struct gf_filter *filter);
/* Returns the parameters in the order in which a chain gives them without names. The last one has a
 * NULL name. */
GF_API const struct gf_param *gf_filter_params(const struct gf_filter *filter);
/* Returns the name of variant `index` of the filter's CUDA kernels. Index 0 is the default; NULL is
 * returned after the last one. A chain chooses a variant by `variant=NAME`; all variants make the
 * same picture. *summary becomes a line about the technique, unless `summary` is NULL. */
GF_API const char *gf_filter_variant(const struct gf_filter *filter, int index,
                                     const char **summary);

#ifdef __cplusplus
}
#endif
#endif
