#ifndef GF_CLI_STUDY_ACTIONS_H
#define GF_CLI_STUDY_ACTIONS_H

#include "cli/command/command.h"

/* Does the actions --profile=compare and --explain (reports.c). */
enum gf_status gf_act_variants(struct gf_command *command, struct gf_error *error) GF_CHECKED;
enum gf_status gf_act_explain(struct gf_command *command, struct gf_error *error) GF_CHECKED;
enum gf_status gf_act_labs(const struct gf_command *command, struct gf_error *error) GF_CHECKED;
/* Does the action --report (saved.c). */
enum gf_status gf_act_report(const struct gf_command *command, struct gf_error *error) GF_CHECKED;

#endif
