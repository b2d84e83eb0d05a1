/* The parts of the command line for the study of CUDA: --lab, --explain, --report,
 * --profile=compare and --help=study. A build without the study (make STUDY=0) contains only this
 * header of this folder. */
#pragma once

#include <stdio.h>
#include <string.h>

#include "gpufilter/status.h"

struct gf_command;

#ifdef GF_WITH_STUDY
/* GF_STUDY(...) is its arguments in a build with the study, and nothing in others; for parts of
 * tables and texts. */
#define GF_STUDY(...) __VA_ARGS__

/* Does the action of the command, which is one of the study. */
enum gf_status gf_act_study(struct gf_command *command, struct gf_error *error) GF_CHECKED;
/* Prints the variants of the named filter's CUDA kernels, or of all filters' if `name` is NULL
 * (--help=study). */
enum gf_status gf_study_help(FILE *file, const char *name, struct gf_error *error) GF_CHECKED;
/* Prints the manual's sections about the study. */
void gf_study_man(FILE *file);
/* Returns a word that --lab accepts; NULL past the last one. */
const char *gf_study_lab_word(int index);

/* Fails in builds without the study if the argument needs it; here it never fails. */
static inline enum gf_status gf_study_check(const char *argument, struct gf_error *error)
{
    (void)argument, (void)error;
    return GF_OK;
}
#else
#define GF_STUDY(...)

static inline enum gf_status gf_study_check(const char *argument, struct gf_error *error)
{
    static const char *const options[] = {"--lab", "--explain", "--report", "--profile=compare",
                                          "--help=study"};
    static const char account[] = "--report=json:"; /* this form needs no study */
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        const size_t length = strlen(options[i]);
        if (!strncmp(argument, options[i], length) && strchr("=:", argument[length]) &&
            strncmp(argument, account, sizeof account - 1))
            return gf_fail(error, GF_ERROR_UNAVAILABLE,
                           "%s: this program was built without labs, variants of kernels and their "
                           "reports (STUDY=0)",
                           options[i]);
    }
    return GF_OK;
}

/* Never called: in a build without the study no option has such an action. */
static inline enum gf_status gf_act_study(struct gf_command *command, struct gf_error *error)
{
    (void)command;
    return gf_study_check("--explain", error);
}

static inline enum gf_status gf_study_help(FILE *file, const char *name, struct gf_error *error)
{
    (void)file, (void)name;
    return gf_study_check("--help=study", error);
}

static inline void gf_study_man(FILE *file)
{
    (void)file;
}
#endif
