#include "bench/calibrate.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/spans.h"
#include "bench/calibrator.h"
#include "engine/backend.h"

static int remove_entry(const char *path, const struct stat *stat, int kind, struct FTW *place)
{
    (void)stat;
    (void)kind;
    (void)place;
    return remove(path);
}

static enum gf_status prepare(struct gf_calibrator *calibrator, struct gf_error *error)
{
    const char *const place = getenv("TMPDIR");
    snprintf(calibrator->folder, sizeof calibrator->folder, "%.60s/gpufilter-calibrate-XXXXXX",
             place && *place && strlen(place) < 60 ? place : "/tmp");
    if (!mkdtemp(calibrator->folder)) {
        (void)gf_fail(error, GF_ERROR_OUTPUT, "%s: %m", calibrator->folder);
        *calibrator->folder = '\0';
        return GF_ERROR_OUTPUT;
    }
    GF_TRY(gf_calibrator_make_file(calibrator, "one", 1, 1, &calibrator->one, error));
    GF_TRY(gf_calibrator_make_file(calibrator, "small", 960, 540, &calibrator->small, error));
    GF_TRY(gf_calibrator_make_file(calibrator, "middle", 1920, 1080, &calibrator->middle, error));
    return gf_calibrator_make_file(calibrator, "large", 3840, 2160, &calibrator->large, error);
}

enum gf_status gf_calibrate(const char *program, double seconds, struct gf_calibration *calibration,
                            struct gf_error *error)
{
    const double begin_s = gf_now();
    const char *why_not = "";
    struct gf_calibrator calibrator = {
        .calibration = calibration, .program = program, .end_s = begin_s + seconds};
    *calibration = (struct gf_calibration){0};
    const enum gf_status status = prepare(&calibrator, error);
    calibration->gpu = gf_backend_cuda_likely(&why_not);
    if (!calibration->gpu)
        snprintf(calibration->why_no_gpu, sizeof calibration->why_no_gpu, "%s", why_not);
    if (!status && calibration->gpu) /* this figure is measured first, while there is time */
        gf_calibrate_gpu(&calibrator);
    if (!status)
        gf_calibrate_cpu(&calibrator);
    if (*calibrator.folder)
        (void)nftw(calibrator.folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
    calibration->seconds = gf_now() - begin_s;
    return status;
}
