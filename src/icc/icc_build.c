/* Makes the tables of the conversion between two profiles, for which it asks Little CMS for single
 * colours. Little CMS itself never converts pixels of pictures. */
#include "icc/icc_build.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "gpufilter/options.h"

#ifdef GF_WITH_LCMS
#include "icc/icc_memory.h"
#include "icc/icc_tables.h"

/* Makes a transform from gray: a table with the result of each level. */
static enum gf_status make_levels(struct gf_icc_making *b, struct gf_error *error)
{
    const struct gf_icc_wish *const wish = b->wish;
    const int levels = 1 << wish->bits, outputs = wish->outputs;
    struct gf_icc_transform head = {
        .kind = GF_ICC_LEVELS, .inputs = 1, .outputs = outputs, .bits = wish->bits};
    size_t end = 0;
    gf_icc_reserve(&end, sizeof head);
    head.level_at = gf_icc_reserve(&end, (size_t)levels * (size_t)outputs * sizeof(uint16_t));
    GF_TRY(gf_icc_allocate(&b->transform, end, &head, error));
    uint16_t *const level = gf_icc_inside(b->transform, head.level_at);
    for (int v = 0; v < levels; v++) {
        const uint16_t sample = (uint16_t)(wish->bits == 8 ? v * 257 : v);
        uint16_t result[4];
        cmsDoTransform(b->exact, &sample, result, 1);
        for (int c = 0; c < outputs; c++)
            level[c * levels + v] = (uint16_t)gf_icc_in_bits(result[c], wish->bits);
    }
    return GF_OK;
}

static cmsUInt32Number format_of(int channels)
{
    return channels == 1 ? TYPE_GRAY_16 : channels == 3 ? TYPE_RGB_16 : TYPE_CMYK_16;
}

/* `wish` is b->wish. Where no formulas are made for floats it becomes one for samples of 16 bits.
 */
static enum gf_status build(struct gf_icc_making *b, struct gf_icc_wish *wish,
                            struct gf_error *error)
{
    b->flags = cmsFLAGS_NOOPTIMIZE | cmsFLAGS_NOCACHE |
               (wish->black_point ? cmsFLAGS_BLACKPOINTCOMPENSATION : 0);
    const bool link = !wish->from.size;
    const struct gf_icc first = link ? wish->to : wish->from;
    b->from = cmsOpenProfileFromMemTHR(b->context, first.data, (cmsUInt32Number)first.size);
    b->to =
        link ? NULL
             : cmsOpenProfileFromMemTHR(b->context, wish->to.data, (cmsUInt32Number)wish->to.size);
    if (b->from && (b->to || link))
        b->exact =
            cmsCreateTransform(b->from, format_of(wish->inputs), b->to, format_of(wish->outputs),
                               (cmsUInt32Number)wish->intent, b->flags);
    if (!b->exact)
        return gf_fail(error, GF_ERROR_INPUT, "Little CMS makes no conversion of these profiles");
    bool made = false;
    if (wish->bits == 32)
        GF_TRY(gf_icc_make_floats(b, &made, error));
    wish->bits = wish->bits == 32 ? 16 : wish->bits;
    if (!made && wish->inputs == 1)
        return make_levels(b, error);
    if (!made)
        GF_TRY(link ? gf_icc_make_link(b, &made, error) : gf_icc_make_matrix(b, &made, error));
    if (!made && !link)
        GF_TRY(gf_icc_make_lab(b, &made, error));
    if (!made && !link)
        GF_TRY(gf_icc_make_from_lab(b, &made, error));
    if (!made && !link)
        GF_TRY(gf_icc_make_light_grid(b, &made, error));
    return made ? GF_OK : gf_icc_make_grid(b, error);
}

static enum gf_status build_new(const struct gf_icc_wish *wish, struct gf_icc_transform **transform,
                                struct gf_error *error)
{
    struct gf_icc_wish own = *wish;
    struct gf_icc_making b = {.wish = &own};
    GF_TRY(gf_icc_memory_begin(wish->from.size + wish->to.size, &b.context, error));
    enum gf_status status = build(&b, &own, error);
    if (b.exact)
        cmsDeleteTransform(b.exact);
    if (b.from)
        cmsCloseProfile(b.from);
    if (b.to)
        cmsCloseProfile(b.to);
    status = gf_icc_memory_end(b.context, status, error);
    GF_OPENED(status, free, b.transform, transform);
}

bool gf_icc_available(void)
{
    return true;
}

const char *gf_icc_library_version(void)
{
    static _Thread_local char text[16];
    const int version = cmsGetEncodedCMMversion();
    snprintf(text, sizeof text, "%d.%d", version / 1000, version / 10 % 100);
    return text;
}

/* Whether Little CMS may use the profile: its class, its version and its rendering intent are
 * valid. Little CMS 2.14 uses the intent as an index into a table of four, without a check. */
static bool is_sound(cmsHPROFILE profile)
{
    const cmsProfileClassSignature kind = cmsGetDeviceClass(profile);
    const cmsUInt32Number intent = cmsGetHeaderRenderingIntent(profile);
    /* Profiles of iccMAX, version 5, have colours of their own. */
    return cmsGetEncodedICCversion(profile) < 0x5000000 &&
           (kind == cmsSigInputClass || kind == cmsSigDisplayClass || kind == cmsSigOutputClass ||
            kind == cmsSigColorSpaceClass) &&
           (cmsIsMatrixShaper(profile) ||
            (intent <= INTENT_ABSOLUTE_COLORIMETRIC &&
             cmsIsIntentSupported(profile, intent, LCMS_USED_AS_INPUT)));
}

/* Whether Little CMS can make a conversion from the profile. It cannot from a profile that has all
 * its tags but useless contents. */
static bool converts(cmsContext context, cmsHPROFILE profile)
{
    const int channels = (int)cmsChannelsOf(cmsGetColorSpace(profile));
    cmsHPROFILE const srgb = cmsCreate_sRGBProfileTHR(context);
    bool done = srgb;
    for (int intent = GF_ICC_PERCEPTUAL; done && intent <= GF_ICC_ABSOLUTE; intent++) {
        cmsHTRANSFORM const transform =
            cmsCreateTransformTHR(context, profile, format_of(channels), srgb, format_of(3),
                                  (cmsUInt32Number)intent, cmsFLAGS_NOOPTIMIZE | cmsFLAGS_NOCACHE);
        done = transform;
        if (done)
            cmsDeleteTransform(transform);
    }
    if (srgb)
        cmsCloseProfile(srgb);
    return done;
}

static enum gf_status judge(struct gf_icc icc, bool *sound)
{
    cmsContext context;
    GF_TRY(gf_icc_memory_begin(icc.size, &context, NULL));
    cmsHPROFILE const profile =
        cmsOpenProfileFromMemTHR(context, icc.data, (cmsUInt32Number)icc.size);
    *sound = profile && is_sound(profile) && converts(context, profile);
    if (profile)
        cmsCloseProfile(profile);
    return gf_icc_memory_end(context, GF_OK, NULL);
}

bool gf_icc_is_target(struct gf_icc icc)
{
    cmsContext context;
    if (gf_icc_memory_begin(icc.size, &context, NULL))
        return true; /* out of memory: the conversion itself will report it */
    const cmsUInt32Number flags = cmsFLAGS_NOOPTIMIZE | cmsFLAGS_NOCACHE,
                          result = format_of(gf_icc_channels_after(icc));
    cmsHPROFILE const to = cmsOpenProfileFromMemTHR(context, icc.data, (cmsUInt32Number)icc.size),
                      srgb = cmsCreate_sRGBProfileTHR(context);
    cmsHTRANSFORM transform = NULL;
    if (to && gf_icc_is_link(icc))
        transform =
            cmsCreateTransformTHR(context, to, format_of((int)cmsChannelsOf(cmsGetColorSpace(to))),
                                  NULL, result, GF_ICC_PERCEPTUAL, flags);
    else if (to && srgb)
        transform =
            cmsCreateTransformTHR(context, srgb, format_of(3), to, result, GF_ICC_RELATIVE, flags);
    const bool good = transform;
    if (good)
        cmsDeleteTransform(transform);
    if (to)
        cmsCloseProfile(to);
    if (srgb)
        cmsCloseProfile(srgb);
    return gf_icc_memory_end(context, GF_OK, NULL) || good;
}

#else

bool gf_icc_is_target(struct gf_icc icc)
{
    (void)icc;
    return true;
}

static enum gf_status build_new(const struct gf_icc_wish *wish, struct gf_icc_transform **transform,
                                struct gf_error *error)
{
    (void)wish;
    (void)transform;
    return gf_fail(error, GF_ERROR_UNAVAILABLE,
                   "this build converts no colours: it was made without Little CMS (liblcms2)");
}

bool gf_icc_available(void)
{
    return false;
}

const char *gf_icc_library_version(void)
{
    return "";
}

static enum gf_status judge(struct gf_icc icc, bool *sound)
{
    (void)icc;
    *sound = true;
    return GF_OK;
}

#endif

static _Atomic(gf_icc_cell_work *) cell_work;

void gf_icc_set_cell_work(gf_icc_cell_work *call)
{
    cell_work = call;
}

/* Does the work of Little CMS in a cell or, if GF_SANDBOX_AUTO finds that this machine cannot run
 * cells, in this process. Profiles that this project has made need no cell. */
static enum gf_status work(const struct gf_icc_wish *wish, bool *sound,
                           struct gf_icc_transform **transform, struct gf_error *error)
{
    const int sandbox = wish->from.sandbox;
    gf_icc_cell_work *const call = cell_work;
    if (gf_icc_available() && sandbox != GF_SANDBOX_OFF && !gf_icc_is_made(wish->from)) {
        struct gf_error why = {0};
        const enum gf_status status =
            call ? call(wish, sound, transform, &why)
                 : gf_fail(&why, GF_ERROR_UNAVAILABLE, "there are no cells for ICC profiles");
        if (status != GF_ERROR_UNAVAILABLE || sandbox == GF_SANDBOX_ALL)
            return status ? gf_fail(error, status, "%s", why.text) : GF_OK;
    }
    return sound ? judge(wish->from, sound) : build_new(wish, transform, error);
}

/* The last verdicts, whether a profile is sound. A verdict takes milliseconds, and the pictures of
 * a batch have few different profiles. The profile's bytes are kept and compared, not a hash, since
 * somebody could make an unsound profile with the hash of a sound one. Most profiles of presses
 * have 500 to 700 kB. */
enum { VERDICTS = 8, VERDICT_BYTES_MOST = 1 << 20 };
static struct verdict {
    struct gf_icc icc;
    bool sound;
} verdicts[VERDICTS];
static int verdict_next;
static pthread_mutex_t judging = PTHREAD_MUTEX_INITIALIZER; /* guards the verdicts */

static void keep_verdict(struct gf_icc icc, bool sound)
{
    unsigned char *const copy = malloc(icc.size);
    if (!copy)
        return;
    memcpy(copy, icc.data, icc.size);
    struct verdict *const verdict = &verdicts[verdict_next++ % VERDICTS];
    free((void *)verdict->icc.data);
    *verdict = (struct verdict){{.data = copy, .size = icc.size}, sound};
}

/* A profile that could not be judged, as when memory runs out, counts as sound; its conversion will
 * then fail. Threads that have the same new profile wait for one verdict. */
bool gf_icc_is_sound(struct gf_icc icc)
{
    bool sound = true;
    const struct gf_icc_wish wish = {.from = icc};
    struct gf_icc_transform *none = NULL;
    if (icc.size > VERDICT_BYTES_MOST) /* a profile so large is judged each time */
        return work(&wish, &sound, &none, NULL) || sound;
    pthread_mutex_lock(&judging);
    int i = 0;
    while (i < VERDICTS && !(verdicts[i].icc.data && gf_icc_same(verdicts[i].icc, icc)))
        i++;
    if (i < VERDICTS)
        sound = verdicts[i].sound;
    else if (work(&wish, &sound, &none, NULL))
        sound = true;
    else
        keep_verdict(icc, sound);
    pthread_mutex_unlock(&judging);
    return sound;
}

/* The last transforms. The profiles' bytes are kept and compared, not a hash, since somebody could
 * make a profile with the hash of another. */
enum { KEPT = 4, KEPT_BYTES_MOST = 4 << 20 };
static struct kept {
    struct gf_icc_wish wish;
    struct gf_icc_transform *transform; /* NULL: this entry is empty */
} kept[KEPT];
static int kept_next;
static pthread_mutex_t keeping = PTHREAD_MUTEX_INITIALIZER;

static bool is_same_wish(const struct gf_icc_wish *a, const struct gf_icc_wish *b)
{
    return a->inputs == b->inputs && a->outputs == b->outputs && a->bits == b->bits &&
           a->intent == b->intent && a->black_point == b->black_point &&
           gf_icc_same(a->from, b->from) && gf_icc_same(a->to, b->to);
}

static struct gf_icc_transform *copy_of(const struct gf_icc_transform *transform)
{
    struct gf_icc_transform *const copy = malloc(transform->bytes);
    if (copy)
        memcpy(copy, transform, transform->bytes);
    return copy;
}

/* Keeps a copy of the transform, unless memory runs out or its profiles are large. */
static void keep(const struct gf_icc_wish *wish, const struct gf_icc_transform *transform)
{
    const size_t bytes = wish->from.size + wish->to.size;
    unsigned char *const copy = bytes <= KEPT_BYTES_MOST ? malloc(bytes) : NULL;
    struct gf_icc_transform *const made = copy ? copy_of(transform) : NULL;
    if (!made) {
        free(copy);
        return;
    }
    struct kept *const to = &kept[kept_next++ % KEPT];
    free((void *)to->wish.from.data);
    free(to->transform);
    if (wish->from.size) /* `from` is empty if `to` is a device link */
        memcpy(copy, wish->from.data, wish->from.size);
    memcpy(copy + wish->from.size, wish->to.data, wish->to.size);
    *to = (struct kept){*wish, made};
    to->wish.from.data = copy;
    to->wish.to.data = copy + wish->from.size;
}

enum gf_status gf_icc_build(const struct gf_icc_wish *wish, struct gf_icc_transform **transform,
                            struct gf_error *error)
{
    enum gf_status status = GF_OK;
    *transform = NULL;
    pthread_mutex_lock(&keeping);
    int i = 0;
    while (i < KEPT && !(kept[i].transform && is_same_wish(&kept[i].wish, wish)))
        i++;
    if (i < KEPT) {
        *transform = copy_of(kept[i].transform);
        if (!*transform)
            status = gf_fail_memory(error);
    } else {
        status = work(wish, NULL, transform, error);
        if (!status)
            keep(wish, *transform);
    }
    pthread_mutex_unlock(&keeping);
    return status;
}

/* Whether a table of `size` bytes at that offset lies within the transform's block. This and the
 * next functions check a transform of a cell, which a harmful profile may have taken over. */
static bool is_inside(const struct gf_icc_transform *t, unsigned at, size_t size)
{
    return at % 16 == 0 && at >= sizeof *t && at <= t->bytes && size <= t->bytes - at;
}

/* Whether the tables of three channels, or their common one (step 0), lie within the block. */
static bool are_inside(const struct gf_icc_transform *t, unsigned at, unsigned step, size_t size)
{
    return (!step || step == size) && is_inside(t, at, step ? 3 * size : size);
}

/* Whether the curves from light to samples lie within the block; for 16 bits, also whether each of
 * their values is a sample, since it is rounded to an integer. */
static bool encodes(const struct gf_icc_transform *t)
{
    const size_t size = t->bits == 8 ? GF_ICC_ENCODE_SIZE_8 : GF_ICC_ENCODE_SIZE_16 * sizeof(float);
    if (!are_inside(t, t->encode_at, t->encode_step, size))
        return false;
    const float *const encode = gf_icc_block(t, t->encode_at);
    const size_t count = t->bits == 8 ? 0 : (t->encode_step ? 3 : 1) * size / sizeof(float);
    bool good = true;
    for (size_t i = 0; i < count; i++)
        good &= encode[i] >= 0 && encode[i] <= 65535; /* false for NaN, too */
    return good;
}

/* Whether the tables of a MATRIX lie within the block. The curves to light, the matrix and their
 * products may have any values, since light is clipped. */
static bool is_matrix(const struct gf_icc_transform *t)
{
    return t->inputs == 3 && t->outputs == 3 &&
           are_inside(t, t->decode_at, t->decode_step, sizeof(float) << t->bits) &&
           (t->bits == 16 || is_inside(t, t->product_at, sizeof(float[3][256][4]))) && encodes(t);
}

/* Whether each sample has a place between two nodes on the axis of its channel. */
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

/* Whether the block has a curve of 65536 entries for each channel, or none (`at` is 0). */
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

static bool is_floats(const struct gf_icc_transform *t)
{
    const struct gf_icc_formula *const formula = gf_icc_block(t, t->formula_at);
    if (t->outputs > 3 || !is_inside(t, t->formula_at, 6 * sizeof *formula))
        return false;
    for (int i = 0; i < 6; i++) {
        const int points = formula[i].points;
        if (points && (points < 2 || points > 65536 ||
                       !is_inside(t, formula[i].table_at, (size_t)points * sizeof(float))))
            return false;
    }
    return !t->gain_at;
}

bool gf_icc_transform_fits(const struct gf_icc_transform *t, size_t size,
                           const struct gf_icc_wish *wish)
{
    if (size < sizeof *t || t->bytes != size || t->inputs != wish->inputs ||
        t->outputs != wish->outputs)
        return false;
    if (wish->bits == 32 && t->kind == GF_ICC_FLOATS)
        return t->inputs <= 3 && is_floats(t);
    if (t->bits != (wish->bits == 32 ? 16 : wish->bits))
        return false;
    if (t->kind == GF_ICC_LEVELS)
        return t->inputs == 1 &&
               is_inside(t, t->level_at, ((size_t)t->outputs * sizeof(uint16_t)) << t->bits);
    return t->kind == GF_ICC_MATRIX
               ? is_matrix(t)
               : (t->kind == GF_ICC_GRID || t->kind == GF_ICC_LAB) && is_grid(t);
}

/* A profile with sRGB's primaries and a gamma of 2.2 counts as sRGB: it differs by up to 7 of 255
 * in dark colours, and every program shows it as sRGB. */
bool gf_icc_is_srgb(struct gf_icc icc, int channels)
{
    enum { STEPS_MOST = 8, STEP = 17, LEVELS = 16, PIXELS = LEVELS * LEVELS * LEVELS };
    const struct gf_icc srgb = gf_icc_named("srgb", channels == 1);
    const struct gf_icc_wish wish = {.from = icc,
                                     .to = srgb,
                                     .inputs = channels,
                                     .outputs = channels,
                                     .bits = 8,
                                     .intent = GF_ICC_RELATIVE};
    struct gf_icc_transform *transform = NULL;
    unsigned char in[PIXELS * 3], out[PIXELS * 3];
    bool same = true;
    if (!gf_icc_fits(icc, channels) || gf_icc_same(icc, srgb))
        return true;
    const enum gf_status status = gf_icc_build(&wish, &transform, NULL);
    if (status)
        return status == GF_ERROR_INPUT;
    for (int i = 0; i < PIXELS; i++)
        for (int c = 0, level = i; c < channels; c++, level /= LEVELS)
            in[i * channels + c] = (unsigned char)(level % LEVELS * STEP);
    gf_icc_convert(transform, in, channels, out, channels, PIXELS);
    for (int i = 0; i < PIXELS * channels; i++)
        same &= abs(in[i] - out[i]) <= STEPS_MOST;
    free(transform);
    return same;
}
