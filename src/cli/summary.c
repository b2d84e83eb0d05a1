#include "cli/summary.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/printable.h"
#include "base/start_times.h"
#include "batch/names/archive_name.h"
#include "cli/messages.h"
#include "cli/progress.h"

static struct gf_batch_counts counts;
static char how_to_resume[500]; /* the end of the line; empty: no line is printed */
static bool on_terminal;

void gf_summary_make(const struct gf_batch_state *state, char *text, size_t size)
{
    const char *const bound = gf_progress_bound(state);
    char skipped[40] = "", left_out[GF_BATCH_LEFT_OUT_SIZE];
    gf_batch_describe_left_out(state, left_out);
    if (state->skipped)
        snprintf(skipped, sizeof skipped, ", %zu skipped,", state->skipped);
    snprintf(text, size, "%zu file%s done%s in %.2f s: %.1f Mpixel, %.1f pictures/s%s%s%s",
             state->done, state->done == 1 ? "" : "s", skipped, state->elapsed_s, state->megapixels,
             state->elapsed_s > 0 ? (double)state->pictures / state->elapsed_s : 0.0,
             *bound ? ", bound by " : "", bound, left_out);
}

struct gf_batch_counts *gf_summary_prepare(const struct gf_command *command)
{
    char *const text = how_to_resume;
    const size_t size = sizeof how_to_resume;
    on_terminal = isatty(STDERR_FILENO);
    if (command->quiet)
        return &counts;
    /* A later run cannot go on with a stream, nor with a single archive, which does not exist until
     * it is complete. */
    bool streams = false, any_files = false, numbered = false;
    for (int i = 0; i < gf_command_outputs(command); i++) {
        const char *const output = gf_command_output_at(command, i).output;
        numbered |= strstr(output, "{n") != NULL;
        streams |= !strcmp(output, "-");
        any_files |= !gf_archive_named(output) || strchr(output, '{');
    }
    if (streams || !any_files)
        snprintf(text, size, ".");
    else if (command->store && !command->probe)
        snprintf(text, size, "; with --probe the same command does the rest");
    else if (command->resume || command->skip_existing || command->update || command->probe)
        snprintf(text, size, "; the same command does the rest");
    else if (command->log && strcmp(command->log, "-"))
        snprintf(text, size, "; with --resume=%.400s the same command does the rest", command->log);
    else
        snprintf(text, size,
                 numbered ? "." : "; with --skip-existing the same command does the rest");
    gf_make_printable(text);
    return &counts;
}

/* Appends a text. A signal handler must not call printf(). */
static char *put_text(char *to, const char *text)
{
    while (*text)
        *to++ = *text++;
    return to;
}

static char *put_number(char *to, size_t number)
{
    char digits[24];
    int count = 0;
    do
        digits[count++] = (char)('0' + number % 10);
    while (number /= 10);
    while (count)
        *to++ = digits[--count];
    return to;
}

void gf_summary_interrupted(void)
{
    char line[sizeof how_to_resume + 150], *at = line;
    if (!*how_to_resume)
        return;
    /* The terminal's last line may contain a progress bar and "^C". */
    at = put_text(at, on_terminal ? "\r\n" : "");
    at = put_text(at, "gpufilter: interrupted: ");
    at = put_number(at, counts.done);
    at = put_text(at, " of ");
    at = put_number(at, counts.files);
    at = put_text(at, " files done");
    if (counts.failed) {
        at = put_text(at, ", ");
        at = put_number(at, counts.failed);
        at = put_text(at, " failed");
    }
    at = put_text(at, how_to_resume);
    *at++ = '\n';
    const ssize_t written = write(STDERR_FILENO, line, (size_t)(at - line));
    (void)written;
}

void gf_summary_start(void)
{
    char line[160];
    for (int part = 0; part < GF_START_PARTS; part++) {
        if (gf_start_describe((enum gf_start_part)part, line, sizeof line))
            gf_message_print("", line);
    }
}
