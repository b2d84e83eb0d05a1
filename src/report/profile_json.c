/* The profile for scripts. Every key is described here once: the manual prints this list. */
#include <math.h>

#include "gpufilter/pipeline.h"
#include "report/json.h"
#include "report/report.h"

static const struct gf_report_key keys[] = {
    {"version", "of the program, a string"},
    {"device", "what ran: \"cuda:0 NAME\" or \"cpu, N threads\""},
    {"reason", "why that device"},
    {"lanes", "bands in flight"},
    {"segments", "runs of stages that went band by band"},
    {"band_rows", "rows of a band of the first segment"},
    {"in", "the input: width, height, channels, bits"},
    {"out", "the output, likewise"},
    {"wall_ms", "from the start to the renamed output"},
    {"start_ms", "of the CUDA start-up; null where there was none"},
    {"busy_ms", "time during which at least one stage was busy"},
    {"work_ms", "sum of the stages' busy times"},
    {"overlap", "1 - busy_ms / work_ms: 0 is one after the other"},
    {"bound_by", "name of the stage with the largest busy time"},
    {"peaks", "device_copy_gb_s, upload_gb_s, download_gb_s, measured in this run, or null"},
    {"stages", "a list in the order of the data; of each:"},
    {"stages.name", "decode, upload, the name of a stage of the chain, download or encode"},
    {"stages.kind", "decode, upload, stage, statistic, download or encode"},
    {"stages.segment", "the stage's segment, from 0; null for the others"},
    {"stages.calls", "number of bands, copies or calls of the codec"},
    {"stages.busy_ms", "time during which at least one lane was in the stage"},
    {"stages.bytes", "moved: samples of a codec, copied, or read and written by a stage"},
    {"stages.gb_s", "bytes / busy time, in 10^9 bytes a second"},
    {"stages.peak_percent", "of the peak of what the stage uses; null: it has none"},
};

const struct gf_report_key *gf_report_key_at(int index)
{
    return index >= 0 && index < (int)(sizeof keys / sizeof *keys) ? &keys[index] : NULL;
}

static void put_string(FILE *file, const char *key, const char *text)
{
    fprintf(file, "  \"%s\": ", key);
    gf_json_string(file, text);
    fputs(",\n", file);
}

/* NaN is null. */
static void put_number(FILE *file, const char *before, const char *key, double value,
                       const char *after)
{
    if (isfinite(value))
        fprintf(file, "%s\"%s\": %.6f%s", before, key, value, after);
    else
        fprintf(file, "%s\"%s\": null%s", before, key, after);
}

static void put_format(FILE *file, const char *key, const struct gf_format *format)
{
    fprintf(file, "  \"%s\": {\"width\": %d, \"height\": %d, \"channels\": %d, \"bits\": %d},\n",
            key, format->width, format->height, format->channels, format->bits);
}

static double peak_gb_s(double peak)
{
    return peak > 0 ? peak * 1e-9 : NAN;
}

static void put_row(FILE *file, const struct gf_report_row *row, bool last)
{
    fputs("    {\"name\": ", file);
    gf_json_string(file, row->name);
    fprintf(file, ", \"kind\": \"%s\", \"segment\": ", gf_span_kind_name(row->kind));
    if (row->segment >= 0)
        fprintf(file, "%d", row->segment);
    else
        fputs("null", file);
    fprintf(file, ", \"calls\": %d", row->calls);
    put_number(file, ", ", "busy_ms", row->busy_s * 1e3, "");
    fprintf(file, ", \"bytes\": %.0f", row->bytes);
    put_number(file, ", ", "gb_s", row->rate * 1e-9, "");
    put_number(file, ", ", "peak_percent", row->percent, last ? "}\n" : "},\n");
}

void gf_report_json(const struct gf_report *report, const struct gf_profile *profile, FILE *file)
{
    const double start_s = report->start_end_s - report->start_begin_s;
    fputs("{\n", file);
    put_string(file, "version", gf_version());
    put_string(file, "device", profile->device);
    put_string(file, "reason", profile->reason);
    fprintf(file, "  \"lanes\": %d,\n  \"segments\": %d,\n  \"band_rows\": %d,\n", profile->lanes,
            profile->segments, profile->band_rows);
    put_format(file, "in", &profile->in);
    put_format(file, "out", &profile->out);
    put_number(file, "  ", "wall_ms", profile->wall_s * 1e3, ",\n");
    put_number(file, "  ", "start_ms", start_s > 0 ? start_s * 1e3 : NAN, ",\n");
    put_number(file, "  ", "busy_ms", report->union_s * 1e3, ",\n");
    put_number(file, "  ", "work_ms", report->sum_s * 1e3, ",\n");
    put_number(file, "  ", "overlap", report->overlap, ",\n");
    put_string(file, "bound_by", report->bound >= 0 ? report->row[report->bound].name : "");
    fputs("  \"peaks\": {", file);
    put_number(file, "", "device_copy_gb_s", peak_gb_s(profile->device_copy_peak), ", ");
    put_number(file, "", "upload_gb_s", peak_gb_s(profile->upload_peak), ", ");
    put_number(file, "", "download_gb_s", peak_gb_s(profile->download_peak), "},\n");
    fputs("  \"stages\": [\n", file);
    for (int i = 0; i < report->count; i++)
        put_row(file, &report->row[i], i + 1 == report->count);
    fputs("  ]\n}\n", file);
}
