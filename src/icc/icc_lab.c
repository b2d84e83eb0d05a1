/* Makes transforms from a profile's own table and the curves around it, as printers' and scanners'
 * profiles have them: from RGB through L*a*b* to a printer, from a scanner or printer through
 * L*a*b* to RGB, and device links. The results are Little CMS's, but for rounding. */
#ifdef GF_WITH_LCMS
#include "base/fail.h"
#include "icc/icc_tables.h"

#include <lcms2_plugin.h>
#include <math.h>
#include <string.h>

enum { CURVES_MOST = 3, LEVELS = 65536 };

/* The steps of a profile's conversion: curves before its table, the table, curves after it. */
struct lut {
    const _cmsStageToneCurvesData *before[CURVES_MOST], *after[CURVES_MOST];
    int before_count, after_count;
    const cmsUInt16Number *node;
    int points; /* nodes along each axis */
};

static bool is_identity(const cmsStage *stage)
{
    const _cmsStageMatrixData *const data = cmsStageData(stage);
    const cmsUInt32Number side = cmsStageInputChannels(stage);
    bool is = side == cmsStageOutputChannels(stage) && !data->Offset;
    for (cmsUInt32Number i = 0; is && i < side * side; i++)
        is = fabs(data->Double[i] - (i % (side + 1) == 0)) < 1e-9;
    return is;
}

/* Reads a table of 16-bit numbers with the same number of nodes along each axis. Returns false for
 * other tables. */
static bool read_table(const cmsStage *stage, cmsUInt32Number outputs, struct lut *lut)
{
    const _cmsStageCLutData *const data = cmsStageData(stage);
    const cmsUInt32Number *const points = data->Params->nSamples,
                                 inputs = cmsStageInputChannels(stage),
                                 most = inputs == 4 ? GF_ICC_GRID_CMYK : GF_ICC_GRID_MOST;
    bool good = !lut->node && !data->HasFloatValues && points[0] >= 2 && points[0] <= most &&
                cmsStageOutputChannels(stage) == outputs;
    for (cmsUInt32Number i = 1; i < inputs; i++)
        good &= points[i] == points[0];
    lut->node = data->Tab.T;
    lut->points = (int)points[0];
    return good;
}

/* Reads the steps of a profile's conversion. Returns false if it has other steps than curves, a
 * table and curves, or no table. */
static bool read_lut(const cmsPipeline *pipeline, int inputs, int outputs, struct lut *lut)
{
    *lut = (struct lut){.node = NULL};
    bool good = outputs >= 3 && pipeline &&
                cmsPipelineInputChannels(pipeline) == (cmsUInt32Number)inputs &&
                cmsPipelineOutputChannels(pipeline) == (cmsUInt32Number)outputs;
    cmsStage *stage = good ? cmsPipelineGetPtrToFirstStage(pipeline) : NULL;
    for (; good && stage; stage = cmsStageNext(stage)) {
        const cmsStageSignature type = cmsStageType(stage);
        int *const count = lut->node ? &lut->after_count : &lut->before_count;
        good = cmsStageInputChannels(stage) == (cmsUInt32Number)(lut->node ? outputs : inputs);
        if (type == cmsSigCurveSetElemType && *count < CURVES_MOST)
            (lut->node ? lut->after : lut->before)[(*count)++] = cmsStageData(stage);
        else if (type == cmsSigCLutElemType)
            good = good && read_table(stage, (cmsUInt32Number)outputs, lut);
        else
            good = good && type == cmsSigMatrixElemType && is_identity(stage);
    }
    return good && lut->node;
}

/* Returns the 16-bit value of channel c after all the curves, one after another, for v,
 * 0..65535. */
static uint16_t curve_at(const _cmsStageToneCurvesData *const *curves, int count, int c, int v)
{
    float value = (float)v / (LEVELS - 1);
    for (int i = 0; i < count; i++)
        value = cmsEvalToneCurveFloat(curves[i]->TheCurves[c], value);
    return (uint16_t)(gf_icc_clamp((double)value) * (LEVELS - 1) + 0.5);
}

/* Fills in uint16_t [channels][65536]: what all the curves together make of each number. */
static void fill_curves(uint16_t *to, const _cmsStageToneCurvesData *const *curves, int count,
                        int channels)
{
    for (int c = 0; c < channels; c++) {
        for (int v = 0; v < LEVELS; v++)
            *to++ = curve_at(curves, count, c, v);
    }
}

/* Whether at least one of the curves is not a straight line. */
static bool bends(const _cmsStageToneCurvesData *const *curves, int count)
{
    bool straight = true;
    for (int i = 0; i < count; i++) {
        for (cmsUInt32Number c = 0; c < curves[i]->nCurves; c++)
            straight &= cmsIsToneCurveLinear(curves[i]->TheCurves[c]) != 0;
    }
    return !straight;
}

/* Reserves memory in the transform for the profile's table and the curves around it. */
static void reserve_lut(struct gf_icc_transform *head, const struct lut *lut, size_t *end)
{
    size_t nodes = 1;
    for (int i = 0; i < head->inputs; i++)
        nodes *= (size_t)lut->points;
    head->grid = lut->points;
    head->node_at = gf_icc_reserve(end, nodes * GF_ICC_NODE * sizeof(uint16_t));
    if (head->kind == GF_ICC_GRID && head->bits == 8)
        head->place_at =
            gf_icc_reserve(end, (size_t)head->inputs * 256 * sizeof(struct gf_icc_place));
    else if (bends(lut->before, lut->before_count))
        head->curve_at = gf_icc_reserve(end, (size_t)head->inputs * LEVELS * sizeof(uint16_t));
    if (bends(lut->after, lut->after_count))
        head->out_at = gf_icc_reserve(end, (size_t)head->outputs * LEVELS * sizeof(uint16_t));
}

static void fill_lut(struct gf_icc_transform *t, const struct lut *lut)
{
    uint16_t *const node = gf_icc_inside(t, t->node_at);
    size_t values = (size_t)t->outputs;
    for (int i = 0; i < t->inputs; i++)
        values *= (size_t)t->grid;
    for (size_t i = 0; i < values; i++)
        node[i / (size_t)t->outputs * GF_ICC_NODE + i % (size_t)t->outputs] = lut->node[i];
    struct gf_icc_place *const places = gf_icc_inside(t, t->place_at);
    for (int i = 0; t->place_at && i < 256 * t->inputs; i++)
        places[i] = gf_icc_place_of(
            curve_at(lut->before, lut->before_count, i / 256, i % 256 * 257), t->grid);
    if (t->curve_at)
        fill_curves(gf_icc_inside(t, t->curve_at), lut->before, lut->before_count, t->inputs);
    if (t->out_at)
        fill_curves(gf_icc_inside(t, t->out_at), lut->after, lut->after_count, t->outputs);
}

/* Transforms from RGB through L*a*b*. */

/* How the intent changes colours between two profiles: XYZ relative to white becomes XYZ times
 * `factor` plus `offset` (ICC.1; Adobe's black point compensation). */
struct between {
    double factor[3], offset[3];
};

/* Sets the factors for absolute colours: one profile's white divided by the other's. That of a
 * screen's profile of version 2 counts as D50. */
static void between_whites(const struct gf_icc_making *b, double factor[3])
{
    const cmsHPROFILE profiles[] = {b->from, b->to};
    cmsCIEXYZ white[2];
    for (int i = 0; i < 2; i++) {
        const cmsCIEXYZ *const tag = cmsReadTag(profiles[i], cmsSigMediaWhitePointTag);
        const bool usual = !tag || (cmsGetEncodedICCversion(profiles[i]) < 0x4000000 &&
                                    cmsGetDeviceClass(profiles[i]) == cmsSigDisplayClass);
        white[i] = usual ? *cmsD50_XYZ() : *tag;
    }
    factor[0] = white[0].X / white[1].X;
    factor[1] = white[0].Y / white[1].Y;
    factor[2] = white[0].Z / white[1].Z;
}

static struct between read_between(const struct gf_icc_making *b)
{
    const double white[3] = {cmsD50_XYZ()->X, cmsD50_XYZ()->Y, cmsD50_XYZ()->Z};
    const struct gf_icc_wish *const wish = b->wish;
    const cmsUInt32Number intent = (cmsUInt32Number)wish->intent;
    struct between between = {{1, 1, 1}, {0, 0, 0}};
    cmsCIEXYZ from, to;
    /* Little CMS always compensates for the black point with these intents of a profile of version
     * 4. */
    const bool always = (intent == INTENT_PERCEPTUAL || intent == INTENT_SATURATION) &&
                        cmsGetEncodedICCversion(b->to) >= 0x4000000;
    if (wish->intent == GF_ICC_ABSOLUTE) {
        between_whites(b, between.factor);
        return between;
    }
    if (!(wish->black_point || always) || !cmsDetectBlackPoint(&from, b->from, intent, 0) ||
        !cmsDetectDestinationBlackPoint(&to, b->to, intent, 0))
        return between;
    const double low[3] = {from.X, from.Y, from.Z}, high[3] = {to.X, to.Y, to.Z};
    for (int c = 0; c < 3; c++) {
        between.factor[c] = (high[c] - white[c]) / (low[c] - white[c]);
        between.offset[c] = (low[c] - high[c]) / (low[c] - white[c]);
    }
    return between;
}

static cmsTagSignature tag_of(const struct gf_icc_making *b, cmsHPROFILE profile)
{
    static const cmsTagSignature tags[2][4] = {
        {cmsSigAToB0Tag, cmsSigAToB1Tag, cmsSigAToB2Tag, cmsSigAToB1Tag},
        {cmsSigBToA0Tag, cmsSigBToA1Tag, cmsSigBToA2Tag, cmsSigBToA1Tag}};
    const cmsTagSignature *const of = tags[profile == b->to];
    return cmsIsTag(profile, of[b->wish->intent]) ? of[b->wish->intent] : of[0];
}

/* Whether the profile's table is one of ICC version 2, where L* = 100 is 65280 instead of 65535. */
static bool is_old(const struct gf_icc_making *b, cmsHPROFILE profile)
{
    char type[4] = "";
    cmsReadRawTag(profile, tag_of(b, profile), type, sizeof type);
    return !memcmp(type, "mft2", sizeof type);
}

/* Fills in what converts decoded samples to L*a*b* of 16 bits. */
static void fill_lab(struct gf_icc_making *b, const struct gf_icc_shaper *from)
{
    const double white[3] = {cmsD50_XYZ()->X, cmsD50_XYZ()->Y, cmsD50_XYZ()->Z};
    const struct between between = read_between(b);
    struct gf_icc_transform *const t = b->transform;
    float *const root = gf_icc_inside(t, t->root_at);
    const bool old = is_old(b, b->to);
    t->lab_scale[0] = old ? 652.80f : 655.35f;
    t->lab_scale[1] = old ? 256 : 257;
    for (int c = 0; c < 3; c++) {
        for (int i = 0; i < 3; i++)
            t->column[i][c] = (float)(from->matrix[c][i] / white[c] * between.factor[c] / 2);
        t->column[3][c] = (float)(between.offset[c] / 2);
    }
    for (int i = 0; i < GF_ICC_ENCODE_SIZE_16; i++) {
        const double light = 2 * gf_icc_light_at(i, 0, GF_ICC_ENCODE_BITS_16),
                     bend = 24. / 116 * (24. / 116) * (24. / 116);
        root[i] = (float)(light > bend ? cbrt(light) : 841. / 108 * light + 16. / 116);
    }
    gf_icc_fill_decode(b, from);
}

enum gf_status gf_icc_make_lab(struct gf_icc_making *b, bool *made, struct gf_error *error)
{
    const int outputs = b->wish->outputs;
    struct gf_icc_transform head = {
        .kind = GF_ICC_LAB, .inputs = 3, .outputs = outputs, .bits = b->wish->bits};
    struct gf_icc_shaper from;
    struct lut lut;
    size_t end = 0;
    *made = false;
    if (b->wish->inputs != 3 || cmsGetPCS(b->to) != cmsSigLabData ||
        !gf_icc_read_shaper(b->from, &from) ||
        !read_lut(cmsReadTag(b->to, tag_of(b, b->to)), 3, outputs, &lut))
        return GF_OK;
    gf_icc_reserve(&end, sizeof head);
    const size_t decode = sizeof(float) << head.bits;
    head.decode_at = gf_icc_reserve(&end, 3 * decode);
    head.decode_step = (unsigned)decode;
    head.root_at = gf_icc_reserve(&end, GF_ICC_ENCODE_SIZE_16 * sizeof(float));
    reserve_lut(&head, &lut, &end);
    GF_TRY(gf_icc_allocate(&b->transform, end, &head, error));
    fill_lut(b->transform, &lut);
    fill_lab(b, &from);
    *made = gf_icc_agrees(b, 1);
    return GF_OK;
}

/* Transforms through L*a*b* to RGB. */

/* Fills in what converts L*a*b* to light of the result. Returns false if the matrix has no
 * inverse. */
static bool fill_light(struct gf_icc_making *b, struct gf_icc_shaper *to)
{
    const struct between between = read_between(b);
    struct gf_icc_transform *const t = b->transform;
    const bool old = is_old(b, b->from);
    double white[3][3] = {
        {cmsD50_XYZ()->X, 0, 0}, {0, cmsD50_XYZ()->Y, 0}, {0, 0, cmsD50_XYZ()->Z}};
    float matrix[3][3];
    if (!gf_icc_join_matrices(to->matrix, white, matrix))
        return false;
    t->lab_scale[0] = old ? 1 / 652.80f : 1 / 655.35f;
    t->lab_scale[1] = old ? 1 / 256.0f : 1 / 257.0f;
    for (int c = 0; c < 3; c++) {
        for (int i = 0; i < 3; i++) {
            t->column[i][c] = matrix[c][i] * (float)between.factor[i];
            t->column[3][c] += matrix[c][i] * (float)between.offset[i];
        }
    }
    return true;
}

enum gf_status gf_icc_make_from_lab(struct gf_icc_making *b, bool *made, struct gf_error *error)
{
    struct gf_icc_transform head = {
        .kind = GF_ICC_GRID, .inputs = b->wish->inputs, .outputs = 3, .bits = b->wish->bits};
    struct gf_icc_shaper to;
    struct lut lut;
    size_t end = 0;
    *made = false;
    if (b->wish->outputs != 3 || cmsGetPCS(b->from) != cmsSigLabData ||
        !gf_icc_read_shaper(b->to, &to) ||
        !read_lut(cmsReadTag(b->from, tag_of(b, b->from)), head.inputs, 3, &lut))
        return GF_OK;
    gf_icc_reserve(&end, sizeof head);
    reserve_lut(&head, &lut, &end);
    gf_icc_reserve_encode(&head, &to, &end);
    GF_TRY(gf_icc_allocate(&b->transform, end, &head, error));
    GF_TRY(gf_icc_fill_encode(b, &to, error));
    fill_lut(b->transform, &lut);
    *made = fill_light(b, &to) && gf_icc_agrees(b, 1);
    return GF_OK;
}

/* Transforms by device links. */

enum gf_status gf_icc_make_link(struct gf_icc_making *b, bool *made, struct gf_error *error)
{
    struct gf_icc_transform head = {.kind = GF_ICC_GRID,
                                    .inputs = b->wish->inputs,
                                    .outputs = b->wish->outputs,
                                    .bits = b->wish->bits};
    struct lut lut;
    size_t end = 0;
    *made = false;
    if (!read_lut(cmsReadTag(b->from, cmsSigAToB0Tag), head.inputs, head.outputs, &lut))
        return GF_OK;
    gf_icc_reserve(&end, sizeof head);
    reserve_lut(&head, &lut, &end);
    GF_TRY(gf_icc_allocate(&b->transform, end, &head, error));
    fill_lut(b->transform, &lut);
    *made = gf_icc_agrees(b, 1);
    return GF_OK;
}
#endif
