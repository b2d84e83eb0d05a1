/* What a run of the main action tells: messages, progress, profiles, traces. */
#include "cli/session.h"

#include <stdio.h>

#include "base/fail.h"
#include "cli/messages.h"
#include "cli/report_file.h"
#include "cli/summary.h"
#include "report/profile/profile_report.h"
#include "report/text.h"

/* The least number of seconds between two files of --metrics. */
enum { METRICS_S = 5 };

void gf_session_message(void *context, enum gf_message_kind kind, const char *text)
{
    struct gf_session *const session = context;
    gf_progress_clear(&session->progress);
    if (kind == GF_MESSAGE_DRY_RUN)
        puts(text);
    else if (kind == GF_MESSAGE_CHOICE || kind == GF_MESSAGE_PICTURE)
        gf_message_print("", text);
    else
        gf_message_print(kind == GF_MESSAGE_WARNING ? "warning: " : "", text);
}

void gf_session_tick(void *context, const struct gf_batch_state *state, bool at_end)
{
    struct gf_session *const session = context;
    enum gf_status *const status = &session->report_status;
    if (session->progress.form != GF_PROGRESS_NONE)
        gf_progress_show(&session->progress, state, at_end);
    if (!session->command->metrics || (!at_end && state->elapsed_s < session->metrics_s))
        return;
    session->metrics_s = state->elapsed_s + METRICS_S;
    if (!*status)
        *status = gf_metrics_write(session->command->metrics, state, &session->report_error);
}

static void describe_file(const char *name, const char *file, const struct gf_format *format,
                          const char *more)
{
    struct gf_error line;
    char text[GF_TEXT_FORMAT_SIZE];
    (void)gf_fail(&line, GF_OK, "%s: %s%s%s%s", name, file, *file ? ", " : "",
                  gf_text_format(*format, text), more);
    gf_message_print("", line.text);
}

static void describe_run(const char *input, const char *output, const struct gf_profile *profile)
{
    const double pixels =
        (double)profile->in.width * (double)profile->in.height * (double)profile->frames;
    char text[300];
    char size[24] = "", quality[24] = "", frames[24] = "";
    if (profile->reduction > 1)
        snprintf(size, sizeof size, "at 1/%d ", profile->reduction);
    snprintf(text, sizeof text, ", decoded %sby the %s", size,
             profile->device_decoded ? "GPU" : "CPU");
    describe_file(input, profile->in_file, &profile->in, text);
    snprintf(text, sizeof text, "ran on %s: %s", profile->device, profile->reason);
    gf_message_print("", text);
    if (*profile->found)
        gf_message_print("", profile->found);
    snprintf(text, sizeof text, "%d segment%s, bands of %d rows, %d lane%s", profile->segments,
             gf_text_plural(profile->segments), profile->band_rows, profile->lanes,
             gf_text_plural(profile->lanes));
    gf_message_print("", text);
    if (profile->quality)
        snprintf(quality, sizeof quality, " with quality %d", profile->quality);
    if (profile->frames > 1)
        snprintf(frames, sizeof frames, ", %d frames", profile->frames);
    snprintf(text, sizeof text, "%s, encoded by the %s%s, in %.3f s (%.1f Mpixel/s)", frames,
             profile->device_encoded ? "GPU" : "CPU", quality, profile->wall_s,
             profile->wall_s > 0 ? pixels / profile->wall_s * 1e-6 : 0.0);
    describe_file(output, profile->out_file, &profile->out, text);
}

bool gf_session_is_profiled(const struct gf_command *command)
{
    return command->profile && command->profile < GF_PROFILE_COMPARE;
}

/* Reports the profile. `batch` is the batch of several inputs that the profile is about; NULL for a
 * single input. */
static enum gf_status show_profile(struct gf_session *session, const struct gf_profile *profile,
                                   const struct gf_batch_state *batch, struct gf_error *error)
{
    const struct gf_command *const command = session->command;
    struct gf_profile_report report;
    enum gf_status status = gf_profile_report_make(profile, &report, error);
    if (status)
        return status;
    if (batch) {
        report.pictures = batch->pictures;
        report.elapsed_s = batch->elapsed_s;
        report.read_s = batch->read_s;
        report.write_s = batch->write_s;
    }
    const struct gf_profile_page page = {command, &report, profile,
                                         batch ? &session->pictures : NULL};
    /* The sums of the table are computed as if the pictures ran one after another; the page's
     * timeline shows when they really ran. */
    if (command->profile == GF_PROFILE_HTML && batch)
        status = gf_batch_profile_timeline(&session->profile, false, error);
    if (command->profile == GF_PROFILE_HTML && batch && !status)
        status = gf_batch_report_finish(&session->pictures, error);
    if (command->profile == GF_PROFILE_HTML && !status)
        status = gf_report_write(session->page, gf_profile_page_put, &page, error);
    if (command->profile == GF_PROFILE_JSON)
        gf_profile_report_json(&report, profile, gf_report_file(command));
    if (command->profile == GF_PROFILE_TABLE)
        gf_profile_report_table(&report, profile, gf_report_file(command));
    gf_profile_report_free(&report);
    return status;
}

static enum gf_status put_trace(FILE *file, const void *profile, struct gf_error *error)
{
    return gf_trace_write(profile, file, error);
}

void gf_session_picture(void *context, const char *input, const char *output,
                        const struct gf_profile *profile)
{
    struct gf_session *const session = context;
    struct gf_command *const command = session->command;
    enum gf_status *const status = &session->report_status;
    gf_progress_clear(&session->progress);
    session->pictures_shown = true;
    if (command->verbose)
        describe_run(input, output, profile);
    if (gf_session_is_profiled(command) && !*status)
        *status = show_profile(session, profile, NULL, &session->report_error);
    if (session->trace && !*status)
        *status = gf_report_write(session->trace, put_trace, profile, &session->report_error);
}

void gf_session_keep_entry(void *context, const struct gf_batch_log_entry *entry)
{
    struct gf_session *const session = context;
    if (!session->report_status)
        session->report_status = gf_batch_report_add(&session->pictures, entry, gf_batch_log_now(),
                                                     &session->report_error);
}

enum gf_status gf_session_report_batch(struct gf_session *session,
                                       const struct gf_batch_state *state, struct gf_error *error)
{
    if (gf_session_is_profiled(session->command))
        GF_TRY(gf_batch_profile_timeline(&session->profile, true, error));
    if (gf_session_is_profiled(session->command))
        GF_TRY(show_profile(session, &session->profile.merged, state, error));
    if (session->trace)
        GF_TRY(gf_batch_profile_timeline(&session->profile, false, error));
    if (session->trace)
        GF_TRY(gf_report_write(session->trace, put_trace, &session->profile.merged, error));
    return GF_OK;
}
