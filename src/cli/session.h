/* A run of the main action: what it has opened, and what it tells. */
#pragma once

#include "batch/devices/figures_cache.h"
#include "batch/sheets/sheet.h"
#include "cli/actions.h"
#include "cli/profile_page.h"
#include "cli/progress.h"

/* A run, and the files and reports that it has opened. */
struct gf_session {
    struct gf_command *command;
    struct gf_inputs inputs;
    struct gf_template output[GF_PIPELINE_OUTPUTS_MAX];
    struct gf_batch_output more[GF_PIPELINE_OUTPUTS_MAX - 1];
    struct gf_sheet sheet; /* the value of --join or --sheet */
    struct gf_batch_log *log;
    struct gf_resume *resume;
    char **fetch, **store, **probe; /* the words of these commands, or NULL */
    struct gf_output *trace, *page; /* the files of --trace and --profile=html:FILE; or NULL */
    struct gf_progress progress;
    bool pictures_shown;             /* a single input was reported picture by picture */
    double metrics_s;                /* the time of the run at which the file of --metrics is due */
    struct gf_batch_profile profile; /* the profile of several pictures */
    struct gf_batch_report pictures; /* several pictures, for the page */
    struct gf_figures figures;       /* the figures of this machine */
    int all_devices[GF_COMMAND_DEVICES_MAX];
    enum gf_status report_status; /* the first failure to write the profile or the trace */
    struct gf_error report_error;
};

/* Prints a message of the batch. */
void gf_session_message(void *context, enum gf_message_kind kind, const char *text);
/* Shows the progress, and writes the file of --metrics if it is due. */
void gf_session_tick(void *context, const struct gf_batch_state *state, bool at_end);
/* Reports a picture of a single input. If the input is a stream of pictures, the trace shows the
 * last one. */
void gf_session_picture(void *context, const char *input, const char *output,
                        const struct gf_profile *profile);
/* Keeps the facts about a picture that the page will show. */
void gf_session_keep_entry(void *context, const struct gf_batch_log_entry *entry);
/* Reports the profile of a batch of several inputs; gf_session_picture() does so for a single
 * input. */
enum gf_status gf_session_report_batch(struct gf_session *session,
                                       const struct gf_batch_state *state,
                                       struct gf_error *error) GF_CHECKED;
/* Whether this run is to be profiled. A comparison has runs of its own. */
bool gf_session_is_profiled(const struct gf_command *command);
