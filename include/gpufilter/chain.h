/* Functions that write a chain for a program, which need not quote anything: gf_chain_add() makes
 * the text for gf_pipeline_open(), which can also be printed, kept, and given to the program.
 *
 *   char *chain = NULL;
 *   struct gf_argument sigma = gf_argument_number("sigma", 2);
 *   if (!gf_chain_add(&chain, "blur", GF_ARGUMENTS(sigma), &error))
 *     status = gf_pipeline_open(chain, NULL, &pipeline, &error);
 *   gf_free(chain); */
#ifndef GPUFILTER_CHAIN_H
#define GPUFILTER_CHAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpufilter/api.h"
#include "gpufilter/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The value of a parameter, made by gf_argument_number() or gf_argument_text(). The compiler checks
 * their types, which it could not do in a function with a variable number of arguments. */
struct gf_argument {
    const char *name;
    bool is_text;
    double number;
    const char *text;
};

static inline struct gf_argument gf_argument_number(const char *name, double number)
{
    struct gf_argument argument = {name, false, number, NULL};
    return argument;
}

/* Makes an argument from a word, a text, a file's name, or a value as chains write it: "50%",
 * "#ff8800". */
static inline struct gf_argument gf_argument_text(const char *name, const char *text)
{
    struct gf_argument argument = {name, true, 0, text};
    return argument;
}

#ifndef __cplusplus
/* Two arguments of gf_chain_add(), an array and its length: GF_ARGUMENTS(sigma, border). */
#define GF_ARGUMENTS(...) \
    (struct gf_argument[]){__VA_ARGS__}, \
        sizeof((struct gf_argument[]){__VA_ARGS__}) / sizeof(struct gf_argument)
#endif

/* Adds a filter with `count` arguments at the end of the chain. *chain is NULL or what this
 * function has made, and becomes the longer chain, which the caller frees by gf_free(). Returns
 * GF_ERROR_USAGE, and leaves the chain as it is, if there is no such filter, or if it does not take
 * these arguments; files that they name are first read by gf_pipeline_open(). */
GF_API enum gf_status gf_chain_add(char **chain, const char *filter,
                                   const struct gf_argument *arguments, size_t count,
                                   struct gf_error *error) GF_CHECKED;

/* Returns a number that changes when a file that the chain names, such as a table or a font,
 * changes. An open pipeline does not see such a change, so that a program that keeps a pipeline
 * compares the numbers to know whether to open it anew. Returns 1 if the chain (NULL: "") names no
 * files, and 0 if the number cannot be told: the chain cannot be parsed, a file is missing, or it
 * changed less than two seconds ago. */
GF_API uint64_t gf_chain_stamp(const char *chain);

#ifdef __cplusplus
}
#endif
#endif
