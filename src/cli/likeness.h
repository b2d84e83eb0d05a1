/* What --compare prints: the measures of pairs of pictures, their means and worst, and the limits
 * on them (likeness.c); the pairs are compared by likeness_run.c. */
#pragma once

#include "bench/likeness.h"
#include "cli/cli.h"

enum { GF_LIKENESS_NAME_SIZE = 4200 }; /* a path, and the number of a frame */

/* What follows the file's name in --compare=FILE:... */
struct gf_likeness_limits {
    double value[GF_MEASURES]; /* the limits of the measures; NaN: there is none */
    unsigned named;            /* bit i: measures=LIST names measure i; 0: there is no list */
    unsigned printed;          /* bit i: measure i is printed */
    bool json;                 /* the measures are printed as JSON */
    double peak;               /* of PSNR, in full scales of a sample; 0: 1 */
};

/* Takes a limit, a list of measures or "json"; *is_limit says whether the text is one of these. */
enum gf_status gf_likeness_take_limit(const char *text, struct gf_likeness_limits *limits,
                                      bool *is_limit, struct gf_error *error) GF_CHECKED;
/* Cuts them from the end of "a.png:min-ssim=0.98:json". A colon that is not before one of them
 * belongs to the name. */
enum gf_status gf_likeness_take_limits(char *name, struct gf_likeness_limits *limits,
                                       struct gf_error *error) GF_CHECKED;

/* What was found of the pairs so far. */
struct gf_likeness_pairs {
    bool several;        /* rows are printed, one for each pair */
    size_t count, alone; /* compared pairs; files without a partner */
    bool failed;         /* a pair could not be compared */
    struct gf_likeness sum, worst;
    /* The pair that is the worst by each measure. */
    char name[GF_MEASURES][GF_LIKENESS_NAME_SIZE];
};

/* Prints the measures of a pair, and adds them to the sums. */
void gf_likeness_tell(FILE *file, const struct gf_likeness_limits *limits,
                      struct gf_likeness_pairs *pairs, const char *name,
                      const struct gf_likeness *likeness);
/* Prints why a file was not compared as a line of JSON, if there is JSON. */
void gf_likeness_tell_failure(FILE *file, const struct gf_likeness_limits *limits, const char *name,
                              const struct gf_error *error);
/* Prints the means and the worst of several pairs. */
void gf_likeness_tell_sums(FILE *file, const struct gf_likeness_limits *limits,
                           const struct gf_likeness_pairs *pairs);
/* Returns GF_ERROR_DIFFERENT if a measure is beyond its limit; GF_ERROR_UNFIT if the pictures are
 * too small for a measure that was asked for. */
enum gf_status gf_likeness_check(const struct gf_likeness_limits *limits,
                                 const struct gf_likeness_pairs *pairs,
                                 struct gf_error *error) GF_CHECKED;
