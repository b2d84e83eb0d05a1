/* The actions of the program that read a picture or run a lab. */
#ifndef GF_CLI_ACTIONS_H
#define GF_CLI_ACTIONS_H

#include "cli/command/command.h"

/* Filters every input into its output (filter_pictures.c). */
enum gf_status gf_act_filter(struct gf_command *command, struct gf_error *error) GF_CHECKED;
/* --profile=compare and --explain (study/reports.c). */
enum gf_status gf_act_variants(struct gf_command *command, struct gf_error *error) GF_CHECKED;
enum gf_status gf_act_explain(struct gf_command *command, struct gf_error *error) GF_CHECKED;
/* --calibrate (calibrate.c). */
enum gf_status gf_act_calibrate(const struct gf_command *command,
                                struct gf_error *error) GF_CHECKED;
/* --serve and --serve=stop (serve.c). */
enum gf_status gf_act_serve(struct gf_command *command, struct gf_error *error) GF_CHECKED;
/* --lab (study/labs.c). */
enum gf_status gf_act_labs(const struct gf_command *command, struct gf_error *error) GF_CHECKED;
/* --report (study/saved.c). */
enum gf_status gf_act_report(const struct gf_command *command, struct gf_error *error) GF_CHECKED;
/* --compare (likeness.c). */
enum gf_status gf_act_compare(const struct gf_command *command, struct gf_error *error) GF_CHECKED;

#endif
