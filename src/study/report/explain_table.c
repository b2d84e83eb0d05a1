#include "report/text.h"
#include "study/report/study_report.h"

enum { INDENT = 4 };

static void put_amount(FILE *file, const char *what, double bytes, double peak)
{
    char text[32];
    gf_text_bytes(bytes, text, sizeof text);
    fprintf(file, "%s %s", what, text);
    if (peak > 0)
        fprintf(file, " (%.3f ms)", bytes / peak * 1e3);
}

static void put_size(FILE *file, const char *what, const int *size)
{
    fprintf(file, "%s %d", what, size[0]);
    if (size[1] > 1 || size[2] > 1)
        fprintf(file, "x%d", size[1]);
    if (size[2] > 1)
        fprintf(file, "x%d", size[2]);
}

static void put_kernel(FILE *file, const struct gf_kernel_info *kernel)
{
    fprintf(file, "%*s%s: ", INDENT, "", kernel->name);
    put_size(file, "grid", kernel->grid);
    put_size(file, ", block", kernel->block);
    if (kernel->cluster > 1)
        fprintf(file, ", clusters of %d blocks", kernel->cluster);
    fprintf(file, "; %d registers, %zu bytes of shared memory, ", kernel->registers,
            kernel->shared_bytes);
    if (kernel->local_bytes)
        fprintf(file, "%zu bytes of local memory a thread, ", kernel->local_bytes);
    fprintf(file, "occupancy %.0f %%\n", 100 * kernel->occupancy);
}

static void put_stage(FILE *file, const struct gf_explanation *explanation,
                      const struct gf_explained_stage *stage)
{
    fprintf(file, "  %s: ", stage->name);
    put_amount(file, stage->statistic ? "reads" : "reads and writes", stage->bytes,
               explanation->copy_peak);
    if (stage->filters > 1)
        fprintf(file, "; %d filters fused", stage->filters);
    if (stage->counts)
        fputs("; counts the histogram that the next segment wants", file);
    putc('\n', file);
    if (stage->variant) {
        const int column = fprintf(file, "%*svariant %s: ", INDENT, "", stage->variant);
        gf_text_wrap(file, stage->technique ? stage->technique : "", column, INDENT);
    }
    if (*stage->unknown)
        fprintf(file, "%*skernels are not known: %s\n", INDENT, "", stage->unknown);
    for (int i = 0; i < stage->kernels && i < GF_EXPLAIN_KERNELS; i++)
        put_kernel(file, &stage->kernel[i]);
}

static void put_bands(FILE *file, const struct gf_explained_segment *segment)
{
    fprintf(file, "%d band%s of %d row%s", segment->bands, gf_text_plural(segment->bands),
            segment->band_rows, gf_text_plural(segment->band_rows));
    if (segment->whole)
        fputs(", which see the whole picture", file);
    else if (segment->in.height != segment->out.height)
        fprintf(file, " from up to %d of input", segment->in_rows);
    else if (segment->in_rows > segment->band_rows)
        fprintf(file, " and a halo of up to %d", segment->in_rows - segment->band_rows);
}

static void put_segment(FILE *file, const struct gf_explanation *explanation, int s)
{
    const struct gf_explained_segment *const segment = &explanation->segment[s];
    fprintf(file, "\nsegment %d  ", s + 1);
    put_bands(file, segment);
    if (segment->first_on_host)
        fputs("; the first stage runs on the CPU, since the device has no room for its input",
              file);
    putc('\n', file);
    if (segment->up_bytes) {
        put_amount(file, "  upload", segment->up_bytes, explanation->upload_peak);
        putc('\n', file);
    }
    for (int i = 0; i < segment->stages; i++)
        put_stage(file, explanation, &segment->stage[i]);
    if (segment->down_bytes) {
        put_amount(file, "  download", segment->down_bytes, explanation->download_peak);
        putc('\n', file);
    }
    if (s + 1 < explanation->segments)
        fprintf(file, "  the result lies whole in %s memory for the next segment\n",
                !explanation->on_cuda || !segment->keeps_on_device ? "host" : "device");
}

static void put_settings(FILE *file, const struct gf_explanation *explanation)
{
    char bytes[32];
    gf_text_bytes((double)explanation->lane_bytes, bytes, sizeof bytes);
    fprintf(file, "lanes      %d, with %s of buffers each", explanation->lanes, bytes);
    if (explanation->on_cuda)
        fprintf(file, "; host memory %s, %s",
                explanation->options.host_memory == GF_HOST_PAGEABLE ? "pageable" : "pinned",
                explanation->options.transfer == GF_TRANSFER_ZERO_COPY
                    ? "read and written where it lies"
                    : "copied");
    fprintf(file, "%s\n", explanation->options.no_fuse ? "; point filters apart" : "");
    if (explanation->planned) {
        fputs("bandwidth  not measured, and kernels are not known: there is no GPU\n", file);
        return;
    }
    fprintf(file, "bandwidth  %s %.1f GB/s, read and written",
            explanation->on_cuda ? "device copy" : "copy by all threads",
            explanation->copy_peak * 1e-9);
    if (explanation->upload_peak > 0)
        fprintf(file, "; upload %.1f GB/s, download %.1f GB/s", explanation->upload_peak * 1e-9,
                explanation->download_peak * 1e-9);
    fputs(", measured now\n", file);
}

static void put_total(FILE *file, const struct gf_explanation *explanation)
{
    double up = 0, down = 0, device = 0;
    for (int s = 0; s < explanation->segments; s++) {
        up += explanation->segment[s].up_bytes;
        down += explanation->segment[s].down_bytes;
        device += explanation->segment[s].device_bytes;
    }
    fputs("\ntotal      ", file);
    if (explanation->on_cuda) {
        put_amount(file, "upload", up, explanation->upload_peak);
        put_amount(file, ", download", down, explanation->download_peak);
        fputs(", ", file);
    }
    put_amount(file, explanation->on_cuda ? "device memory" : "memory", device,
               explanation->copy_peak);
    if (explanation->planned)
        putc('\n', file);
    else if (explanation->copy_peak > 0 && explanation->on_cuda)
        fprintf(file,
                "\ntime       at least %.3f ms where copies and kernels overlap, %.3f ms one after "
                "the other; "
                "the codecs' comes on top\n",
                gf_explain_seconds(explanation, true) * 1e3,
                gf_explain_seconds(explanation, false) * 1e3);
    else
        fprintf(file,
                "\ntime       at least %.3f ms by that copy; arithmetic and the codecs' "
                "come on top\n",
                gf_explain_seconds(explanation, false) * 1e3);
}

static void put_line(void *context, const char *text)
{
    FILE *const file = context;
    const char *const colon = strchr(text, ':');
    const int column = fprintf(file, "%-10.*s ", colon ? (int)(colon - text) : 0, text);
    gf_text_wrap(file, colon ? colon + 2 : text, column, 11);
}

void gf_explain_print(const struct gf_explanation *explanation, FILE *file)
{
    char in[GF_TEXT_FORMAT_SIZE], out[GF_TEXT_FORMAT_SIZE];
    fprintf(file, "picture    %s to %s\n", gf_text_format(explanation->in, in),
            (explanation->inks ? gf_text_inks : gf_text_format)(explanation->out, out));
    if (explanation->frames > 1)
        fprintf(file, "frames     %d; all but the estimate is of one\n", explanation->frames);
    if (explanation->reduction > 1) {
        fprintf(file, "decoding   at 1/%d of the file's size", explanation->reduction);
        if (explanation->level)
            fprintf(file, ": its level %d", explanation->level);
        if (explanation->tiles)
            fprintf(file, ", of %d tile%s", explanation->tiles, gf_text_plural(explanation->tiles));
        putc('\n', file);
    }
    const struct gf_rectangle at = explanation->window;
    if (at.width)
        fprintf(file, "window     %dx%d+%d+%d alone is read%s", at.width, at.height, at.x, at.y,
                explanation->blocks ? "" : "\n");
    if (explanation->blocks)
        fprintf(file, ": tiles or strips: %d\n", explanation->blocks);
    fprintf(file, "device     %s (%s)\n", explanation->device, explanation->reason);
    put_settings(file, explanation);
    for (int s = 0; s < explanation->segments; s++)
        put_segment(file, explanation, s);
    put_total(file, explanation);
    if (explanation->work.files)
        gf_cost_describe(&explanation->work, explanation->gpu, put_line, file);
}
