#include "cli/cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/text/plain_text.h"
#include "base/threads/times.h"
#include "batch/names/names.h"

/* All in seconds: when the bar of a single picture appears, and the times between two updates of
 * bars, of lines and of JSON. They are long enough that a run of a few seconds prints no lines. */
static const double patience_s = 1, bar_tick_s = 0.1, lines_tick_s = 10, json_tick_s = 1;
enum { BAR_MARKS = 24, COLUMNS_LEAST = 40 };

/* Returns the kind of work that has taken most time: "decode", "upload", "filter", "download" or
 * "encode"; "" at the begin. */
static const char *progress_bound(const struct gf_batch_state *state)
{
    const double *const busy = state->busy_s;
    const struct {
        const char *name;
        double busy_s;
    } kinds[] = {{"decode", busy[GF_SPAN_DECODE]},
                 {"upload", busy[GF_SPAN_UPLOAD]},
                 {"filter", busy[GF_SPAN_STAGE] + busy[GF_SPAN_STATISTIC]},
                 {"download", busy[GF_SPAN_DOWNLOAD]},
                 {"encode", busy[GF_SPAN_ENCODE]}};
    size_t most = 0;
    for (size_t i = 1; i < sizeof kinds / sizeof *kinds; i++)
        most = kinds[i].busy_s > kinds[most].busy_s ? i : most;
    return kinds[most].busy_s > 0 ? kinds[most].name : "";
}

struct gf_progress gf_progress_make(FILE *file, enum gf_progress_form form, size_t inputs)
{
    struct gf_progress progress = {.file = file, .form = form, .columns = 80, .single = inputs < 2};
    const char *const terminal = getenv("TERM"), *const no_colour = getenv("NO_COLOR");
    const bool dumb = !terminal || !strcmp(terminal, "dumb");
    const bool interactive = isatty(fileno(file)) && !dumb;
    struct winsize window;
    if (form == GF_PROGRESS_AUTO)
        progress.form = interactive  ? GF_PROGRESS_BAR
                        : inputs < 2 ? GF_PROGRESS_NONE
                                     : GF_PROGRESS_LINES;
    if (!ioctl(fileno(file), TIOCGWINSZ, &window) && window.ws_col >= COLUMNS_LEAST)
        progress.columns = window.ws_col;
    progress.colour = interactive && !(no_colour && *no_colour);
    progress.tick_s = progress.form == GF_PROGRESS_BAR     ? bar_tick_s
                      : progress.form == GF_PROGRESS_LINES ? lines_tick_s
                                                           : json_tick_s;
    return progress;
}

struct rates {
    size_t finished;
    double files_per_s, pictures_per_s, left_s; /* left_s: seconds that are left, NaN if unknown */
};

static struct rates rates_of(const struct gf_batch_state *state)
{
    struct rates rates = {.finished = state->done + state->failed + state->skipped, .left_s = NAN};
    const double worked = (double)(state->done + state->failed); /* skipped files are not counted,
                                                                  * since they took no time */
    if (state->elapsed_s > 0) {
        rates.files_per_s = worked / state->elapsed_s;
        rates.pictures_per_s = (double)state->pictures / state->elapsed_s;
    }
    if (rates.files_per_s > 0)
        rates.left_s = (double)(state->files - rates.finished) / rates.files_per_s;
    return rates;
}

static void put_duration(char *text, size_t size, double seconds)
{
    const long whole = isnan(seconds) ? 0 : (long)(seconds + 0.5);
    if (isnan(seconds))
        snprintf(text, size, "?");
    else if (whole < 3600)
        snprintf(text, size, "%ld:%02ld", whole / 60, whole % 60);
    else
        snprintf(text, size, "%ld:%02ld:%02ld", whole / 3600, whole / 60 % 60, whole % 60);
}

static void show_json(const struct gf_progress *progress, const struct gf_batch_state *state,
                      bool at_end)
{
    const struct rates rates = rates_of(state);
    struct gf_json json = gf_json_begin(progress->file);
    gf_json_object(&json, NULL, GF_JSON_COMPACT);
    gf_json_number(&json, "files", (double)state->files, 0);
    gf_json_number(&json, "done", (double)state->done, 0);
    gf_json_number(&json, "failed", (double)state->failed, 0);
    gf_json_number(&json, "skipped", (double)state->skipped, 0);
    gf_json_number(&json, "left_out", (double)state->left_out, 0);
    gf_json_number(&json, "pictures", (double)state->pictures, 0);
    gf_json_number(&json, "megapixels", state->megapixels, 3);
    gf_json_number(&json, "elapsed_s", state->elapsed_s, 3);
    gf_json_number(&json, "pictures_per_s", rates.pictures_per_s, 1);
    gf_json_number(&json, "eta_s", rates.left_s, 1);
    gf_json_string(&json, "bound_by", progress_bound(state));
    if (state->tiles) {
        gf_json_number(&json, "tiles", (double)state->tiles, 0);
        gf_json_number(&json, "tiles_done", (double)state->tiles_done, 0);
    }
    gf_json_bool(&json, "at_end", at_end);
    gf_json_end(&json);
}

static void show_line(const struct gf_progress *progress, const struct gf_batch_state *state)
{
    const struct rates rates = rates_of(state);
    char failed[40] = "", left[32];
    if (state->failed)
        snprintf(failed, sizeof failed, ", %zu failed", state->failed);
    put_duration(left, sizeof left, rates.left_s);
    fprintf(progress->file,
            "gpufilter: %zu of %zu files%s, %.0f Mpixel, %.1f pictures/s, %s left, bound by %s\n",
            rates.finished, state->files, failed, state->megapixels, rates.pictures_per_s, left,
            *progress_bound(state) ? progress_bound(state) : "nothing yet");
}

static void describe_files(const struct gf_batch_state *state, char *text, size_t size)
{
    const struct rates rates = rates_of(state);
    char left[32], failed[40] = "";
    put_duration(left, sizeof left, rates.left_s);
    if (state->failed)
        snprintf(failed, sizeof failed, " %zu failed", state->failed);
    snprintf(text, size, " %zu/%zu%s %.0f MP %.1f/s left %s %s", rates.finished, state->files,
             failed, state->megapixels, rates.pictures_per_s, left, progress_bound(state));
}

static void describe_picture(const struct gf_batch_state *state, char *text, size_t size)
{
    char left[32], tiles[48] = "";
    if (state->tiles)
        snprintf(tiles, sizeof tiles, " %lld/%lld tiles", state->tiles_done, state->tiles);
    put_duration(left, sizeof left,
                 state->part > 0 ? state->elapsed_s * (1 - state->part) / state->part : -1);
    snprintf(text, size, "%s left %s", tiles, left);
}

static void show_bar(struct gf_progress *progress, const struct gf_batch_state *state)
{
    const double files = (double)(state->done + state->failed + state->skipped);
    const double part = progress->single ? state->part : files / (double)state->files;
    const int filled = (int)(part * BAR_MARKS);
    char marks[BAR_MARKS + 1], text[200];
    memset(marks, '-', BAR_MARKS);
    memset(marks, '#', (size_t)filled);
    marks[BAR_MARKS] = '\0';
    const int length = snprintf(text, sizeof text, " %3.0f%%", 100 * part);
    (progress->single ? describe_picture : describe_files)(state, text + length,
                                                           sizeof text - (size_t)length);
    fprintf(progress->file, "\r%s[%s]%s%.*s\033[K", progress->colour ? "\033[32m" : "", marks,
            progress->colour ? "\033[0m" : "", progress->columns - BAR_MARKS - 3, text);
    progress->drawn = true;
}

void gf_progress_show(struct gf_progress *progress, const struct gf_batch_state *state, bool at_end)
{
    switch (progress->form) {
    case GF_PROGRESS_BAR:
        if (at_end)
            gf_progress_clear(progress);
        else if (!progress->single || state->elapsed_s >= patience_s)
            show_bar(progress, state);
        break;
    case GF_PROGRESS_LINES:
        if (!at_end)
            show_line(progress, state);
        break;
    case GF_PROGRESS_JSON:
        show_json(progress, state, at_end);
        break;
    case GF_PROGRESS_AUTO:
    case GF_PROGRESS_NONE:
        break;
    }
    fflush(progress->file);
}

void gf_progress_clear(struct gf_progress *progress)
{
    if (progress->drawn)
        fputs("\r\033[K", progress->file);
    progress->drawn = false;
}

static void put(FILE *file, const char *name, const char *type, const char *help, double value)
{
    fprintf(file, "# HELP gpufilter_%s %s\n# TYPE gpufilter_%s %s\ngpufilter_%s %.15g\n", name,
            help, name, type, name, value);
}

static enum gf_status put_all(FILE *file, const void *context, struct gf_error *error)
{
    const struct gf_batch_state *const state = context;
    const double rate = state->elapsed_s > 0 ? (double)state->pictures / state->elapsed_s : 0;
    (void)error;
    put(file, "files", "gauge", "Files of this run.", (double)state->files);
    put(file, "done_total", "counter", "Files that are done.", (double)state->done);
    put(file, "failed_total", "counter", "Files that failed.", (double)state->failed);
    put(file, "skipped_total", "counter", "Files that were left out.", (double)state->skipped);
    put(file, "pictures_total", "counter", "Pictures written.", (double)state->pictures);
    put(file, "pixels_total", "counter", "Pixels of the pictures read.", state->megapixels * 1e6);
    put(file, "read_bytes_total", "counter", "Bytes of the pictures read.", state->bytes_in);
    put(file, "written_bytes_total", "counter", "Bytes of the pictures written.", state->bytes_out);
    put(file, "elapsed_seconds", "gauge", "Time since the run began.", state->elapsed_s);
    put(file, "pictures_per_second", "gauge", "Pictures a second since the run began.", rate);
    fputs("# HELP gpufilter_busy_seconds_total Time of all workers by the kind of work; upload, "
          "stage and download are the GPU's where it runs.\n"
          "# TYPE gpufilter_busy_seconds_total counter\n",
          file);
    for (int kind = 0; kind < GF_SPAN_KINDS; kind++)
        fprintf(file, "gpufilter_busy_seconds_total{work=\"%s\"} %.9g\n",
                gf_span_kind_name((enum gf_span_kind)kind), state->busy_s[kind]);
    return GF_OK;
}

enum gf_status gf_metrics_write(const char *path, const struct gf_batch_state *state,
                                struct gf_error *error)
{
    struct gf_output *output;
    GF_TRY(gf_report_open(path, &output, error));
    const enum gf_status status = gf_report_write(output, put_all, state, error);
    gf_output_close(output);
    return status;
}

static struct gf_batch_counts counts;
static char how_to_resume[500]; /* the end of the line that a signal prints; empty: no line */
static bool on_terminal;

void gf_summary_make(const struct gf_batch_state *state, char *text, size_t size)
{
    const char *const bound = progress_bound(state);
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
    /* A later run cannot continue a stream, nor with a single archive, which does not exist until
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
