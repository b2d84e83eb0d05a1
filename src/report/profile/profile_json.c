/* Writes a profile as JSON. The manual prints this list of keys. */
#include <math.h>

#include "gpufilter/pipeline.h"
#include "report/json_parts.h"
#include "report/profile/profile_report.h"

const struct gf_key_help gf_profile_report_keys[] = {
    {"version", "of the program, a string"},
    {"device", "what ran: \"cuda:0 NAME\" or \"cpu, N threads\""},
    {"reason", "why that device"},
    {"lanes", "bands in flight"},
    {"segments", "runs of stages that went band by band"},
    {"band_rows", "rows of a band of the first segment"},
    {"in", "the input: width, height, channels, bits"},
    {"out", "the output, likewise"},
    {"pictures", "how many the profile is of; with several, times and bytes are their sums"},
    {"pictures_per_s", "pictures by the time from the first one's start to the last one's end"},
    {"frames", "how many frames the pictures have: an animation several, any other one"},
    {"frames_per_s", "frames by the same time"},
    {"wall_ms", "from the start to the renamed output"},
    {"start_ms", "duration of the CUDA start-up; null where there was none"},
    {"busy_ms", "time during which at least one stage was busy"},
    {"work_ms", "sum of the stages' busy times"},
    {"overlap", "1 - busy_ms / work_ms: 0 is one after the other"},
    {"bound_by", "name of the stage with the largest busy time"},
    {"bound_guide", "section of the Best Practices Guide that speaks of such a bound; or null"},
    {"bound_why", "what bounds that stage; or null"},
    {"peaks", "device_copy_gb_s, upload_gb_s, download_gb_s, measured in this run, or null"},
    {"stages", "a list in the order of the data; of each:"},
    {"stages.name", "decode, upload, the name of a stage of the chain, download or encode"},
    {"stages.kind", "decode, upload, stage, statistic, download or encode"},
    {"stages.segment", "the stage's segment, from 0; null for the others"},
    {"stages.calls", "number of bands, copies or calls of the codec"},
    {"stages.busy_ms", "time during which at least one lane was in the stage"},
    {"stages.bytes", "moved: samples of a codec, copied, or read and written by a stage"},
    {"stages.gb_s", "bytes / busy time, in 10^9 bytes a second"},
    {"stages.peak_percent",
     "gb_s in percent of the peak of what the stage uses; null: there is no such peak"},
    {"spans",
     "a list of what ran when, for the page; null where there are more than 4096. Of each, a list: "
     "index in stages (-1: the CUDA start-up), lane (-1: the reader or the writer), begin and end "
     "in ms, bytes"},
    {0},
};

static void put_row(struct gf_json *json, const struct gf_profile_report_row *row)
{
    gf_json_object(json, NULL, GF_JSON_INLINE);
    gf_json_string(json, "name", row->name);
    gf_json_string(json, "kind", gf_span_kind_name(row->kind));
    gf_json_number(json, "segment", row->segment >= 0 ? row->segment : NAN, 0);
    gf_json_number(json, "calls", row->calls, 0);
    gf_json_number(json, "busy_ms", row->busy_s * 1e3, 6);
    gf_json_number(json, "bytes", row->bytes, 0);
    gf_json_number(json, "gb_s", row->rate * 1e-9, 6);
    gf_json_number(json, "peak_percent", row->percent, 6);
    gf_json_end(json);
}

static void put_spans(struct gf_json *json, const struct gf_profile_report *report,
                      const struct gf_profile *profile)
{
    if (profile->span_count > GF_PROFILE_SPANS_SAVED) {
        gf_json_string(json, "spans", NULL);
        return;
    }
    gf_json_array(json, "spans", GF_JSON_LINES);
    for (size_t i = 0; i < profile->span_count; i++) {
        const struct gf_span *const span = &profile->spans[i];
        gf_json_array(json, NULL, GF_JSON_COMPACT);
        gf_json_number(json, NULL, gf_profile_report_row_of(report, span), 0);
        gf_json_number(json, NULL, span->lane, 0);
        gf_json_number(json, NULL, span->begin_s * 1e3, 4);
        gf_json_number(json, NULL, span->end_s * 1e3, 4);
        gf_json_number(json, NULL, (double)span->bytes, 0);
        gf_json_end(json);
    }
    gf_json_end(json);
}

void gf_profile_report_json(const struct gf_profile_report *report,
                            const struct gf_profile *profile, FILE *file)
{
    const double start_s = report->start_end_s - report->start_begin_s;
    struct gf_json json = gf_json_begin(file);
    gf_json_object(&json, NULL, GF_JSON_LINES);
    gf_json_string(&json, "version", gf_version());
    gf_json_string(&json, "device", profile->device);
    gf_json_string(&json, "reason", profile->reason);
    gf_json_number(&json, "lanes", profile->lanes, 0);
    gf_json_number(&json, "segments", profile->segments, 0);
    gf_json_number(&json, "band_rows", profile->band_rows, 0);
    gf_json_format(&json, "in", profile->in);
    gf_json_format(&json, "out", profile->out);
    gf_json_number(&json, "pictures", (double)report->pictures, 0);
    gf_json_number(&json, "pictures_per_s",
                   report->elapsed_s > 0 ? (double)report->pictures / report->elapsed_s : NAN, 3);
    gf_json_number(&json, "frames", profile->frames, 0);
    gf_json_number(&json, "frames_per_s",
                   report->elapsed_s > 0 ? profile->frames / report->elapsed_s : NAN, 3);
    gf_json_number(&json, "wall_ms", profile->wall_s * 1e3, 6);
    gf_json_number(&json, "start_ms", start_s > 0 ? start_s * 1e3 : NAN, 6);
    gf_json_number(&json, "busy_ms", report->union_s * 1e3, 6);
    gf_json_number(&json, "work_ms", report->sum_s * 1e3, 6);
    gf_json_number(&json, "overlap", report->overlap, 6);
    gf_json_string(&json, "bound_by", report->bound >= 0 ? report->row[report->bound].name : "");
    gf_json_string(&json, "bound_guide", report->advice ? report->advice->guide : NULL);
    gf_json_string(&json, "bound_why", report->advice ? report->advice->why : NULL);
    gf_json_peaks(&json, profile->device_copy_peak, profile->upload_peak, profile->download_peak);
    gf_json_array(&json, "stages", GF_JSON_LINES);
    for (int i = 0; i < report->count; i++)
        put_row(&json, &report->row[i]);
    gf_json_end(&json);
    put_spans(&json, report, profile);
    gf_json_end(&json);
}
