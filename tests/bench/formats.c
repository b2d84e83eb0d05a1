/* `make bench-formats`: the main chains in all formats of a table, each time also as a multiple of
 * the time that a copy of as many bytes takes. */
#include <stdio.h>
#include <string.h>

#include "stages.h"

enum { FORMATS = 7, RGB8 = 1 };

/* A factor of a format that is larger than this many times RGB8's factor is marked. */
static const double FACTOR_BAR = 1.5;

static const struct {
    const char *name;
    int channels, bits;
    enum gf_samples samples;
} formats[FORMATS] = {
    {"gray8", 1, 8, GF_SAMPLES_INTEGER},   {"RGB8", 3, 8, GF_SAMPLES_INTEGER},
    {"RGBA8", 4, 8, GF_SAMPLES_INTEGER},   {"RGB16", 3, 16, GF_SAMPLES_INTEGER},
    {"RGBA16", 4, 16, GF_SAMPLES_INTEGER}, {"RGBAf16", 4, 16, GF_SAMPLES_FLOAT},
    {"RGBAf32", 4, 32, GF_SAMPLES_FLOAT},
};

static const char *const chains[] = {
    "blur=2",
    "blur=20",
    "unsharp=1",
    "boxblur=4",
    "convolve=@5",
    "sobel",
    "median=1",
    "median=2",
    "bilateral=2",
    "dilate=1",
    "dilate=4",
    "equalize",
    "normalize",
    "clahe",
    "transpose",
    "hflip",
    "vflip",
    "pad=110%:110%",
    "rotate=7:fit=keep",
    "perspective=keystone",
    "lens=-0.1",
    "resize=50%:50%:kernel=lanczos3",
    "resize=50%:50%:kernel=linear",
    "resize=50%:50%:kernel=nearest",
    "resize=50%:50%:kernel=area",
    "grayscale",
    "invert",
    "brightness=0.1",
    "addnoise",
    "gamma=2.2",
    "saturation=1.5",
    "vignette",
    "overlay=@",
    "overlay=@:mode=soft-light",
    "mask=@",
};

/* Times of a chain, 0 where it does nothing or takes no floats, negative where it failed. */
static void report_chain(const char *name, const double ms[FORMATS], const double copy_ms[FORMATS])
{
    printf("%-32.32s", name);
    for (int i = 0; i < FORMATS; i++) {
        const double factor = ms[i] / copy_ms[i];
        const bool far = factor > FACTOR_BAR * ms[RGB8] / copy_ms[RGB8] && ms[RGB8] > 0;
        if (ms[i] > 0)
            printf(" %8.4f %5.2f%c", ms[i], factor, far ? '*' : ' ');
        else
            printf(" %15s ", ms[i] < 0 ? "FAILED" : "-");
    }
    putchar('\n');
    fflush(stdout);
}

static void report_copies(const double copy_ms[FORMATS])
{
    printf("\nkernels alone in ms, and as multiples of the copy; *: more than %.1f times the "
           "multiple of RGB8\n%-32s",
           FACTOR_BAR, "chain");
    for (int i = 0; i < FORMATS; i++)
        printf(" %8s %5s ", formats[i].name, "");
    printf("\n%-32s", "copy");
    for (int i = 0; i < FORMATS; i++)
        printf(" %8.4f %5s ", copy_ms[i], "");
    putchar('\n');
    fflush(stdout);
}

bool bench_formats(struct bench_report *report, const unsigned char *frame, int width, int height)
{
    struct pictures frames[FORMATS] = {0}, results = {0};
    double copy_ms[FORMATS] = {0}, ms[FORMATS];
    bool ok = true;
    for (int i = 0; ok && i < FORMATS; i++) {
        const struct gf_format format = {width, height, formats[i].channels, formats[i].bits,
                                         formats[i].samples};
        ok = bench_make_frames(frame, format, &frames[i]) && bench_alloc_pictures(&results, format);
        copy_ms[i] = ok ? bench_copy_ms(&frames[i], &results) : 0;
        bench_free_pictures(&results);
    }
    report->copy_ms = copy_ms[RGB8];
    report->copy_bytes = 2 * frames[RGB8].bytes;
    if (ok)
        report_copies(copy_ms);
    else
        fprintf(stderr, "bench: out of device memory\n");
    for (size_t k = 0; ok && k < sizeof chains / sizeof *chains; k++) {
        if (!bench_is_wanted(chains[k]))
            continue;
        for (int i = 0; i < FORMATS; i++) {
            struct bench_row *const row = &report->row[report->rows];
            bench_chain(chains[k], NULL, &frames[i], row);
            const bool refused = formats[i].samples && strstr(row->fault, "floats");
            ms[i] = refused ? 0 : *row->fault ? -1 : row->ms;
            if (refused)
                memset(row, 0, sizeof *row);
            else
                report->rows++;
        }
        report_chain(report->row[report->rows - 1].name, ms, copy_ms);
    }
    for (int i = 0; i < FORMATS; i++)
        bench_free_pictures(&frames[i]);
    return ok;
}
