/* What people study CUDA with, as far as the command line knows of it: --lab, --explain, --report,
 * --profile=compare and --help=study. A build without the study (make STUDY=0) has of this folder
 * this header alone. */
#ifndef GF_CLI_STUDY_STUDY_H
#define GF_CLI_STUDY_STUDY_H

#include <stdio.h>
#include <string.h>

#include "cli/command/command.h"

#ifdef GF_WITH_STUDY
/* Parts of tables and of texts that only a build with the study has. */
#define GF_STUDY(...) __VA_ARGS__

/* Does what the command asks for. */
enum gf_status gf_act_study(struct gf_command *command, struct gf_error *error) GF_CHECKED;
/* --help=study: the variants of the named filter's CUDA kernels; of all filters if `name` is NULL.
 */
enum gf_status gf_study_help(FILE *file, const char *name, struct gf_error *error) GF_CHECKED;
/* The manual's sections about it. */
void gf_study_man(FILE *file);
/* The words that --lab takes; NULL past the last one. */
const char *gf_study_lab_word(int index);

/* Refuses an argument that asks for the study where this build has none. */
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
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        const size_t length = strlen(options[i]);
        if (!strncmp(argument, options[i], length) && strchr("=:", argument[length]))
            return gf_fail(error, GF_ERROR_UNAVAILABLE,
                           "%s: this program was built without labs, variants of kernels and their "
                           "reports (STUDY=0)",
                           options[i]);
    }
    return GF_OK;
}

/* No option of such a build leads here. */
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

#endif
