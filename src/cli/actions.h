/* The actions of the program, but for those of the study, which are in study/study.h. */
#pragma once

#include "base/text/json.h"
#include "cli/command/command.h"

/* Filters every input into its output (filter_pictures.c). */
enum gf_status gf_act_filter(struct gf_command *command, struct gf_error *error) GF_CHECKED;
enum gf_status gf_act_calibrate(const struct gf_command *command,
                                struct gf_error *error) GF_CHECKED;
/* Does the actions --serve and --serve=stop (actions.c). */
enum gf_status gf_act_serve(struct gf_command *command, struct gf_error *error) GF_CHECKED;
/* Does the action --compare (likeness.c). */
enum gf_status gf_act_compare(const struct gf_command *command, struct gf_error *error) GF_CHECKED;
/* The keys of the JSON that --compare prints, for the manual; {0} ends them. */
extern const struct gf_key_help gf_likeness_keys[];
/* Does the action --report=json:FILE (actions.c), if that form of --report was asked for. */
bool gf_account_asked(const struct gf_command *command);
enum gf_status gf_act_account(const struct gf_command *command, struct gf_error *error) GF_CHECKED;
/* Does the action --info (info.c). */
enum gf_status gf_act_info(const struct gf_command *command, struct gf_error *error) GF_CHECKED;
