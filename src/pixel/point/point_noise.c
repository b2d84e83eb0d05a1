#include "base/target_clones.h"
#include "pixel/point/point_builder.h"
#include "pixel/point/point_planes.h"

void gf_point_noise(struct gf_point_builder *builder, const struct gf_point_noise *noise)
{
    const double max = gf_sample_max(builder->format), normal = noise->normal;
    /* Uniform numbers in -1..1 have a standard deviation of sqrt(1/3). */
    const double scale = noise->sigma * max * (normal ? 1 : sqrt(3));
    gf_point_append(builder, (struct gf_point_op){.kind = GF_POINT_NOISE,
                                                  .max = (float)max,
                                                  .a = (float)scale,
                                                  .b = (float)normal,
                                                  .c = (float)noise->seed,
                                                  .d = (float)noise->same});
}

/* Computes the random words for a piece that begins at column x of row y. */
GF_TARGET_CLONES static void find_words(uint32_t x, uint32_t y, uint32_t seed,
                                        uint32_t (*restrict word)[GF_PIECE])
{
    for (int i = 0; i < GF_PIECE; i++) {
        const struct gf_noise noise = gf_noise_at(x + (uint32_t)i, y, seed);
        word[0][i] = noise.word[0];
        word[1][i] = noise.word[1];
        word[2][i] = noise.word[2];
    }
}

GF_TARGET_CLONES static void add_normal(const struct gf_point_op op, const uint32_t *restrict word,
                                        float *restrict v)
{
    for (int i = 0; i < GF_PIECE; i++)
        v[i] = gf_clamp(fmaf(gf_noise_normal(gf_noise_even(word[i])), op.a, v[i]), op.max);
}

GF_TARGET_CLONES static void add_even(const struct gf_point_op op, const uint32_t *restrict word,
                                      float *restrict v)
{
    for (int i = 0; i < GF_PIECE; i++)
        v[i] = gf_clamp(fmaf(gf_noise_even(word[i]), op.a, v[i]), op.max);
}

void gf_planes_noise(const struct gf_point_op *op, int colours, int x, int y, struct gf_planes *p)
{
    uint32_t word[3][GF_PIECE];
    find_words((uint32_t)x, (uint32_t)y, (uint32_t)op->c, word);
    for (int c = 0; c < colours; c++) {
        const uint32_t *const from = word[op->d != 0 ? 0 : c];
        if (op->b != 0)
            add_normal(*op, from, p->colour[c]);
        else
            add_even(*op, from, p->colour[c]);
    }
}
