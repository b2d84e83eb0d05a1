/* Every filter as kernels alone: its chain is planned as always, but each stage runs on the whole
 * picture in device memory, again and again. The sum of its steps, histograms included, is the
 * chain's time. */
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/threads/nvtx.h"
#include "chain/chain.h"
#include "chain/plan.h"
#include "stages.h"

enum { CHAIN_TEXT = 8192, POISON = 0xa5 };

struct spec {
    /* "convolve=@5": a 5x5 kernel without zeros; "convolve=~5": of fractions; "lut=@": a file of
     * 33^3; "overlay=@": a picture of the frame's size */
    const char *chain;
    const char *note, *npp;
    double bar_ms;
    int channels, bits; /* 0: RGB8 */
};

/* For an H200. */
static const double POINT_BAR_MS = 0.055, ALPHA_BAR_MS = 0.065, LUT_BAR_MS = 0.12,
                    OVERLAY_BAR_MS = 0.10;
static const struct spec specs[] = {
    {"blur=2", "13 taps", "gauss13", 0.105, 0, 0},
    {"blur=5", "31 taps", "gauss31", 0.125, 0, 0},
    {"blur=20", "121 taps", NULL, 0.27, 0, 0},
    {"unsharp=1", NULL, "unsharp", 0.13, 0, 0},
    {"unsharp=5:1.5", NULL, NULL, 0.16, 0, 0},
    {"boxblur=4", "9x9", "box9", 0, 0, 0},
    {"boxblur=50", NULL, NULL, 0.15, 0, 0},
    {"convolve=@3", "3x3", "convolve3", 0, 0, 0},
    {"convolve=@5", "5x5", "convolve5", 0.12, 0, 0},
    {"convolve=@31", "31x31", "convolve31", 1.5, 0, 0},
    {"convolve=~5", "5x5 fractions", NULL, 0.18, 0, 0},
    {"convolve=~31", "31x31 fractions", NULL, 4, 0, 0},
    {"sobel", NULL, "gradient", 0.088, 0, 0},
    {"sobel=kernel=scharr", NULL, NULL, 0, 0, 0},
    {"canny=15:25", NULL, NULL, 0.26, 0, 0}, /* the frame has no steep edges */
    {"canny=5:20", "a third is weak", NULL, 0, 0, 0},
    {"laplace", NULL, NULL, 0, 0, 0},
    {"emboss", NULL, NULL, 0, 0, 0},
    {"sobel", "NPP: horizontal", "sobel1", 0, 0, 0},
    {"normalmap", NULL, NULL, 0.106, 0, 0},
    {"median=1", "3x3", "median3", 0.12, 0, 0},
    {"median=2", "5x5", "median5", 0.35, 0, 0},
    {"median=5", "11x11", "median11", 1.8, 0, 0},
    {"median=15", "31x31", NULL, 6.65, 0, 0},
    {"bilateral=2", "radius 4", "bilateral4", 1.6, 0, 0},
    {"bilateral=2.5", "radius 5", "bilateral5", 2.2, 0, 0},
    {"dilate=1", "3x3", "dilate3", 0.15, 0, 0},
    {"erode=1", "3x3", "erode3", 0.15, 0, 0},
    {"dilate=2", "5x5", NULL, 0.15, 0, 0},
    {"dilate=3", "7x7", NULL, 0.15, 0, 0},
    {"dilate=4", "9x9", NULL, 0.15, 0, 0},
    {"dilate=20", "41x41", NULL, 0.15, 0, 0},
    {"dilate=20:0", "41x1", NULL, 0.15, 0, 0},
    {"dilate=0:20", "1x41", NULL, 0.15, 0, 0},
    {"dilate=100:7", "201x15", NULL, 0.15, 0, 0},
    {"dilate=250", "501x501", NULL, 0.15, 0, 0},
    {"erode=250", "501x501", NULL, 0.15, 0, 0},
    {"dilate=1:1:cross", NULL, NULL, 0, 0, 0},
    {"dilate=5:5:ellipse", "11x11", NULL, 0, 0, 0},
    {"morphology=gradient", "3x3", NULL, 0, 0, 0},
    {"morphology=open", "3x3", NULL, 0.13, 0, 0},
    {"morphology=open:3", "7x7", NULL, 0.12, 0, 0},
    {"guided=8", NULL, NULL, 0.85, 0, 0},
    {"distance", NULL, NULL, 1.0, 1, 8},
    {"distance", NULL, NULL, 0, 0, 0},
    {"nlmeans", "window 21, patch 7", NULL, 9.5, 0, 0},
    {"equalize", "luma", "equalize", 0.15, 0, 0},
    {"equalize=channel", NULL, "equalize", 0, 0, 0},
    {"equalize=joint", NULL, "equalize", 0, 0, 0},
    {"equalize=lightness", NULL, NULL, 0.25, 0, 0},
    {"clahe", "8x8 tiles", NULL, 0.18, 0, 0},
    {"normalize", NULL, "normalize", 0, 0, 0},
    {"normalize=clip=1:mode=luma", NULL, NULL, 0, 0, 0},
    {"threshold=otsu", NULL, NULL, 0, 0, 0},
    {"transpose", NULL, "transpose", 0.075, 0, 0},
    {"rotate=90", NULL, "rotate90", 0, 0, 0},
    {"rotate=180", NULL, "rotate180", 0, 0, 0},
    {"rotate=270", NULL, "rotate90", 0, 0, 0},
    {"rotate=7:fit=keep", "linear", "turn", 0.10, 0, 0},
    {"rotate=45:fit=keep", "linear", NULL, 0.10, 0, 0},
    {"rotate=7:cubic:fit=keep", NULL, "turn-cubic", 0, 0, 0},
    {"rotate=7:lanczos3:fit=keep", NULL, NULL, 0.60, 0, 0},
    {"rotate=45:lanczos3:fit=keep", NULL, NULL, 0.60, 0, 0},
    {"rotate=7:fit=keep:colour=transparent", "linear", NULL, 0, 0, 0},
    {"affine=1 0.2/-0.1 1.1:linear:white:keep", NULL, NULL, 0.10, 0, 0},
    {"affine=1 0.2/-0.1 1.1:lanczos3:white:keep", NULL, NULL, 0.60, 0, 0},
    {"affine=half", "4 samples", NULL, 0.11, 0, 0},
    {"perspective=keystone", "linear, up to 2 samples", NULL, 0, 0, 0},
    {"lens=-0.1", NULL, NULL, 0, 0, 0},
    {"lensblur=8", NULL, NULL, 0.23, 0, 0},
    {"lensblur=15.5", NULL, NULL, 0.5, 0, 0},
    {"lensblur=100", NULL, NULL, 0, 0, 0},
    {"motionblur", NULL, NULL, 0, 0, 0},
    {"motionblur=30:20", NULL, NULL, 0.21, 0, 0},
    {"motionblur=100:20", NULL, NULL, 0, 0, 0},
    {"pixelate=8", NULL, NULL, 0, 0, 0},
    {"tile=100%:100%", "a copy", NULL, 0, 0, 0},
    {"pad=110%:110%", NULL, NULL, 0, 0, 0},
    {"hflip", NULL, "hflip", 0, 0, 0},
    {"vflip", NULL, "vflip", 0, 0, 0},
    {"crop=50%:50%", NULL, "crop", 0, 0, 0},
    {"resize=50%:50%:kernel=lanczos3", NULL, "lanczos", 0.065, 0, 0},
    {"resize=50%:50%:kernel=cubic", NULL, "cubic", 0.060, 0, 0},
    {"resize=50%:50%:kernel=linear", NULL, "linear", 0, 0, 0},
    {"resize=50%:50%:kernel=nearest", NULL, "nearest", 0, 0, 0},
    {"resize=50%:50%:kernel=area", NULL, "super", 0, 0, 0},
    {"resize=50%:50%:light=linear", NULL, NULL, 0.15, 0, 0},
    {"grayscale", NULL, "gray601", POINT_BAR_MS, 0, 0},
    {"grayscale=bt709", NULL, "gray709", POINT_BAR_MS, 0, 0},
    {"threshold=0.5", NULL, "threshold", POINT_BAR_MS, 0, 0},
    {"invert", NULL, "invert", POINT_BAR_MS, 0, 0},
    {"gamma=2.2", NULL, "gamma", POINT_BAR_MS, 0, 0},
    {"brightness=0.1", NULL, "brightness", POINT_BAR_MS, 0, 0},
    {"contrast=1.5", NULL, "table", POINT_BAR_MS, 0, 0},
    {"saturation=1.5", NULL, "saturation", 0.09, 0, 0},
    {"levels=0.1:0.9:1.2", NULL, NULL, POINT_BAR_MS, 0, 0},
    {"exposure=0.5", NULL, NULL, POINT_BAR_MS, 0, 0},
    {"curves=lighter", NULL, NULL, POINT_BAR_MS, 0, 0},
    {"posterize", NULL, NULL, POINT_BAR_MS, 0, 0},
    {"posterize=4:bayer8", NULL, NULL, POINT_BAR_MS, 0, 0},
    {"solarize", NULL, NULL, POINT_BAR_MS, 0, 0},
    {"temperature=4000", NULL, NULL, POINT_BAR_MS, 0, 0},
    {"whitebalance", NULL, NULL, 0, 0, 0},
    {"colormatrix=sepia", NULL, NULL, POINT_BAR_MS, 0, 0},
    {"hue=40", NULL, NULL, POINT_BAR_MS, 0, 0},
    {"vibrance=0.5", NULL, NULL, POINT_BAR_MS, 0, 0},
    {"duotone", NULL, NULL, POINT_BAR_MS, 0, 0},
    {"lut=@", "33^3", NULL, LUT_BAR_MS, 0, 0},
    {"vignette", NULL, NULL, POINT_BAR_MS, 0, 0},
    {"frame=40", NULL, NULL, POINT_BAR_MS, 0, 0},
    {"round", NULL, NULL, ALPHA_BAR_MS, 0, 0},
    {"chromakey", NULL, NULL, ALPHA_BAR_MS, 0, 0},
    {"addnoise", "gaussian", NULL, POINT_BAR_MS, 0, 0},
    {"addnoise=kind=uniform", NULL, NULL, POINT_BAR_MS, 0, 0},
    {"overlay=@", "same size", NULL, OVERLAY_BAR_MS, 0, 0},
    {"overlay=@:mode=soft-light", "same size, soft-light", NULL, 0, 0, 0},
    {"overlay", "a badge of 96x64, RGBA", NULL, 0, 0, 0},
    {"mask=@", "same size", NULL, 0.125, 0, 0},
#if defined GF_LIBRARY_freetype && defined GF_LIBRARY_harfbuzz
    {"text=size=200:gravity=south", "a line of 400x200, gray with alpha", NULL, 0, 0, 0},
#endif
    {"gamma=2.2,contrast=1.2,invert", NULL, NULL, 0, 0, 0}, /* one stage, as those that follow */
    {"gamma=2.2,equalize", "luma", NULL, 0, 0, 0},
    {"gamma=2.2,equalize=channel", NULL, NULL, 0, 0, 0},
    {"gamma=2.2,equalize=joint", NULL, NULL, 0, 0, 0},
    {"gamma=2.2,normalize", NULL, NULL, 0, 0, 0},
    {"temperature=4000,equalize", "luma, three tables", NULL, 0, 0, 0},
    {"gamma=2.2,blur=2,contrast=1.2", NULL, NULL, 0.158, 0, 0},
    {"gamma=2.2,blur=5,contrast=1.2", NULL, NULL, 0.18, 0, 0},
    {"gamma=2.2,sobel,contrast=1.2", NULL, NULL, 0.118, 0, 0},
    {"gamma=2.2,median=1,contrast=1.2", NULL, NULL, 0.152, 0, 0},
    {"gamma=2.2,convolve=@5,contrast=1.2", NULL, NULL, 0.15, 0, 0},
    {"blur=2", "13 taps", NULL, 0.045, 1, 8},
    {"blur=2", "13 taps", NULL, 0.45, 4, 8},
    {"blur=2", "13 taps", NULL, 0.26, 3, 16},
    {"median=1", "3x3", NULL, 0, 1, 8},
    {"median=1", "3x3", NULL, 0, 3, 16},
    {"dilate=4", "9x9", NULL, 0, 1, 8},
    {"dilate=4", "9x9", NULL, 0, 3, 16},
    {"sobel", NULL, NULL, 0, 1, 8},
    {"sobel", NULL, NULL, 0, 3, 16},
    {"equalize", "luma", NULL, 0.025, 1, 8},
    {"equalize", "luma", NULL, 0, 3, 16},
    {"clahe", "8x8 tiles", NULL, 0, 1, 8},
    {"threshold=otsu", NULL, NULL, 0, 1, 8},
    {"flatten", NULL, NULL, 0, 4, 8},
    {"transpose", NULL, NULL, 0, 1, 8},
    {"transpose", NULL, NULL, 0, 4, 8},
    {"rotate=7:fit=keep", "linear", NULL, 0, 1, 8},
    {"rotate=7:fit=keep", "linear", NULL, 0, 3, 16},
    {"resize=50%:50%:kernel=lanczos3", NULL, NULL, 0, 3, 16},
    {"gamma=2.2", NULL, NULL, 0, 1, 8},
    {"gamma=2.2,equalize", "luma", NULL, 0, 1, 8},
    {"gamma=2.2,normalize", NULL, NULL, 0, 1, 8},
    {"gamma=2.2", NULL, NULL, 0, 3, 16},
};

/* In RGBA of halves and of singles, which NPP has calls of their own for. */
static const struct {
    const char *chain, *note, *npp;
} float_specs[] = {
    {"blur=2", "13 taps", "gauss13"},
    {"sobel", NULL, "gradient"},
    {"sobel", "NPP: horizontal", "sobel1"},
    {"median=1", "3x3", "median3"},
    {"bilateral=2", "radius 4", "bilateral4"},
    {"resize=50%:50%:kernel=lanczos3", NULL, "lanczos"},
    {"resize=50%:50%:kernel=cubic", NULL, "cubic"},
    {"resize=50%:50%:kernel=linear", NULL, "linear"},
};
enum { FLOAT_SPECS = sizeof float_specs / sizeof *float_specs };
_Static_assert(sizeof specs / sizeof *specs + 2 * FLOAT_SPECS <= BENCH_ROWS,
               "the report holds each row");

/* ---- one chain ---- */

static bool run_plan(struct gf_plan *plan, const struct pictures *frames, struct bench_row *row)
{
    struct pictures pictures = *frames;
    struct counting counting = {0}, next = {0};
    bool ok = true, keep = true;
    for (int s = 0; ok && s < plan->segment_count; s++) {
        const struct gf_segment *const segment = &plan->segment[s];
        const enum gf_statistic statistic = s ? plan->segment[s - 1].statistic : GF_STATISTIC_NONE;
        struct gf_histogram histogram = {0};
        counting = next;
        next = (struct counting){0};
        if (statistic)
            ok = bench_run_statistic(&plan->stage[segment->first], &pictures, &histogram, &counting,
                                     row);
        for (int i = 0; ok && i < segment->count; i++) {
            struct gf_stage *const stage = &plan->stage[segment->first + i];
            stage->histogram = i ? NULL : &histogram;
            ok = bench_run_stage(stage, &pictures, keep, statistic && !i ? &counting : NULL,
                                 segment->statistic && i + 1 == segment->count ? &next : NULL, row);
            stage->histogram = NULL;
            keep = false;
        }
        free(histogram.count);
        bench_free_counting(&counting);
    }
    bench_free_counting(&next);
    if (!keep)
        bench_free_pictures(&pictures);
    row->bytes = bench_picture_bytes(plan->in) + bench_picture_bytes(plan->out);
    return ok;
}

/* "convolve=@3" becomes a kernel of that side, positive weights without symmetry. */
static void expand(const char *chain, char *text)
{
    const size_t start = strcspn(chain, "@~");
    char *rest = (char *)chain + start;
    const bool fractions = *rest == '~';
    size_t length = (size_t)snprintf(text, CHAIN_TEXT, "%.*s", (int)start, chain);
    const long side = *rest ? strtol(rest + 1, &rest, 10) : 0;
    for (int i = 0; i < side * side && length < CHAIN_TEXT; i++)
        length += (size_t)snprintf(text + length, CHAIN_TEXT - length, "%s%s%d",
                                   !i         ? ""
                                   : i % side ? " "
                                              : "/",
                                   fractions ? "0.0" : "", (i * 7 + 3) % 11 + 1);
    snprintf(text + length, CHAIN_TEXT - length, "%s", rest);
}

/* Colours of 33 nodes a side, a little darker than the picture. */
static void write_cube(FILE *file, struct gf_format format)
{
    enum { SIDE = 33 };
    (void)format;
    fprintf(file, "LUT_3D_SIZE %d\n", SIDE);
    for (int i = 0; i < SIDE * SIDE * SIDE; i++) {
        for (int c = 0, at = i; c < 3; c++, at /= SIDE) {
            const double v = (double)(at % SIDE) / (SIDE - 1);
            fprintf(file, "%.6f%c", v * (0.7 + 0.3 * v), c < 2 ? ' ' : '\n');
        }
    }
}

static void write_picture(FILE *file, struct gf_format format)
{
    static unsigned char row[1 << 16];
    const int bytes = 3 * format.width < (int)sizeof row ? 3 * format.width : (int)sizeof row;
    fprintf(file, "P6 %d %d 255\n", bytes / 3, format.height);
    for (int y = 0; y < format.height; y++) {
        for (int x = 0; x < bytes; x++)
            row[x] = (unsigned char)(x * 7 + y * 3 + x * y / 64);
        fwrite(row, 1, (size_t)bytes / 3 * 3, file);
    }
}

/* "lut=@", "overlay=@...": the chain with a file that is made, whose path goes into `path`. */
static bool make_file(const char *chain, struct gf_format format, char *text, char *path)
{
    const size_t name = strcspn(chain, "@");
    strcpy(path, "/tmp/bench-gpu.XXXXXX");
    const int fd = mkstemp(path);
    FILE *const file = fd < 0 ? NULL : fdopen(fd, "w");
    if (!file)
        return false;
    (*chain == 'l' ? write_cube : write_picture)(file, format);
    snprintf(text, CHAIN_TEXT, "%.*s%s%s", (int)name, chain, path, chain + name + 1);
    return !fclose(file);
}

static void run_chain(const char *chain_text, const struct pictures *frames, struct bench_row *row)
{
    static char text[CHAIN_TEXT];
    struct gf_chain chain;
    struct gf_plan plan;
    struct gf_error error = {0};
    char path[40] = "";
    const char *const at = strchr(chain_text, '@');
    const bool has_file = at && (at[1] < '0' || at[1] > '9');
    if (has_file && !make_file(chain_text, frames->format, text, path)) {
        bench_fail(row, "cannot write to /tmp", "");
        return;
    }
    if (!has_file)
        expand(chain_text, text);
    const enum gf_status parsed = gf_chain_parse(text, &chain, &error);
    if (has_file)
        unlink(path);
    if (parsed) {
        bench_fail(row, error.text, "");
        return;
    }
    const struct gf_plan_request request = {.orientation = 1, .on_device = true};
    if (gf_plan_make_for(&chain, frames->format, &request, &plan, &error)) {
        bench_fail(row, error.text, "");
    } else {
        run_plan(&plan, frames, row);
        gf_plan_free(&plan);
    }
    gf_chain_free(&chain);
}

static void name_row(struct bench_row *row, const char *chain, const char *note,
                     struct gf_format format)
{
    static const char *const formats[] = {"", "gray", "graya", "RGB", "RGBA"};
    const char *const end = strpbrk(chain, "@~"); /* behind an equals sign */
    snprintf(row->name, sizeof row->name, "%.*s%s", end ? (int)(end - chain) - 1 : 63, chain,
             end ? end + 1 + strspn(end + 1, "0123456789") : "");
    snprintf(row->note, sizeof row->note, "%s", note ? note : "");
    snprintf(row->format, sizeof row->format, "%s%s%d", formats[format.channels],
             gf_is_float(format) ? "f" : "", format.bits);
}

void bench_chain(const char *chain, const char *note, const struct pictures *frames,
                 struct bench_row *row)
{
    char range[sizeof row->name + sizeof row->note + sizeof row->format + 5];
    name_row(row, chain, note, frames->format);
    snprintf(range, sizeof range, "[%s|%s|%s]", row->name, row->note, row->format);
    gf_nvtx_push(range);
    run_chain(chain, frames, row);
    gf_nvtx_pop();
}

/* ---- NPP beside it ---- */

static bool npp_wrote(struct npp_job *job, size_t bytes, int *code)
{
    struct bench_digest digest;
    return bench_fill(job->out[0], POISON, bytes) && bench_once(npp_run, job, code) &&
           bench_digest(job->out[0], bytes, bytes, 1, &digest) && digest.differing;
}

static void run_npp(const char *name, const struct pictures *frames, const struct pictures *results,
                    struct bench_row *row)
{
    struct npp_job job = {.name = name};
    for (int i = 0; i < BENCH_TURNS; i++) {
        job.in[i] = frames->data[i];
        job.out[i] = results->data[i];
    }
    for (const char *way; (way = npp_way(name, job.way)) != NULL; job.way++) {
        int code = 0;
        const double ms =
            npp_wrote(&job, results->bytes, &code) ? bench_time(npp_run, &job, &code) : -1;
        if (ms > 0 && (!row->npp_ms || ms < row->npp_ms)) {
            row->npp_ms = ms;
            snprintf(row->npp, sizeof row->npp, "%s", way);
        } else if (ms < 0) {
            const size_t length = strlen(row->npp_failed);
            snprintf(row->npp_failed + length, sizeof row->npp_failed - length, "%s%s: status %d",
                     length ? ", " : "", way, code);
        }
    }
}

/* ---- all of them ---- */

bool bench_make_frames(const unsigned char *frame, struct gf_format format, struct pictures *frames)
{
    bool ok = bench_alloc_pictures(frames, format) && frames->pitch == gf_row_bytes(format);
    for (int i = 0; ok && i < BENCH_TURNS; i++)
        ok = bench_convert_frame(frame, frames->data[i], format);
    return ok;
}

double bench_copy_ms(const struct pictures *from, const struct pictures *to)
{
    struct bench_copy copy = {.bytes = from->bytes};
    for (int i = 0; i < BENCH_TURNS; i++) {
        copy.src[i] = from->data[i];
        copy.dst[i] = to->data[i];
    }
    int code = 0;
    gf_nvtx_push("[copy||RGB8]");
    bench_time(bench_copy_kernel, &copy, &code); /* brings the clocks up */
    gf_nvtx_pop();
    const double by_kernel_ms = bench_time(bench_copy_kernel, &copy, &code);
    const double by_runtime_ms = bench_time(bench_copy_device, &copy, &code);
    return by_kernel_ms < by_runtime_ms ? by_kernel_ms : by_runtime_ms;
}

static void run_spec(struct bench_report *report, const struct spec *spec,
                     const struct pictures *frames, const struct pictures *results)
{
    struct bench_row *const row = &report->row[report->rows++];
    row->bar_ms = spec->bar_ms;
    bench_chain(spec->chain, spec->note, frames, row);
    if (gf_is_float(frames->format) && strstr(row->fault, "floats")) {
        row->ms = row->steps = *row->fault = 0; /* no kernel: the row is NPP's alone */
    }
    if (spec->npp && !bench_profiled())
        run_npp(spec->npp, frames, results, row);
    report_row(report, row);
}

bool bench_is_wanted(const char *chain)
{
    const char *const wanted = getenv("BENCH_ROWS");
    regex_t expression;
    if (!wanted || regcomp(&expression, wanted, REG_EXTENDED | REG_NOSUB))
        return true;
    const bool found = !regexec(&expression, chain, 0, NULL, 0);
    regfree(&expression);
    return found;
}

static void run_float_specs(struct bench_report *report, const unsigned char *frame,
                            struct gf_format format)
{
    struct pictures frames = {0}, results = {0};
    for (int i = 0; i < FLOAT_SPECS; i++) {
        char npp[32];
        snprintf(npp, sizeof npp, "%s-f%d", float_specs[i].npp, format.bits);
        const struct spec spec = {
            .chain = float_specs[i].chain, .note = float_specs[i].note, .npp = npp};
        if (!bench_is_wanted(spec.chain))
            continue;
        if (!frames.bytes && (!bench_make_frames(frame, format, &frames) ||
                              !bench_alloc_pictures(&results, format))) {
            fprintf(stderr, "bench: out of device memory\n");
            break;
        }
        run_spec(report, &spec, &frames, &results);
    }
    bench_free_pictures(&frames);
    bench_free_pictures(&results);
}

void bench_kernels(struct bench_report *report, const unsigned char *frame, int width, int height)
{
    struct pictures frames = {0}, results = {0}, others = {0};
    const struct gf_format rgb8 = {width, height, 3, 8, GF_SAMPLES_INTEGER};
    if (!bench_make_frames(frame, rgb8, &frames) || !bench_alloc_pictures(&results, rgb8)) {
        fprintf(stderr, "bench: out of device memory\n");
    } else {
        report->copy_ms = bench_copy_ms(&frames, &results);
        report->copy_bytes = 2 * frames.bytes;
        report_rows_head(report);
    }
    for (size_t i = 0;
         (report->copy_ms > 0 || bench_profiled()) && i < sizeof specs / sizeof *specs; i++) {
        const struct spec *const spec = &specs[i];
        const struct gf_format format =
            spec->channels
                ? (struct gf_format){width, height, spec->channels, spec->bits, GF_SAMPLES_INTEGER}
                : rgb8;
        if (!bench_is_wanted(spec->chain))
            continue;
        if (!spec->channels)
            run_spec(report, spec, &frames, &results);
        else if (bench_make_frames(frame, format, &others))
            run_spec(report, spec, &others, &results);
        bench_free_pictures(&others);
    }
    bench_free_pictures(&frames);
    bench_free_pictures(&results);
    for (int bits = 16; (report->copy_ms > 0 || bench_profiled()) && bits <= 32; bits += 16)
        run_float_specs(report, frame,
                        (struct gf_format){width, height, 4, bits, GF_SAMPLES_FLOAT});
}
