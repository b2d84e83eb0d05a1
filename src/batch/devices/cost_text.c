/* Writes the estimates as text, with their figures and the origin of each figure. */
#include <stdio.h>
#include <string.h>

#include "batch/devices/cost.h"

enum { LINE_SIZE = 380 };

struct text {
    const struct gf_cost_work *work;
    bool gpu;
    void (*line)(void *context, const char *text);
    void *context;
};

static bool is_of_gpu(int figure)
{
    return !strncmp(gf_figure_info(figure).name, "gpu.", 4) ||
           !strncmp(gf_figure_info(figure).name, "cuda-", 5);
}

/* Whether the estimates depend on the figure. */
static bool uses(const struct text *text, int figure)
{
    const struct gf_cost_work *const work = text->work;
    const bool starts_gpu = text->gpu && work->server != GF_COST_SERVER_WORKS;
    switch (figure) {
    case GF_FIGURE_PROCESS:
    case GF_FIGURE_FILE:
        return true;
    case GF_FIGURE_SHARE:
        return work->processors > 1;
    case GF_FIGURE_THREADS:
        return gf_cost_shares(work);
    case GF_FIGURE_STRIPS:
        return gf_cost_shares(work) &&
               (work->uses[GF_FIGURE_JPEG_DECODE] || work->uses[GF_FIGURE_JPEG_ENCODE]);
    case GF_FIGURE_WHOLE:
        return work->in_turn;
    case GF_FIGURE_CUDA_START:
        return starts_gpu && work->server == GF_COST_NO_SERVER;
    case GF_FIGURE_CUDA_BESIDE:
        return starts_gpu && work->server == GF_COST_SERVER_BESIDE;
    case GF_FIGURE_CUDA_END:
        return starts_gpu;
    case GF_FIGURE_CUDA_FIRST:
    case GF_FIGURE_CUDA_CROWD:
    case GF_FIGURE_CUDA_PNG_CROWD:
        return starts_gpu && work->device_codec && figure == (int)gf_cost_first(work);
    case GF_FIGURE_SERVER:
        return text->gpu && work->server == GF_COST_SERVER_WORKS;
    default:
        return work->uses[figure] && (text->gpu || !is_of_gpu(figure));
    }
}

enum source { DECLARED, CALIBRATED, SOURCES };

static enum source source_of(const struct gf_cost_work *work, int figure)
{
    return work->figures && work->figures->calibrated[figure] > 0 ? CALIBRATED : DECLARED;
}

/* Adds a word to the line. A full line is sent, and a new one begins. */
static void add(const struct text *text, char line[LINE_SIZE], const char *heading,
                const char *word)
{
    const size_t length = strlen(line);
    if (length + strlen(word) + 3 > LINE_SIZE) {
        text->line(text->context, line);
        *line = '\0';
    }
    const size_t at = strlen(line);
    snprintf(line + at, LINE_SIZE - at, "%s%s", at ? ", " : heading, word);
}

static void put_source(const struct text *text, enum source source)
{
    static const char *const headings[SOURCES] = {"declared: ", "calibrated: "};
    const struct gf_figures *const figures = text->work->figures;
    const int count = gf_figure_count();
    char line[LINE_SIZE] = "", word[120];
    for (int i = 0; i < count; i++) {
        if (!uses(text, i) || source_of(text->work, i) != source)
            continue;
        const struct gf_figure_info info = gf_figure_info(i);
        snprintf(word, sizeof word, "%s %.3g%s%s", info.name, gf_figure(figures, i),
                 *info.unit ? " " : "", info.unit);
        add(text, line, headings[source], word);
    }
    if (*line)
        text->line(text->context, line);
}

void gf_cost_describe(const struct gf_cost_work *work, bool gpu,
                      void (*line)(void *context, const char *text), void *context)
{
    const struct text text = {work, gpu, line, context};
    char estimate[120];
    const int length =
        snprintf(estimate, sizeof estimate, "estimate: CPU %.3f s", gf_cost_cpu_s(work));
    if (gpu)
        snprintf(estimate + length, sizeof estimate - (size_t)length, ", GPU %.3f s%s",
                 gf_cost_cuda_s(work),
                 work->server == GF_COST_SERVER_WORKS ? " by the server" : "");
    line(context, estimate);
    for (enum source source = DECLARED; source < SOURCES; source++)
        put_source(&text, source);
}
