/* The actions of the program that read a picture or run a lab. */
#ifndef GF_CLI_RUN_H
#define GF_CLI_RUN_H

#include "cli/command/command.h"

/* Filters every input into its output (run.c). */
enum gf_status gf_run_batch(struct gf_command *command, struct gf_error *error) GF_CHECKED;
/* --profile=compare and --explain (run_reports.c). */
enum gf_status gf_run_compare(struct gf_command *command, struct gf_error *error) GF_CHECKED;
enum gf_status gf_run_explain(struct gf_command *command, struct gf_error *error) GF_CHECKED;
/* --calibrate (calibrate.c). */
enum gf_status gf_run_calibrate(const struct gf_command *command,
                                struct gf_error *error) GF_CHECKED;
/* --serve and --serve=stop (run_serve.c). */
enum gf_status gf_run_serve(struct gf_command *command, struct gf_error *error) GF_CHECKED;
/* --lab (run_labs.c). */
enum gf_status gf_run_labs(const struct gf_command *command, struct gf_error *error) GF_CHECKED;
/* --report (run_saved.c). */
enum gf_status gf_run_saved(const struct gf_command *command, struct gf_error *error) GF_CHECKED;
/* --compare (run_likeness.c). */
enum gf_status gf_run_likeness(const struct gf_command *command, struct gf_error *error) GF_CHECKED;

#endif
