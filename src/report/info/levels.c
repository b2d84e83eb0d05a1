#include "report/info/facts.h"

#include <math.h>

enum { BINS = 256 };

const struct gf_key_help gf_levels_keys[] = {
    {"statistics.width", "columns of the result of the chain, upright"},
    {"statistics.height", "its rows"},
    {"statistics.bits", "bits of its samples: M is 255 or 65535"},
    {"statistics.pixels", "pixels that are counted: those of zero alpha are not"},
    {"statistics.channels[].name", "gray, red, green or blue"},
    {"statistics.channels[].least", "the least sample, in 0..M"},
    {"statistics.channels[].most", "the greatest sample"},
    {"statistics.channels[].mean", "the mean"},
    {"statistics.channels[].deviation", "the standard deviation, of all pixels"},
    {"statistics.channels[].median", "the least sample with half of the pixels at or below it"},
    {"statistics.channels[].entropy", "Shannon's entropy of the samples, in bits"},
    {"statistics.channels[].histogram", "256 counts, each of (M + 1) / 256 levels"},
    {0},
};

struct summary {
    const char *name;
    uint64_t pixels, bin[BINS];
    double least, most, mean, deviation, median, entropy; /* NaN without pixels */
};

static void add_moments(const uint64_t *count, int levels, struct summary *summary)
{
    const double pixels = (double)summary->pixels;
    double squares = 0;
    summary->mean = summary->entropy = 0;
    for (int v = 0; v < levels; v++)
        summary->mean += v * ((double)count[v] / pixels);
    for (int v = 0; v < levels; v++) {
        const double part = (double)count[v] / pixels, distance = v - summary->mean;
        squares += part * distance * distance;
        summary->entropy -= part > 0 ? part * log2(part) : 0;
    }
    summary->deviation = sqrt(squares);
    summary->entropy = fmax(summary->entropy, 0); /* and not -0 */
}

static struct summary summarise(const struct gf_histogram *histogram, int channel)
{
    static const char *const names[] = {"red", "green", "blue"};
    const uint64_t *const count = histogram->count + (ptrdiff_t)channel * histogram->bins;
    struct summary summary = {.name = histogram->channels == 1 ? "gray" : names[channel],
                              .least = NAN,
                              .most = NAN,
                              .mean = NAN,
                              .deviation = NAN,
                              .median = NAN,
                              .entropy = NAN};
    uint64_t passed = 0;
    for (int v = 0; v < histogram->bins; v++) {
        summary.pixels += count[v];
        summary.bin[(int64_t)v * BINS / histogram->bins] += count[v];
    }
    if (!summary.pixels)
        return summary;
    for (int v = histogram->bins - 1; v >= 0; v--) {
        if (count[v])
            summary.least = v;
    }
    for (int v = 0; v < histogram->bins; v++) {
        passed += count[v];
        if (count[v])
            summary.most = v;
        if (isnan(summary.median) && passed >= summary.pixels - passed)
            summary.median = v;
    }
    add_moments(count, histogram->bins, &summary);
    return summary;
}

void gf_levels_json(const struct gf_levels *levels, struct gf_json *json)
{
    gf_json_object(json, "statistics", GF_JSON_COMPACT);
    gf_json_number(json, "width", levels->format.width, 0);
    gf_json_number(json, "height", levels->format.height, 0);
    gf_json_number(json, "bits", levels->format.bits, 0);
    for (int c = 0; c < levels->histogram.channels; c++) {
        const struct summary summary = summarise(&levels->histogram, c);
        if (!c) {
            gf_json_number(json, "pixels", (double)summary.pixels, 0);
            gf_json_array(json, "channels", GF_JSON_COMPACT);
        }
        gf_json_object(json, NULL, GF_JSON_COMPACT);
        gf_json_string(json, "name", summary.name);
        gf_json_number(json, "least", summary.least, 0);
        gf_json_number(json, "most", summary.most, 0);
        gf_json_figure(json, "mean", summary.mean);
        gf_json_figure(json, "deviation", summary.deviation);
        gf_json_number(json, "median", summary.median, 0);
        gf_json_figure(json, "entropy", summary.entropy);
        gf_json_array(json, "histogram", GF_JSON_COMPACT);
        for (int i = 0; i < BINS; i++)
            gf_json_number(json, NULL, (double)summary.bin[i], 0);
        gf_json_end(json);
        gf_json_end(json);
    }
    gf_json_end(json);
    gf_json_end(json);
}

/* Draws the histogram in a line of 64 bars; a bar's height is the root of its part, so that small
 * counts show. */
static void draw(const struct summary *summary, FILE *file)
{
    static const char *const bars[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    enum { COLUMNS = 64, STEPS = 8 };
    uint64_t column[COLUMNS] = {0}, most = 1;
    for (int i = 0; i < BINS; i++) {
        column[i * COLUMNS / BINS] += summary->bin[i];
        most = column[i * COLUMNS / BINS] > most ? column[i * COLUMNS / BINS] : most;
    }
    fputs("  ", file);
    for (int i = 0; i < COLUMNS; i++)
        fputs(bars[(int)ceil(sqrt((double)column[i] / (double)most) * STEPS)], file);
    putc('\n', file);
}

void gf_levels_plot(const struct gf_levels *levels, FILE *file)
{
    for (int c = 0; c < levels->histogram.channels; c++) {
        const struct summary summary = summarise(&levels->histogram, c);
        fprintf(file, "%-5s  %.0f..%.0f, mean %.2f, deviation %.2f, median %.0f, entropy %.3f\n",
                summary.name, summary.least, summary.most, summary.mean, summary.deviation,
                summary.median, summary.entropy);
        draw(&summary, file);
    }
}
