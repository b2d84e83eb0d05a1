/* addnoise: noise that depends on the pixel's position and a seed alone. */
#include "pixel/point/point.h"

struct addnoise {
    double sigma;
    int kind, seed, channels;
};

enum { GAUSSIAN, EACH = 0 };

static const char *const kinds[] = {"gaussian", "uniform", NULL};
static const char *const channels[] = {"each", "same", NULL};

static const struct gf_param params[] = {
    GF_PARAM(struct addnoise, sigma, 0.05, 0, 1,
             "standard deviation of the noise, as a part of the full scale"),
    GF_PARAM_CHOICE(struct addnoise, kind, GAUSSIAN, kinds,
                    "how it is distributed: uniform reaches sqrt(3) sigma"),
    GF_PARAM_INT(struct addnoise, seed, 1, 0, 999999, "another seed gives other noise"),
    GF_PARAM_CHOICE(struct addnoise, channels, EACH, channels,
                    "noise of each channel's own, or the same for all, which is gray"),
    {0},
};

static enum gf_status point(const struct gf_stage *stage, struct gf_point_builder *builder,
                            struct gf_error *error)
{
    const struct addnoise *const addnoise = stage->params;
    const struct gf_point_noise noise = {.sigma = addnoise->sigma,
                                         .normal = addnoise->kind == GAUSSIAN,
                                         .same = addnoise->channels != EACH,
                                         .seed = addnoise->seed};
    gf_point_noise(builder, &noise);
    return GF_OK;
}

const struct gf_filter gf_addnoise_filter = {
    .name = "addnoise",
    .synonyms = "noise grain gaussian-noise film-grain",
    .summary = "adds noise, the same wherever it runs",
    .definition =
        "v + sigma M z, z the normal number below which a part (w + 1/2) / 2^24 lies, or sqrt(3) "
        "times an even one of -1..1.\n"
        "w are the upper 24 bits of a word of pcg3d(x, y, seed) (M. Jarzynski and M. Olano, Hash "
        "Functions for GPU Rendering,\n"
        "JCGT 9(3), 2020), whose three words are for red, green and blue. Alpha gets none.",
    .example = "addnoise=0.1",
    .params = params,
    .params_size = sizeof(struct addnoise),
    .kind = GF_POINT,
    .cost = {.pixel = 3.2},
    .point = point,
};
