/* --calibrate: measures the figures of this machine, prints them and keeps them. */
#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"
#include "batch/devices/figures_cache.h"
#include "bench/calibrate.h"
#include "cli/messages.h"
#include "cli/actions.h"

static void print_figure(const struct gf_calibration *calibration, int figure)
{
    const struct gf_figure_info info = gf_figure_info(figure);
    const double found = calibration->figures.calibrated[figure];
    if (found > 0)
        printf("%-18s %9.4g %9.4g  %-8s  %s\n", info.name, info.declared, found, info.unit,
               info.what);
}

enum gf_status gf_act_calibrate(const struct gf_command *command, struct gf_error *error)
{
    struct gf_calibration calibration;
    struct gf_figures_file file;
    struct gf_error why;
    /* The runs that are measured must not use the user's options from the environment. */
    (void)unsetenv("GPUFILTER_OPTS");
    GF_TRY(gf_calibrate("/proc/self/exe", GF_CALIBRATE_SECONDS, &calibration, error));
    printf("%-18s %9s %9s  %-8s  %s\n", "figure", "declared", "measured", "unit", "what it is");
    const int count = gf_figure_count();
    for (int i = 0; i < count; i++)
        print_figure(&calibration, i);
    printf("\nmeasured in %.1f s%s%s\n", calibration.seconds,
           calibration.gpu ? "" : "; no GPU: ", calibration.gpu ? "" : calibration.why_no_gpu);
    const bool kept = gf_figures_keep(&calibration.figures, &why);
    if (kept && gf_figures_file_find(&file))
        printf("kept in %s\nfor %s\n", file.path, file.machine);
    else if (!command->quiet) {
        struct gf_error text;
        (void)gf_fail(&text, GF_OK, "the figures are not kept: %s", why.text);
        gf_message_warn(NULL, text.text);
    }
    return GF_OK;
}
