#include "batch/devices/figures.h"

#include <stdio.h>

static const struct {
    const char *name;
    double declared;
    const char *unit, *what;
} named[GF_FIGURE_NAMED] = {
#define GF_FIGURE_ROW(id, name, declared, unit, what) {name, declared, unit, what},
    GF_FIGURE_LIST(GF_FIGURE_ROW)
#undef GF_FIGURE_ROW
};

/* A GPU's time as a fraction of a CPU thread's. The kernels of light filters wait for memory; the
 * kernels of costly filters are bound by arithmetic, and are 1,500 times as fast as a thread. */
static const double declared_on_cuda = 1 / 700.0;

enum { RANGE = 40 };

static int filters(void)
{
    int count = 0;
    while (count < GF_FIGURE_FILTERS_MAX && gf_filter_at(count))
        count++;
    return count;
}

int gf_figure_count(void)
{
    return GF_FIGURE_NAMED + 2 * filters();
}

static double declared(int figure)
{
    if (figure < GF_FIGURE_NAMED)
        return named[figure].declared;
    return (figure - GF_FIGURE_NAMED) % 2 ? declared_on_cuda : 1;
}

struct gf_figure_info gf_figure_info(int figure)
{
    struct gf_figure_info info = {.declared = declared(figure)};
    if (figure < GF_FIGURE_NAMED) {
        snprintf(info.name, sizeof info.name, "%s", named[figure].name);
        info.unit = named[figure].unit;
        info.what = named[figure].what;
    } else {
        const int index = figure - GF_FIGURE_NAMED;
        const bool cuda = index % 2;
        snprintf(info.name, sizeof info.name, "%s.%s", cuda ? "gpu" : "cpu",
                 gf_filter_at(index / 2)->name);
        info.unit = "";
        info.what = cuda ? "its time on the GPU, times a thread's declared cost"
                         : "its time on a thread, times its declared cost";
    }
    info.least = info.declared / RANGE;
    info.greatest = figure == GF_FIGURE_SHARE ? 1 : info.declared * RANGE;
    return info;
}

int gf_figure_of_filter(const struct gf_filter *filter, bool cuda)
{
    const int count = filters();
    for (int i = 0; i < count; i++) {
        if (gf_filter_at(i) == filter)
            return GF_FIGURE_NAMED + 2 * i + cuda;
    }
    return -1;
}

double gf_figure(const struct gf_figures *figures, int figure)
{
    const double calibrated = figures ? figures->calibrated[figure] : 0;
    return calibrated > 0 ? calibrated : declared(figure);
}

bool gf_figure_calibrate(struct gf_figures *figures, int figure, double value)
{
    const struct gf_figure_info info = gf_figure_info(figure);
    if (!(value >= info.least && value <= info.greatest))
        return false;
    figures->calibrated[figure] = value;
    return true;
}
