#include "cli/summary.h"

#include <stdio.h>

#include "base/fail.h"
#include "cli/report_file.h"
#include "codec/io/output.h"

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
