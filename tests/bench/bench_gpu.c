/* The GPU benchmark: kernels alone beside NPP's, the pipeline from memory to memory, the start of
 * the program. `make bench-gpu` runs it. Arguments: PROGRAM SAMPLE RESULTS.json [FRAME.ppm] */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "results.h"

enum { WIDTH = 7680, HEIGHT = 4320, UNAVAILABLE = 3 };

/* The first line that a command prints; empty where it fails. */
static void first_line(const char *command, char *text, size_t size)
{
    FILE *const pipe = popen(command, "r");
    text[0] = '\0';
    if (!pipe)
        return;
    if (!fgets(text, (int)size, pipe))
        text[0] = '\0';
    text[strcspn(text, "\n")] = '\0';
    pclose(pipe);
}

static void describe_run(struct bench_report *report)
{
    const time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc))
        strftime(report->date, sizeof report->date, "%Y-%m-%dT%H:%M:%SZ", &utc);
    const char *const commit = getenv("GF_COMMIT");
    if (commit)
        snprintf(report->commit, sizeof report->commit, "%s", commit);
    else
        first_line("git describe --always --dirty 2>/dev/null || echo unknown", report->commit,
                   sizeof report->commit);
    first_line("nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null",
               report->driver, sizeof report->driver);
}

/* A binary PPM of 8 bits, repeated over the frame. */
static bool tile_file(FILE *file, unsigned char *pixels)
{
    int width, height, most;
    if (fscanf(file, "P6 %d %d %d", &width, &height, &most) != 3 || most != 255 || width < 1 ||
        height < 1 || fgetc(file) == EOF)
        return false;
    const size_t row_bytes = (size_t)width * 3, frame_bytes = (size_t)WIDTH * 3;
    unsigned char *const row = malloc(row_bytes + frame_bytes);
    bool ok = row != NULL;
    for (int y = 0; ok && y < height && y < HEIGHT; y++) {
        ok = fread(row, 1, row_bytes, file) == row_bytes;
        for (size_t i = row_bytes; i < frame_bytes; i++)
            row[i] = row[i - row_bytes];
        memcpy(pixels + (size_t)y * frame_bytes, row, frame_bytes);
    }
    for (int y = height; ok && y < HEIGHT; y++)
        memcpy(pixels + (size_t)y * frame_bytes, pixels + (size_t)(y - height) * frame_bytes,
               frame_bytes);
    free(row);
    return ok;
}

static bool load_frame(const char *path, unsigned char *frame)
{
    const size_t bytes = (size_t)WIDTH * HEIGHT * 3;
    unsigned char *const pixels = malloc(bytes);
    FILE *const file = fopen(path, "rb");
    const bool ok =
        pixels && file && tile_file(file, pixels) && bench_copy_in(frame, pixels, bytes);
    if (file)
        fclose(file);
    free(pixels);
    return ok;
}

static bool make_frame(struct bench_report *report, const char *path, unsigned char *frame)
{
    snprintf(report->frame, sizeof report->frame, "%dx%d RGB8, %.100s", WIDTH, HEIGHT,
             path ? path : "made: smooth shapes of every size, and grain");
    return path ? load_frame(path, frame) : bench_make_frame(frame, WIDTH, HEIGHT);
}

/* Not only kernels, or some of them, or a table of formats. */
static bool is_whole(void)
{
    return !bench_profiled() && !getenv("BENCH_ROWS") && !getenv("BENCH_FORMATS") &&
           !getenv("BENCH_SMALL");
}

static int finish(struct bench_report *report, const char *results)
{
    int faults = !report->rows + (!report->runs && is_whole()); /* did not even begin */
    report_summary(report);
    for (int i = 0; i < report->rows; i++)
        faults += *report->row[i].fault != 0;
    for (int i = 0; i < report->runs; i++)
        faults += *report->run[i].fault != 0;
    if (!report_json(report, results)) {
        fprintf(stderr, "bench: %s: %s\n", results, strerror(errno));
        return 1;
    }
    printf("written to %s\n", results);
    if (faults)
        printf("%d rows or parts FAILED\n", faults);
    return faults != 0;
}

int main(int argc, char **argv)
{
    static struct bench_report report;
    const char *why = "";
    if (argc != 4 && argc != 5) {
        fprintf(stderr, "usage: bench-gpu PROGRAM SAMPLE RESULTS.json [FRAME.ppm]\n");
        return 2;
    }
    if (is_whole())
        bench_startup(&report, argv[1], argv[2]);
    if (!bench_device_open(&report.device, &why)) {
        fprintf(stderr, "bench: no CUDA device: %s; nothing was measured\n", why);
        return UNAVAILABLE;
    }
    describe_run(&report);
    if (getenv("BENCH_SMALL"))
        return !bench_small();
    unsigned char *const frame = bench_alloc((size_t)WIDTH * HEIGHT * 3);
    if (!frame || !make_frame(&report, argc == 5 ? argv[4] : NULL, frame)) {
        fprintf(stderr, "bench: the frame cannot be made (8-bit binary PPM, device memory)\n");
        return 1;
    }
    if (!getenv("BENCH_NO_NPP"))
        npp_open(WIDTH, HEIGHT, report.npp_version, sizeof report.npp_version);
    report_head(&report);
    if (getenv("BENCH_FORMATS"))
        bench_formats(&report, frame, WIDTH, HEIGHT);
    else
        bench_kernels(&report, frame, WIDTH, HEIGHT);
    npp_close();
    if (is_whole())
        bench_memory(&report, frame, WIDTH, HEIGHT);
    report_collect_bars(&report);
    bench_free(frame);
    return finish(&report, argv[3]);
}
