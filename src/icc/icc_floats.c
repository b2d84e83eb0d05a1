/* Makes conversions of floats between ICC profiles of curves and a matrix, of the profiles' own
 * formulas and lines. */
#ifdef GF_WITH_LCMS
#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "base/fail.h"
#include "icc/icc_tables.h"

static double fixed(const unsigned char *at) /* ICC's s15Fixed16Number */
{
    return (int32_t)gf_get_be(at, 4) / 65536.0;
}

/* A curve from samples to light as a profile has it: (a x + b)^g + e where x >= d, otherwise c x +
 * f; or lines between points of 16 bits. */
struct curve {
    double g, a, b, c, d, e, f;
    const unsigned char *point;
    int points;
};

static bool read_points(const unsigned char *tag, size_t size, struct curve *curve)
{
    const uint32_t count = gf_get_be(tag + 8, 4);
    if (count > 65536 || count > (size - 12) / 2)
        return false;
    *curve = (struct curve){.g = 1, .a = 1, .d = -1};
    if (count == 1)
        curve->g = gf_get_be(tag + 12, 2) / 256.0;
    if (count > 1) {
        curve->point = tag + 12;
        curve->points = (int)count;
    }
    for (uint32_t i = 1; i < count; i++) {
        if (gf_get_be(tag + 12 + 2 * i, 2) < gf_get_be(tag + 10 + 2 * i, 2))
            return false;
    }
    return true;
}

static bool read_parameters(const unsigned char *tag, size_t size, struct curve *curve)
{
    static const unsigned char counts[] = {1, 3, 4, 5, 7};
    const uint32_t type = gf_get_be(tag + 8, 2);
    double value[7] = {1, 1};
    if (type > 4 || size < 12 + 4 * (size_t)counts[type])
        return false;
    for (int i = 0; i < counts[type]; i++)
        value[i] = fixed(tag + 12 + 4 * i);
    *curve = (struct curve){value[0], value[1], value[2], value[3], value[4],
                            value[5], value[6], NULL,     0};
    if (type < 3) {
        curve->d = type ? -curve->b / curve->a : -1;
        curve->e = curve->f = curve->c;
        curve->c = 0;
    }
    return curve->a > 1e-3 && curve->c >= 0;
}

static bool read_curve(struct gf_icc icc, const char *name, struct curve *curve)
{
    size_t size;
    const unsigned char *const tag = gf_icc_tag(icc, name, &size);
    const bool good = size >= 12 && (!memcmp(tag, "curv", 4)   ? read_points(tag, size, curve)
                                     : !memcmp(tag, "para", 4) ? read_parameters(tag, size, curve)
                                                               : false);
    return good && curve->g >= 0.01 && curve->g <= 100;
}

/* A profile's curves, and the matrix from its light to XYZ relative to D50. Gray has one of each.
 */
struct shaper {
    struct curve curve[3];
    double matrix[3][3];
};

static bool read_shaper(struct gf_icc icc, int channels, struct shaper *shaper)
{
    static const char *const curves[] = {"rTRC", "gTRC", "bTRC"}, *const primaries[] = {
                                                                      "rXYZ", "gXYZ", "bXYZ"};
    static const double d50[] = {0xf6d6 / 65536.0, 1, 0xd32d / 65536.0};
    bool good = channels == 1 || channels == 3;
    memset(shaper, 0, sizeof *shaper);
    for (int c = 0; good && c < channels; c++) {
        size_t size = 20;
        const unsigned char *const xyz =
            channels == 1 ? NULL : gf_icc_tag(icc, primaries[c], &size);
        good = read_curve(icc, channels == 1 ? "kTRC" : curves[c], &shaper->curve[c]) && size >= 20;
        for (int i = 0; good && i < 3; i++)
            shaper->matrix[i][c] = xyz ? fixed(xyz + 8 + 4 * i) : d50[i];
    }
    return good;
}

/* Sets the matrix from light of one profile to that of the other; gray is the Y of XYZ. Returns
 * false if there is none. */
static bool join(struct gf_icc_transform *head, struct shaper *from, struct shaper *to)
{
    head->keeps_light = head->inputs == head->outputs &&
                        (head->inputs == 1 || !memcmp(from->matrix, to->matrix, sizeof to->matrix));
    if (head->outputs == 3)
        return gf_icc_join_matrices(to->matrix, from->matrix, head->matrix);
    for (int c = 0; c < 3; c++)
        head->matrix[0][c] = (float)from->matrix[1][c];
    return true;
}

#define FORMULA(...) \
    ((struct gf_icc_formula){__VA_ARGS__, .points = v.points, .is_inverse = is_inverse})
static struct gf_icc_formula formula_of(const struct curve *curve, bool is_inverse)
{
    const struct curve v = *curve;
    const double base = v.a * v.d + v.b,
                 at = v.d < 0 ? -1 : gf_pow_double(fmax(base, 0), v.g) + v.e;
    const bool bends = v.g != 1 || v.d >= 0;
    /* from light */
    const double gain = 1 / v.a, line = v.c > 0 ? 1 / v.c : 0, foot = v.c > 0 ? -v.f / v.c : v.d;
    if (!bends && is_inverse)
        return FORMULA(1, 1, 0, 1, 0, INFINITY, gain, -(v.e + v.b) * gain);
    if (!bends)
        return FORMULA(1, 1, 0, 1, 0, INFINITY, v.a, v.b + v.e);
    return is_inverse ? FORMULA(gain, 1, -v.e, 1 / v.g, -v.b * gain, at, line, foot)
                      : FORMULA(1, v.a, v.b, v.g, v.e, v.d, v.c, v.f);
}
#undef FORMULA

enum gf_status gf_icc_make_floats(struct gf_icc_making *b, bool *made, struct gf_error *error)
{
    const struct gf_icc_wish *const wish = b->wish;
    struct gf_icc_transform head = {
        .kind = GF_ICC_FLOATS, .inputs = wish->inputs, .outputs = wish->outputs, .bits = 32};
    struct shaper shaper[2];
    struct gf_icc_formula formula[6];
    size_t end = 0;
    *made = false;
    if (!read_shaper(wish->from, wish->inputs, &shaper[0]) ||
        !read_shaper(wish->to, wish->outputs, &shaper[1]) || !join(&head, &shaper[0], &shaper[1]))
        return GF_OK;
    gf_icc_reserve(&end, sizeof head);
    head.formula_at = gf_icc_reserve(&end, sizeof formula);
    for (int i = 0; i < 6; i++) {
        const struct curve *const curve = &shaper[i / 3].curve[i % 3];
        formula[i] = (struct gf_icc_formula){.points = 0};
        if (i % 3 < (i < 3 ? wish->inputs : wish->outputs))
            formula[i] = formula_of(curve, i >= 3);
        if (curve->points)
            formula[i].table_at = gf_icc_reserve(&end, (size_t)curve->points * sizeof(float));
    }
    GF_TRY(gf_icc_allocate(&b->transform, end, &head, error));
    memcpy(gf_icc_inside(b->transform, head.formula_at), formula, sizeof formula);
    for (int i = 0; i < 6; i++) {
        float *const point = gf_icc_inside(b->transform, formula[i].table_at);
        for (int k = 0; k < formula[i].points; k++)
            point[k] = (float)gf_get_be(shaper[i / 3].curve[i % 3].point + 2 * k, 2) / 65535;
    }
    *made = gf_icc_agrees(b, 1);
    return GF_OK;
}
#endif
