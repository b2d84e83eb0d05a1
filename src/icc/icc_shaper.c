/* Makes transforms that consist of curves, a matrix and curves, as for most profiles of screens and
 * cameras. */
#ifdef GF_WITH_LCMS
#include "icc/icc_tables.h"

#include "base/fail.h"
#include "icc/icc_make.h"

bool gf_icc_read_shaper(cmsHPROFILE profile, struct gf_icc_shaper *shaper)
{
    static const cmsTagSignature colorants[] = {cmsSigRedColorantTag, cmsSigGreenColorantTag,
                                                cmsSigBlueColorantTag};
    static const cmsTagSignature curves[] = {cmsSigRedTRCTag, cmsSigGreenTRCTag, cmsSigBlueTRCTag};
    if (!cmsIsMatrixShaper(profile))
        return false;
    for (int c = 0; c < 3; c++) {
        const cmsCIEXYZ *const xyz = cmsReadTag(profile, colorants[c]);
        shaper->curve[c] = cmsReadTag(profile, curves[c]);
        if (!xyz || !shaper->curve[c])
            return false;
        shaper->matrix[0][c] = xyz->X;
        shaper->matrix[1][c] = xyz->Y;
        shaper->matrix[2][c] = xyz->Z;
    }
    return true;
}

bool gf_icc_join_matrices(double to[3][3], double from[3][3], float product[3][3])
{
    double inverse[3][3];
    const double determinant = gf_icc_adjugate((const double(*)[3])to, inverse);
    if (!(determinant > 1e-6 || determinant < -1e-6))
        return false;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            double sum = 0;
            for (int k = 0; k < 3; k++)
                sum += inverse[i][k] * from[k][j];
            product[i][j] = (float)(sum / determinant);
        }
    }
    return true;
}

void gf_icc_fill_decode(struct gf_icc_making *b, const struct gf_icc_shaper *from)
{
    const struct gf_icc_transform *const t = b->transform;
    const int levels = 1 << t->bits;
    for (int c = 0; c < (t->decode_step ? 3 : 1); c++) {
        float *const decode =
            gf_icc_inside(b->transform, t->decode_at + (unsigned)c * t->decode_step);
        for (int v = 0; v < levels; v++)
            decode[v] = cmsEvalToneCurveFloat(from->curve[c], (float)v / (float)(levels - 1));
    }
}

static void fill_products(struct gf_icc_making *b)
{
    const struct gf_icc_transform *const t = b->transform;
    for (int c = 0; t->bits == 8 && c < 3; c++) {
        const float *const decode = gf_icc_block(t, t->decode_at + (unsigned)c * t->decode_step);
        float(*const product)[4] =
            gf_icc_inside(b->transform, t->product_at + (unsigned)c * 256 * 16);
        for (int v = 0; v < 256; v++) {
            for (int i = 0; i < 3; i++)
                product[v][i] = decode[v] * t->matrix[i][c];
        }
    }
}

static void fill_curve(void *table, const cmsToneCurve *curve, int bits)
{
    for (int i = 0; bits == 8 && i < GF_ICC_ENCODE_SIZE_8; i++) {
        const double light = i ? gf_icc_light_at(i, 0.5, GF_ICC_ENCODE_BITS_8) : 0;
        const double v = cmsEvalToneCurveFloat(curve, (float)light);
        ((unsigned char *)table)[i] = (unsigned char)(gf_icc_clamp(v) * 255 + 0.5);
    }
    for (int i = 0; bits == 16 && i < GF_ICC_ENCODE_SIZE_16; i++) {
        const double v =
            cmsEvalToneCurveFloat(curve, (float)gf_icc_light_at(i, 0, GF_ICC_ENCODE_BITS_16));
        ((float *)table)[i] = (float)(gf_icc_clamp(v) * 65535);
    }
}

/* Whether the three curves are the same function, as in most profiles. */
static bool same_curves(cmsToneCurve *const curve[3])
{
    for (int i = 0; i <= 4096; i++) {
        const float at = (float)i / 4096, v = cmsEvalToneCurveFloat(curve[0], at);
        if (cmsEvalToneCurveFloat(curve[1], at) != v || cmsEvalToneCurveFloat(curve[2], at) != v)
            return false;
    }
    return true;
}

void gf_icc_reserve_encode(struct gf_icc_transform *head, const struct gf_icc_shaper *to,
                           size_t *end)
{
    const bool one = same_curves(to->curve);
    const size_t size =
        head->bits == 8 ? GF_ICC_ENCODE_SIZE_8 : GF_ICC_ENCODE_SIZE_16 * sizeof(float);
    head->encode_at = gf_icc_reserve(end, size * (one ? 1 : 3));
    head->encode_step = one ? 0 : (unsigned)size;
}

enum gf_status gf_icc_fill_encode(struct gf_icc_making *b, const struct gf_icc_shaper *to,
                                  struct gf_error *error)
{
    const struct gf_icc_transform *const t = b->transform;
    for (unsigned c = 0; c < (t->encode_step ? 3 : 1); c++) {
        cmsToneCurve *const inverse = cmsReverseToneCurve(to->curve[c]);
        if (!inverse)
            return gf_fail_memory(error);
        fill_curve(gf_icc_inside(b->transform, t->encode_at + c * t->encode_step), inverse,
                   t->bits);
        cmsFreeToneCurve(inverse);
    }
    return GF_OK;
}

enum gf_status gf_icc_make_matrix(struct gf_icc_making *b, bool *made, struct gf_error *error)
{
    struct gf_icc_shaper from, to;
    struct gf_icc_transform head = {
        .kind = GF_ICC_MATRIX, .inputs = 3, .outputs = 3, .bits = b->wish->bits};
    *made = false;
    if (b->wish->inputs != 3 || b->wish->outputs != 3 || !gf_icc_read_shaper(b->from, &from) ||
        !gf_icc_read_shaper(b->to, &to) ||
        !gf_icc_join_matrices(to.matrix, from.matrix, head.matrix))
        return GF_OK;
    const bool one = same_curves(from.curve);
    const size_t decode = sizeof(float) << head.bits;
    size_t end = 0;
    gf_icc_reserve(&end, sizeof head);
    head.decode_at = gf_icc_reserve(&end, decode * (one ? 1 : 3));
    head.decode_step = one ? 0 : (unsigned)decode;
    head.product_at = gf_icc_reserve(&end, head.bits == 8 ? 3 * 256 * 4 * sizeof(float) : 0);
    gf_icc_reserve_encode(&head, &to, &end);
    GF_TRY(gf_icc_allocate(&b->transform, end, &head, error));
    GF_TRY(gf_icc_fill_encode(b, &to, error));
    gf_icc_fill_decode(b, &from);
    fill_products(b);
    *made = gf_icc_agrees(b, 1);
    return GF_OK;
}
#endif
