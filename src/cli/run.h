/* The program's main action: the inputs, the batch, and what is told of it. Prints as main.c does,
 * which gives it the function for diagnostics. */
#ifndef GF_CLI_RUN_H
#define GF_CLI_RUN_H

#include "cli/command.h"

enum gf_status gf_run_command(struct gf_command *command,
                              void (*complain)(const char *kind, const char *text),
                              struct gf_error *error) GF_CHECKED;

#endif
