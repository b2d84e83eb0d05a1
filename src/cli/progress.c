#include "cli/progress.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/json.h"

/* The times are long, so that a run of a few seconds prints no lines, and a picture of less than a
 * second has no bar. */
static const double patience_s = 1, bar_tick_s = 0.1, lines_tick_s = 10, json_tick_s = 1;
enum { BAR_CELLS = 24, COLUMNS_LEAST = 40 };

const char *gf_progress_bound(const struct gf_batch_state *state)
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
    double files_per_s, pictures_per_s, left_s; /* left_s: NaN if not known */
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
    gf_json_string(&json, "bound_by", gf_progress_bound(state));
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
            *gf_progress_bound(state) ? gf_progress_bound(state) : "nothing yet");
}

static void describe_files(const struct gf_batch_state *state, char *text, size_t size)
{
    const struct rates rates = rates_of(state);
    char left[32], failed[40] = "";
    put_duration(left, sizeof left, rates.left_s);
    if (state->failed)
        snprintf(failed, sizeof failed, " %zu failed", state->failed);
    snprintf(text, size, " %zu/%zu%s %.0f MP %.1f/s left %s %s", rates.finished, state->files,
             failed, state->megapixels, rates.pictures_per_s, left, gf_progress_bound(state));
}

static void describe_picture(const struct gf_batch_state *state, char *text, size_t size)
{
    char left[32];
    put_duration(left, sizeof left,
                 state->part > 0 ? state->elapsed_s * (1 - state->part) / state->part : -1);
    snprintf(text, size, " left %s", left);
}

static void show_bar(struct gf_progress *progress, const struct gf_batch_state *state)
{
    const double files = (double)(state->done + state->failed + state->skipped);
    const double part = progress->single ? state->part : files / (double)state->files;
    const int filled = (int)(part * BAR_CELLS);
    char cells[BAR_CELLS + 1], text[200];
    memset(cells, '-', BAR_CELLS);
    memset(cells, '#', (size_t)filled);
    cells[BAR_CELLS] = '\0';
    const int length = snprintf(text, sizeof text, " %3.0f%%", 100 * part);
    (progress->single ? describe_picture : describe_files)(state, text + length,
                                                           sizeof text - (size_t)length);
    fprintf(progress->file, "\r%s[%s]%s%.*s\033[K", progress->colour ? "\033[32m" : "", cells,
            progress->colour ? "\033[0m" : "", progress->columns - BAR_CELLS - 3, text);
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
