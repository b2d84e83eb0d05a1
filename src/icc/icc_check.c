/* Checks a transform that another process has made, which a stranger's profile may have taken over.
 */
#include "icc/icc_build.h"

/* Whether a table lies within the block. */
static bool is_inside(const struct gf_icc_transform *t, unsigned at, size_t size)
{
    return at % 16 == 0 && at >= sizeof *t && at <= t->bytes && size <= t->bytes - at;
}

/* Whether tables of three channels, or one that they share, lie within the block. */
static bool are_inside(const struct gf_icc_transform *t, unsigned at, unsigned step, size_t size)
{
    return (!step || step == size) && is_inside(t, at, step ? 3 * size : size);
}

/* The curves from light to samples. A result of 16 bits is rounded to an integer. */
static bool encodes(const struct gf_icc_transform *t)
{
    const size_t size = t->bits == 8 ? GF_ICC_ENCODE_SIZE_8 : GF_ICC_ENCODE_SIZE_16 * sizeof(float);
    if (!are_inside(t, t->encode_at, t->encode_step, size))
        return false;
    const float *const encode = gf_icc_block(t, t->encode_at);
    const size_t count = t->bits == 8 ? 0 : (t->encode_step ? 3 : 1) * size / sizeof(float);
    bool good = true;
    for (size_t i = 0; i < count; i++)
        good &= encode[i] >= 0 && encode[i] <= 65535; /* not for NaN */
    return good;
}

/* Any light is clipped: the curves to it, the matrix and their products may have any values. */
static bool is_matrix(const struct gf_icc_transform *t)
{
    return t->inputs == 3 && t->outputs == 3 &&
           are_inside(t, t->decode_at, t->decode_step, sizeof(float) << t->bits) &&
           (t->bits == 16 || is_inside(t, t->product_at, sizeof(float[3][256][4]))) && encodes(t);
}

/* Whether each sample has a place between two nodes of its axis. */
static bool has_places(const struct gf_icc_transform *t)
{
    const size_t count = (size_t)t->inputs * 256;
    if (!is_inside(t, t->place_at, count * sizeof(struct gf_icc_place)))
        return false;
    const struct gf_icc_place *const places = gf_icc_block(t, t->place_at);
    bool good = true;
    for (size_t i = 0; i < count; i++)
        good &= places[i].node < (uint32_t)t->grid - 1 && places[i].part <= GF_ICC_PART;
    return good;
}

/* Whether there are curves of 16 bits for each channel, or none. */
static bool has_curves(const struct gf_icc_transform *t, unsigned at, int channels)
{
    return !at || is_inside(t, at, (size_t)channels * sizeof(uint16_t[65536]));
}

static bool is_grid(const struct gf_icc_transform *t)
{
    const int most = t->inputs == 4 ? GF_ICC_GRID_CMYK : GF_ICC_GRID_MOST;
    size_t nodes = GF_ICC_NODE * sizeof(uint16_t);
    if (t->inputs < 3 || t->grid < 2 || t->grid > most)
        return false;
    for (int i = 0; i < t->inputs; i++)
        nodes *= (size_t)t->grid;
    if (!is_inside(t, t->node_at, nodes) || !has_curves(t, t->out_at, t->outputs) ||
        (t->out_at && t->outputs < 3))
        return false;
    if (t->kind == GF_ICC_LAB)
        return t->inputs == 3 && !t->encode_at && has_curves(t, t->curve_at, 3) &&
               is_inside(t, t->root_at, GF_ICC_ENCODE_SIZE_16 * sizeof(float)) &&
               are_inside(t, t->decode_at, t->decode_step, sizeof(float) << t->bits);
    return (!t->encode_at || (t->outputs == 3 && encodes(t))) &&
           (t->bits == 8 ? has_places(t) : has_curves(t, t->curve_at, t->inputs));
}

bool gf_icc_transform_fits(const struct gf_icc_transform *t, size_t size,
                           const struct gf_icc_wish *wish)
{
    if (size < sizeof *t || t->bytes != size || t->inputs != wish->inputs ||
        t->outputs != wish->outputs || t->bits != wish->bits)
        return false;
    if (t->kind == GF_ICC_LEVELS)
        return t->inputs == 1 &&
               is_inside(t, t->level_at, ((size_t)t->outputs * sizeof(uint16_t)) << t->bits);
    return t->kind == GF_ICC_MATRIX
               ? is_matrix(t)
               : (t->kind == GF_ICC_GRID || t->kind == GF_ICC_LAB) && is_grid(t);
}
