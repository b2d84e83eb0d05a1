#include <math.h>

#include "report/profile/profile_report.h"
#include "report/text.h"

static void print_row(const struct gf_profile_report_row *row, int width, FILE *file)
{
    char bytes[32], rate[32], percent[32];
    gf_text_bytes(row->bytes, bytes, sizeof bytes);
    gf_text_number(row->rate > 0 ? row->rate * 1e-9 : NAN, 2, "", rate, sizeof rate);
    gf_text_number(row->percent, 1, "", percent, sizeof percent);
    fprintf(file, "%-*s %7d %11.3f %9s %9s %7s\n", width, row->name, row->calls, row->busy_s * 1e3,
            bytes, rate, percent);
}

static void print_summary(const struct gf_profile_report *report, const struct gf_profile *profile,
                          FILE *file)
{
    char in[GF_TEXT_FORMAT_SIZE], out[GF_TEXT_FORMAT_SIZE];
    if (report->pictures > 1)
        fprintf(file,
                "pictures   %zu in %.3f ms: %.1f pictures/s; the figures below are their sums, the "
                "wall time %.3f ms\n",
                report->pictures, report->elapsed_s * 1e3,
                (double)report->pictures / report->elapsed_s, profile->wall_s * 1e3);
    else
        fprintf(file, "wall time  %.3f ms, %s to %s\n", profile->wall_s * 1e3,
                gf_text_format(profile->in, in), gf_text_format(profile->out, out));
    if ((size_t)profile->frames > report->pictures)
        fprintf(file, "frames     %d: %.1f frames/s\n", profile->frames,
                profile->frames / report->elapsed_s);
    if (report->read_s > 0)
        fprintf(file, "film       read in %.3f ms, written in %.3f ms\n", report->read_s * 1e3,
                report->write_s * 1e3);
    fprintf(file, "device     %s (%s)\n", profile->device, profile->reason);
    fprintf(file, "bands      of %d rows on %d lane%s, in %d segment%s\n", profile->band_rows,
            profile->lanes, gf_text_plural(profile->lanes), profile->segments,
            gf_text_plural(profile->segments));
    fprintf(file, "overlap    %.0f %%: %.3f ms of work in %.3f ms\n", 100 * report->overlap,
            report->sum_s * 1e3, report->union_s * 1e3);
    if (report->advice)
        fprintf(file, "bound by   %s: busy for %.0f %% of the wall time\nheld by    %s\n",
                report->row[report->bound].name, report->bound_percent, report->advice->why);
    if (report->advice && report->advice->guide)
        fprintf(file, "guide      Best Practices %s\n", report->advice->guide);
    if (report->start_end_s > report->start_begin_s)
        fprintf(file, "CUDA start %.1f ms, over at %.1f ms\n",
                (report->start_end_s - report->start_begin_s) * 1e3, report->start_end_s * 1e3);
}

void gf_profile_report_table(const struct gf_profile_report *report,
                             const struct gf_profile *profile, FILE *file)
{
    int width = 16;
    for (int i = 0; i < report->count; i++)
        width = gf_text_widest(width, report->row[i].name);
    fprintf(file, "%-*s %7s %11s %9s %9s %7s\n", width, "stage", "calls", "busy ms", "bytes",
            "GB/s", "% copy");
    for (int i = 0; i < report->count; i++)
        print_row(&report->row[i], width, file);
    print_summary(report, profile, file);
}
