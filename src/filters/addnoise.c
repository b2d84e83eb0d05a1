/* addnoise: adds noise that depends only on the pixel's position and a seed. */
#include "pixel/point/point.h"

struct addnoise {
    double sigma;
    int kind, seed, channels;
};

enum { GAUSSIAN, EACH = 0 };

static const char *const channels[] = {"each", "same", NULL};

static void point(const struct gf_stage *stage, struct gf_point_builder *builder)
{
    const struct addnoise *const addnoise = stage->params;
    const struct gf_point_noise noise = {.sigma = addnoise->sigma,
                                         .normal = addnoise->kind == GAUSSIAN,
                                         .same = addnoise->channels != EACH,
                                         .seed = addnoise->seed};
    gf_point_noise(builder, &noise);
}

const struct gf_filter gf_addnoise_filter = {
    .name = "addnoise",
    .synonyms = "noise grain gaussian-noise film-grain",
    .summary = "adds noise, the same wherever it runs",
    .definition = "v + sigma M z. gaussian: z is the quantile of the normal distribution at (w + "
                  "1/2) / 2^24; uniform: z is sqrt(3) times a uniformly distributed number of "
                  "-1..1. w is the upper 24 bits of a word of pcg3d(x, y, seed) (M. Jarzynski and "
                  "M. Olano, Hash Functions for GPU Rendering, JCGT 9(3), 2020), whose three words "
                  "are for red, green and blue. Alpha gets no noise.",
    .example = "addnoise=0.1",
    GF_TAKES(struct addnoise,
             GF_PARAM(struct addnoise, sigma, 0.05, 0, 1,
                      "standard deviation of the noise, as a part of the full scale"),
             GF_PARAM_CHOICE(struct addnoise, kind, GAUSSIAN, GF_WORDS("gaussian", "uniform"),
                             "distribution of the noise; uniform noise reaches sqrt(3) sigma"),
             GF_PARAM_INT(struct addnoise, seed, 1, 0, 999999, "another seed gives other noise"),
             GF_PARAM_CHOICE(struct addnoise, channels, EACH, channels,
                             "each: noise of its own for each channel; same: one noise for all "
                             "channels, which is gray")),
    .kind = GF_POINT,
    .takes_floats = true,
    .by_place = true,
    .cost = {.pixel = 3.2},
    .point = point,
};
