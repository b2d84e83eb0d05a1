/* The tables of a conversion between two profiles: curves, a matrix and curves; or a grid of all
 * colours, from which other colours are interpolated. */
#include "icc/icc_tables.h"

#include <stdlib.h>

#include "base/fail.h"
#include "icc/icc.h"

unsigned gf_icc_reserve(size_t *end, size_t size)
{
    const size_t at = *end;
    *end = (at + size + 15) / 16 * 16;
    return (unsigned)at;
}

enum gf_status gf_icc_allocate(struct gf_icc_transform **transform, size_t size,
                               const struct gf_icc_transform *head, struct gf_error *error)
{
    free(*transform);
    *transform = calloc(1, size);
    GF_ALLOCATED(*transform, error);
    **transform = *head;
    (*transform)->bytes = (unsigned)size;
    return GF_OK;
}

#ifdef GF_WITH_LCMS
#include <lcms2_plugin.h>

bool gf_icc_agrees(const struct gf_icc_making *b, int levels)
{
    enum { SIDE = 9 };
    const int bits = b->wish->bits, most = bits == 8 ? 255 : 65535, inputs = b->wish->inputs,
              outputs = b->wish->outputs;
    int colours = SIDE * SIDE * SIDE * (inputs == 4 ? SIDE : 1);
    while (colours--) {
        uint16_t sample[4], exact[4], own16[4];
        unsigned char sample8[4], own8[4];
        float floats[4], own[4];
        for (int c = 0, rest = colours; c < inputs; c++, rest /= SIDE) {
            const int v = rest % SIDE * most / (SIDE - 1);
            sample8[c] = (unsigned char)v;
            sample[c] = (uint16_t)(bits == 8 ? v * 257 : v);
            floats[c] = (float)v / 65535;
        }
        cmsDoTransform(b->exact, sample, exact, 1);
        if (bits == 32)
            gf_icc_convert_floats(b->transform, floats, inputs, own, outputs, 1);
        else
            gf_icc_convert(b->transform, bits == 8 ? (void *)sample8 : sample, inputs,
                           bits == 8 ? (void *)own8 : own16, outputs, 1);
        for (int c = 0; c < outputs; c++) {
            const int made = bits == 32  ? (int)gf_icc_word(own[c] * 65535)
                             : bits == 8 ? own8[c]
                                         : own16[c];
            if (abs(made - (int)gf_icc_in_bits(exact[c], bits)) >
                (bits == 8 ? levels : levels * 257))
                return false;
        }
    }
    return true;
}

/* Transforms that consist of curves, a matrix and curves, as most profiles of screens and cameras
 * need. */

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

/* Whether the three curves are the same function, so that one table is enough. */
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
        GF_ALLOCATED(inverse, error);
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

/* Transforms by a table of all colours (a grid), for profiles that contain such tables. */

enum { ROW = 256 }; /* the number of nodes that one call of Little CMS computes */

/* The curves that most profiles with a table have before it. The axes of the grid are chosen so
 * that these curves are straight lines along them, and that nodes lie where the profile's table has
 * nodes. Interpolation between nodes then gives the profile's values. */
struct front {
    /* From samples to the axis of the profile's table; NULL: a straight line. */
    cmsToneCurve *curve[4];
    cmsToneCurve *inverse[4]; /* from the axis of the profile's table to samples */
    int points;               /* nodes of the profile's table along an axis; 0: unknown */
};

static cmsPipeline *table_of(const struct gf_icc_making *b)
{
    static const cmsTagSignature tags[] = {cmsSigAToB0Tag, cmsSigAToB1Tag, cmsSigAToB2Tag,
                                           cmsSigAToB1Tag};
    const cmsTagSignature wanted = tags[b->wish->intent];
    return cmsReadTag(b->from, cmsIsTag(b->from, wanted) ? wanted : cmsSigAToB0Tag);
}

static void read_curves(const struct gf_icc_making *b, const cmsStage *stage, struct front *front)
{
    const _cmsStageToneCurvesData *const data = cmsStageData(stage);
    bool usable = cmsStageOutputChannels(stage) == (cmsUInt32Number)b->wish->inputs;
    for (int c = 0; usable && c < b->wish->inputs; c++)
        usable = cmsIsToneCurveMonotonic(data->TheCurves[c]) &&
                 !cmsIsToneCurveDescending(data->TheCurves[c]);
    for (int c = 0; usable && c < b->wish->inputs; c++) {
        if (cmsIsToneCurveLinear(data->TheCurves[c]))
            continue;
        front->inverse[c] = cmsReverseToneCurve(data->TheCurves[c]);
        front->curve[c] = front->inverse[c] ? data->TheCurves[c] : NULL;
    }
}

static void open_front(const struct gf_icc_making *b, struct front *front)
{
    cmsPipeline *const table = table_of(b);
    cmsStage *stage = table ? cmsPipelineGetPtrToFirstStage(table) : NULL;
    *front = (struct front){.points = 0};
    if (stage && cmsStageType(stage) == cmsSigCurveSetElemType) {
        read_curves(b, stage, front);
        stage = cmsStageNext(stage);
    }
    if (stage && cmsStageType(stage) == cmsSigCLutElemType)
        front->points = (int)((_cmsStageCLutData *)cmsStageData(stage))->Params->nSamples[0];
}

static void close_front(struct front *front)
{
    for (int c = 0; c < 4; c++) {
        if (front->inverse[c])
            cmsFreeToneCurve(front->inverse[c]);
    }
}

/* Returns the number of nodes along an axis: as many as GF_ICC_GRID_RGB or _CMYK allow so that the
 * nodes of the profile's table are among them. */
static int grid_of(const struct front *front, int inputs)
{
    const int most = inputs == 4 ? GF_ICC_GRID_CMYK : GF_ICC_GRID_RGB,
              intervals = front->points - 1;
    return intervals < 1 || intervals >= most ? most : (most - 1) / intervals * intervals + 1;
}

static uint16_t on_axis(const cmsToneCurve *curve, uint32_t sample)
{
    const float v = curve ? cmsEvalToneCurveFloat(curve, (float)sample / 65535) : 0;
    return (uint16_t)(curve ? gf_icc_clamp((double)v) * 65535 + 0.5 : sample);
}

static void fill_places(struct gf_icc_transform *t, const struct front *front)
{
    struct gf_icc_place *const places = gf_icc_inside(t, t->place_at);
    uint16_t *const curves = gf_icc_inside(t, t->curve_at);
    for (int c = 0; t->bits == 8 && c < t->inputs; c++) {
        for (uint32_t v = 0; v < 256; v++)
            places[256 * c + (int)v] = gf_icc_place_of(on_axis(front->curve[c], v * 257), t->grid);
    }
    for (int c = 0; t->curve_at && c < t->inputs; c++) {
        for (uint32_t v = 0; v < 65536; v++)
            curves[65536 * (uint32_t)c + v] = on_axis(front->curve[c], v);
    }
}

/* Computes the colour at a node, 0..65535 for each channel. */
static void node_colour(const struct gf_icc_transform *t, const struct front *front, size_t node,
                        uint16_t *sample)
{
    const size_t grid = (size_t)t->grid;
    for (int c = t->inputs - 1; c >= 0; c--, node /= grid)
        sample[c] = on_axis(front->inverse[c],
                            (uint32_t)((node % grid * 65535 + (grid - 1) / 2) / (grid - 1)));
}

static size_t node_count(const struct gf_icc_transform *t)
{
    size_t nodes = 1;
    for (int i = 0; i < t->inputs; i++)
        nodes *= (size_t)t->grid;
    return nodes;
}

static void fill_nodes(const struct gf_icc_making *b, const struct front *front, uint16_t *node)
{
    const struct gf_icc_transform *const t = b->transform;
    const size_t nodes = node_count(t);
    uint16_t sample[ROW * 4], result[ROW * 4];
    for (size_t first = 0; first < nodes; first += ROW) {
        const size_t count = nodes - first < ROW ? nodes - first : ROW;
        for (size_t i = 0; i < count; i++)
            node_colour(t, front, first + i, sample + i * (size_t)t->inputs);
        cmsDoTransform(b->exact, sample, result, (cmsUInt32Number)count);
        for (size_t i = 0; i < count * (size_t)t->outputs; i++)
            node[(first + i / (size_t)t->outputs) * GF_ICC_NODE + i % (size_t)t->outputs] =
                result[i];
    }
}

/* Fills nodes with the light that Little CMS's transform `linear` computes in floats. */
static void fill_light(const struct gf_icc_making *b, const struct front *front,
                       cmsHTRANSFORM linear, uint16_t *node)
{
    const struct gf_icc_transform *const t = b->transform;
    const size_t nodes = node_count(t), inputs = (size_t)t->inputs;
    const float full = inputs == 4 ? 100 : 1; /* Little CMS measures ink in per cent */
    uint16_t colour[4];
    float sample[ROW * 4], result[ROW * 3];
    for (size_t first = 0; first < nodes; first += ROW) {
        const size_t count = nodes - first < ROW ? nodes - first : ROW;
        for (size_t i = 0; i < count; i++) {
            node_colour(t, front, first + i, colour);
            for (size_t c = 0; c < inputs; c++)
                sample[i * inputs + c] = colour[c] * full / 65535;
        }
        cmsDoTransform(linear, sample, result, (cmsUInt32Number)count);
        for (size_t i = 0; i < count * 3; i++)
            node[(first + i / 3) * GF_ICC_NODE + i % 3] =
                (uint16_t)(gf_icc_clamp(((double)result[i] + 0.25) / 1.5) * 65535 + 0.5);
    }
}

/* Opens a copy of the target profile with straight lines instead of its curves, so that a
 * conversion to it gives linear light. Returns NULL after a failure. */
static cmsHPROFILE open_linear(const struct gf_icc_making *b)
{
    static const cmsTagSignature copied[] = {cmsSigRedColorantTag, cmsSigGreenColorantTag,
                                             cmsSigBlueColorantTag, cmsSigMediaWhitePointTag,
                                             cmsSigChromaticAdaptationTag};
    static const cmsTagSignature curves[] = {cmsSigRedTRCTag, cmsSigGreenTRCTag, cmsSigBlueTRCTag};
    cmsHPROFILE const linear = cmsCreateProfilePlaceholder(b->context);
    cmsToneCurve *const line = cmsBuildGamma(b->context, 1);
    bool made = linear && line;
    if (made) {
        cmsSetProfileVersion(linear, cmsGetProfileVersion(b->to));
        cmsSetDeviceClass(linear, cmsGetDeviceClass(b->to));
        cmsSetColorSpace(linear, cmsSigRgbData);
        cmsSetPCS(linear, cmsSigXYZData);
    }
    for (int i = 0; made && i < 5; i++) {
        const void *const tag = cmsReadTag(b->to, copied[i]);
        made = !tag || cmsWriteTag(linear, copied[i], tag);
    }
    for (int i = 0; made && i < 3; i++)
        made = cmsWriteTag(linear, curves[i], line);
    if (line)
        cmsFreeToneCurve(line);
    if (made || !linear)
        return linear;
    cmsCloseProfile(linear);
    return NULL;
}

static struct gf_icc_transform grid_head(const struct gf_icc_making *b, const struct front *front,
                                         size_t *end)
{
    struct gf_icc_transform head = {.kind = GF_ICC_GRID,
                                    .inputs = b->wish->inputs,
                                    .outputs = b->wish->outputs,
                                    .bits = b->wish->bits};
    const size_t inputs = (size_t)head.inputs;
    bool bent = false;
    for (int c = 0; c < head.inputs; c++)
        bent |= front->curve[c] != NULL;
    head.grid = grid_of(front, head.inputs);
    gf_icc_reserve(end, sizeof head);
    head.node_at = gf_icc_reserve(end, node_count(&head) * GF_ICC_NODE * sizeof(uint16_t));
    if (head.bits == 8)
        head.place_at = gf_icc_reserve(end, 256 * inputs * sizeof(struct gf_icc_place));
    else if (bent)
        head.curve_at = gf_icc_reserve(end, 65536 * inputs * sizeof(uint16_t));
    return head;
}

/* Makes a table of light that is followed by the target's curves, if the target has curves. *made
 * becomes whether the transform is accurate. */
static enum gf_status make_light(struct gf_icc_making *b, const struct front *front,
                                 cmsHTRANSFORM linear, const struct gf_icc_shaper *to, bool *made,
                                 struct gf_error *error)
{
    size_t end = 0;
    struct gf_icc_transform head = grid_head(b, front, &end);
    gf_icc_reserve_encode(&head, to, &end);
    GF_TRY(gf_icc_allocate(&b->transform, end, &head, error));
    GF_TRY(gf_icc_fill_encode(b, to, error));
    fill_light(b, front, linear, gf_icc_inside(b->transform, head.node_at));
    fill_places(b->transform, front);
    *made = gf_icc_agrees(b, 3);
    return GF_OK;
}

enum gf_status gf_icc_make_light_grid(struct gf_icc_making *b, bool *made, struct gf_error *error)
{
    struct gf_icc_shaper to;
    struct front front;
    *made = false;
    if (b->wish->outputs != 3 || !gf_icc_read_shaper(b->to, &to))
        return GF_OK;
    cmsHPROFILE const linear = open_linear(b);
    cmsHTRANSFORM const transform =
        linear
            ? cmsCreateTransform(b->from, b->wish->inputs == 4 ? TYPE_CMYK_FLT : TYPE_RGB_FLT,
                                 linear, TYPE_RGB_FLT, (cmsUInt32Number)b->wish->intent, b->flags)
            : NULL;
    enum gf_status status = GF_OK;
    open_front(b, &front);
    if (transform)
        status = make_light(b, &front, transform, &to, made, error);
    close_front(&front);
    if (transform)
        cmsDeleteTransform(transform);
    if (linear)
        cmsCloseProfile(linear);
    return status;
}

enum gf_status gf_icc_make_grid(struct gf_icc_making *b, struct gf_error *error)
{
    struct front front;
    size_t end = 0;
    open_front(b, &front);
    const struct gf_icc_transform head = grid_head(b, &front, &end);
    const enum gf_status status = gf_icc_allocate(&b->transform, end, &head, error);
    if (!status) {
        fill_nodes(b, &front, gf_icc_inside(b->transform, head.node_at));
        fill_places(b->transform, &front);
    }
    close_front(&front);
    return status;
}
#endif
