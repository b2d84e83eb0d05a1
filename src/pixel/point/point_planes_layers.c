/* The operations on planes of floats that read second pictures: layers and masks. */
#include "pixel/point/point_planes.h"

#include <limits.h>
#include <string.h>

#include "base/cpu.h"
#include "pixel/float_rows.h"

/* Moves the first `count` values of a plane to index `at`, and sets the others to 0. */
static void place_plane(float *plane, int at, int count)
{
    if (at)
        memmove(plane + at, plane, (size_t)count * sizeof *plane);
    memset(plane, 0, (size_t)at * sizeof *plane);
    memset(plane + at + count, 0, (size_t)(GF_PIECE - at - count) * sizeof *plane);
}

/* Converts pixels of any samples to planes of floats, of which M is 1. */
static void split_floats(const uint8_t *from, struct gf_format format, int n, struct gf_planes *p)
{
    const int channels = format.channels;
    float row[4 * GF_PIECE];
    gf_floats_of_row(from, format, (size_t)n * (size_t)channels, row);
    for (int c = 0; c < channels; c++) {
        const bool is_alpha = channels % 2 == 0 && c == channels - 1;
        float *const plane = is_alpha ? p->alpha : p->colour[c];
        for (int i = 0; i < n; i++)
            plane[i] = row[i * channels + c];
    }
}

/* Reads pixels of row y of a second picture into planes, from column x on; with `floats` as floats.
 * Pixels outside of it are 0. A gray sample goes into all three colours. Alpha is `opaque` if the
 * picture has none. Returns false if all pixels are outside. */
static bool read_piece(const struct gf_picture *picture, int x, int y, float opaque, bool floats,
                       struct gf_planes *p)
{
    const struct gf_image *const image =
        floats && picture->floats.data ? &picture->floats : &picture->image;
    const struct gf_format format = image->format;
    const int begin = x < 0 ? 0 : x, at = begin - x;
    const int left = format.width - begin, room = GF_PIECE - at;
    const int count = left < room ? left : room;
    if (y < 0 || y >= format.height || count <= 0) {
        memset(p, 0, sizeof *p);
        return false;
    }
    const size_t pixel_bytes = (size_t)format.channels * (size_t)format.bits / 8;
    const uint8_t *const from =
        image->data + (size_t)y * image->pitch + (size_t)begin * pixel_bytes;
    (floats ? split_floats : gf_planes_split)(from, format, count, p);
    for (int i = 0; i < count && !gf_has_alpha(format); i++)
        p->alpha[i] = opaque;
    const int colours = gf_colour_channels(format);
    if (count < GF_PIECE)
        place_plane(p->alpha, at, count);
    for (int c = 0; c < 3; c++) {
        if (c >= colours)
            memcpy(p->colour[c], p->colour[0], sizeof p->colour[0]);
        else if (count < GF_PIECE)
            place_plane(p->colour[c], at, count);
    }
    return true;
}

/* Limits a plane of floats to 0..1. NaN stays NaN. */
GF_TARGET_CLONES static void limit_plane(float *plane)
{
    for (int i = 0; i < GF_PIECE; i++) {
        const float low = plane[i] < 0.0f ? 0.0f : plane[i];
        plane[i] = low > 1.0f ? 1.0f : low;
    }
}

GF_TARGET_CLONES static void find_mask(const struct gf_layer layer,
                                       const struct gf_planes *restrict mask, float scale,
                                       float *restrict part)
{
    for (int i = 0; i < GF_PIECE; i++) {
        const struct gf_rgb p = {mask->colour[0][i], mask->colour[1][i], mask->colour[2][i]};
        part[i] = gf_layer_mask_of(&layer, p, mask->alpha[i] * scale);
    }
}

/* Sets part[GF_PIECE] to the mask's values for a piece from column x of row y on. */
static void read_mask(const struct gf_layer *layer, const struct gf_picture *picture, int x, int y,
                      bool floats, float *part)
{
    struct gf_planes mask;
    const bool has_alpha = gf_has_alpha(picture->image.format);
    (void)read_piece(picture, x - layer->mask_x, y - layer->mask_y, 1.0f, floats, &mask);
    find_mask(*layer, &mask, has_alpha ? layer->mask_scale : 1.0f, part);
    if (floats)
        limit_plane(part);
}

GF_INLINE void blend_channel(const int mode, const struct gf_layer *layer, const float *restrict v,
                             const float *restrict s, float *restrict blended)
{
    for (int i = 0; i < GF_PIECE; i++)
        blended[i] = gf_layer_blend(mode, layer, v[i], s[i]);
}

GF_INLINE void blend_colour(const int mode, const struct gf_layer *layer, const bool floats,
                            const struct gf_planes *restrict v, const struct gf_planes *restrict s,
                            struct gf_planes *restrict blended)
{
    for (int i = 0; i < GF_PIECE; i++) {
        const struct gf_rgb b = {v->colour[0][i], v->colour[1][i], v->colour[2][i]};
        const struct gf_rgb t = {s->colour[0][i], s->colour[1][i], s->colour[2][i]};
        const struct gf_rgb mixed =
            floats ? gf_blend_colour_float(mode, b, t) : gf_layer_blend_colour(mode, layer, b, t);
        blended->colour[0][i] = mixed.r;
        blended->colour[1][i] = mixed.g;
        blended->colour[2][i] = mixed.b;
    }
}

/* Defines a function for one blend mode, so that compilers vectorise its loop. */
#define BLEND_CHANNELS(name) \
    GF_TARGET_CLONES static void blend_##name(const struct gf_layer layer, int colours, \
                                              const struct gf_planes *v, \
                                              const struct gf_planes *s, struct gf_planes *to) \
    { \
        for (int c = 0; c < colours; c++) \
            blend_channel(GF_BLEND_##name, &layer, v->colour[c], s->colour[c], to->colour[c]); \
    } \
    GF_TARGET_CLONES static void floats_##name( \
        const struct gf_layer layer, int colours, const struct gf_planes *restrict v, \
        const struct gf_planes *restrict s, struct gf_planes *restrict to) \
    { \
        for (int k = 0; k < colours * GF_PIECE; k++) { \
            const int c = k / GF_PIECE, i = k % GF_PIECE; \
            to->colour[c][i] = gf_blend_float(GF_BLEND_##name, v->colour[c][i], s->colour[c][i]); \
        } \
    }
#define BLEND_COLOUR(name) \
    GF_TARGET_CLONES static void blend_##name(const struct gf_layer layer, int colours, \
                                              const struct gf_planes *v, \
                                              const struct gf_planes *s, struct gf_planes *to) \
    { \
        blend_colour(GF_BLEND_##name, &layer, false, v, s, to); \
    } \
    GF_TARGET_CLONES static void floats_##name(const struct gf_layer layer, int colours, \
                                               const struct gf_planes *v, \
                                               const struct gf_planes *s, struct gf_planes *to) \
    { \
        blend_colour(GF_BLEND_##name, &layer, true, v, s, to); \
    }
GF_BLEND_SEPARABLE(BLEND_CHANNELS)
GF_BLEND_JOINT(BLEND_COLOUR)

typedef void blender(const struct gf_layer layer, int colours, const struct gf_planes *v,
                     const struct gf_planes *s, struct gf_planes *to);
#define BLEND_ENTRY(name) [GF_BLEND_##name] = {blend_##name, floats_##name},
static blender *const blend[][2] = {GF_BLEND_SEPARABLE(BLEND_ENTRY) GF_BLEND_JOINT(BLEND_ENTRY)};

GF_TARGET_CLONES static void scale_plane(float factor, float *v)
{
    for (int i = 0; i < GF_PIECE; i++)
        v[i] *= factor;
}

GF_TARGET_CLONES static void multiply_planes(const float *restrict by, float *restrict v)
{
    for (int i = 0; i < GF_PIECE; i++)
        v[i] *= by[i];
}

GF_TARGET_CLONES static void mix(const struct gf_layer layer, const float *restrict blended,
                                 const float *restrict as, float *restrict v)
{
    for (int i = 0; i < GF_PIECE; i++)
        v[i] = gf_layer_mix(&layer, v[i], blended[i], as[i]);
}

GF_TARGET_CLONES static void over(const struct gf_layer layer, const float *restrict s,
                                  const float *restrict blended, const float *restrict as,
                                  const float *restrict alpha, float *restrict v)
{
    for (int i = 0; i < GF_PIECE; i++) {
        const float ab = alpha[i] * layer.least, ao = gf_layer_union(as[i], ab);
        v[i] = gf_layer_over(&layer, v[i], s[i], blended[i], as[i], ab, ao);
    }
}

GF_TARGET_CLONES static void unite_alpha(const struct gf_layer layer, const float *restrict as,
                                         float *restrict alpha)
{
    for (int i = 0; i < GF_PIECE; i++)
        alpha[i] =
            gf_layer_alpha(&layer, alpha[i], gf_layer_union(as[i], alpha[i] * layer.least), as[i]);
}

GF_TARGET_CLONES static void mix_floats(const float *restrict blended, const float *restrict as,
                                        float *restrict v)
{
    for (int i = 0; i < GF_PIECE; i++)
        v[i] = gf_layer_mix_float(v[i], blended[i], as[i]);
}

GF_TARGET_CLONES static void over_floats(const float *restrict s, const float *restrict blended,
                                         const float *restrict as, const float *restrict alpha,
                                         float *restrict v)
{
    for (int i = 0; i < GF_PIECE; i++)
        v[i] = gf_layer_over_float(v[i], s[i], blended[i], as[i], alpha[i]);
}

static void unite_floats(const float *restrict as, float *restrict alpha)
{
    for (int i = 0; i < GF_PIECE; i++)
        alpha[i] = as[i] == 0.0f ? alpha[i] : gf_layer_union(as[i], alpha[i]);
}

static void lay(const struct gf_layer *layer, int colours, bool floats, const struct gf_planes *s,
                struct gf_planes *p)
{
    struct gf_planes made;
    const struct gf_planes *blended = s;
    if (layer->mode != GF_BLEND_NORMAL) {
        for (int c = 1; c < 3 && colours == 1; c++)
            memcpy(p->colour[c], p->colour[0], sizeof p->colour[0]);
        blend[layer->mode][floats](*layer, colours, p, s, &made);
        blended = &made;
    }
    for (int c = 0; c < colours; c++) {
        if (floats && layer->over_alpha)
            over_floats(s->colour[c], blended->colour[c], s->alpha, p->alpha, p->colour[c]);
        else if (floats)
            mix_floats(blended->colour[c], s->alpha, p->colour[c]);
        else if (layer->over_alpha)
            over(*layer, s->colour[c], blended->colour[c], s->alpha, p->alpha, p->colour[c]);
        else
            mix(*layer, blended->colour[c], s->alpha, p->colour[c]);
    }
    if (floats && layer->over_alpha)
        unite_floats(s->alpha, p->alpha);
    else if (layer->over_alpha)
        unite_alpha(*layer, s->alpha, p->alpha);
}

void gf_planes_layer(const struct gf_layer *layer, const struct gf_picture *const *pictures,
                     int colours, int x, int y, bool floats, struct gf_planes *p)
{
    _Alignas(64) struct gf_planes source;
    float part[GF_PIECE];
    if (layer->mask >= 0)
        read_mask(layer, pictures[layer->mask], x, y, floats, part);
    if (layer->source < 0) {
        multiply_planes(part, p->alpha);
        return;
    }
    const struct gf_picture *const picture = pictures[layer->source];
    if (!read_piece(picture, x - layer->x, y - layer->y, layer->opacity, floats, &source))
        return;
    /* Modes that join channels need all three. */
    const int planes = layer->mode >= GF_BLEND_HUE ? 3 : colours;
    for (int c = 0; c < planes && layer->scale != 1.0f; c++)
        scale_plane(layer->scale, source.colour[c]);
    if (floats && gf_has_alpha(picture->image.format))
        limit_plane(source.alpha);
    if (gf_has_alpha(picture->image.format))
        scale_plane(layer->alpha, source.alpha);
    if (layer->mask >= 0)
        multiply_planes(part, source.alpha);
    lay(layer, colours, floats, &source, p);
}

GF_TARGET_CLONES static void mix_bytes(float as, const uint8_t *restrict s,
                                       const uint8_t *restrict in, uint8_t *restrict out, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const float v = in[i];
        out[i] = (uint8_t)(int)(fmaf(as, (float)s[i] - v, v) + 0.5f);
    }
}

GF_TARGET_CLONES static void mix_words(float as, const uint16_t *restrict s,
                                       const uint16_t *restrict in, uint16_t *restrict out,
                                       size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const float v = in[i];
        out[i] = (uint16_t)(int)(fmaf(as, (float)s[i] - v, v) + 0.5f);
    }
}

/* Defines a function for gf_layer_blend() and gf_layer_mix() by one mode on 8-bit samples. */
#define MIX_BYTES(name) \
    GF_TARGET_CLONES static void mix_bytes_##name( \
        const struct gf_layer layer, const uint8_t *restrict s, const uint8_t *restrict in, \
        uint8_t *restrict out, size_t n) \
    { \
        for (size_t i = 0; i < n; i++) { \
            const float v = in[i]; \
            const float blended = gf_layer_blend(GF_BLEND_##name, &layer, v, s[i]); \
            out[i] = (uint8_t)(int)(gf_layer_mix(&layer, v, blended, layer.opacity) + 0.5f); \
        } \
    }
GF_BLEND_SEPARABLE(MIX_BYTES)

/* Blends 8-bit samples by MULTIPLY: v s / 255, rounded, the same as by the general formula. */
GF_TARGET_CLONES static void multiply_bytes(const uint8_t *restrict s, const uint8_t *restrict in,
                                            uint8_t *restrict out, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const uint16_t product = (uint16_t)(in[i] * s[i] + 128);
        out[i] = (uint8_t)((uint16_t)(product + (product >> 8)) >> 8);
    }
}

#define MIX_BYTES_ENTRY(name) [GF_BLEND_##name] = mix_bytes_##name,
static void (*const mix_bytes_by[])(const struct gf_layer layer, const uint8_t *s,
                                    const uint8_t *in, uint8_t *out,
                                    size_t n) = {GF_BLEND_SEPARABLE(MIX_BYTES_ENTRY)};

static int clamped(long long v, int most)
{
    return v < 0 ? 0 : v > most ? most : (int)v;
}

/* Whether the program only puts one picture on a picture of the same format without alpha. */
static bool mixes_two(const struct gf_point_program *program, struct gf_format in,
                      const struct gf_picture *const *pictures)
{
    const struct gf_layer *const layer = &program->layer[0];
    if (program->table != GF_POINT_NO_TABLE || program->count != 1 ||
        program->op[0].kind != GF_POINT_OVERLAY)
        return false;
    const struct gf_format source = pictures[layer->source]->image.format;
    return layer->mask < 0 && !gf_has_alpha(in) && source.channels == in.channels &&
           source.bits == in.bits;
}

struct gf_layer_part gf_layer_part_of(const struct gf_stage *stage,
                                      const struct gf_picture *const *pictures)
{
    const struct gf_point_program *const program = stage->constants;
    const struct gf_layer *const layer = &program->layer[0];
    const struct gf_format in = stage->in, out = stage->out;
    if (program->table != GF_POINT_NO_TABLE || program->count != 1 ||
        program->op[0].kind != GF_POINT_OVERLAY || in.channels != out.channels ||
        in.bits != out.bits)
        return (struct gf_layer_part){0, 0, INT_MAX, INT_MAX};
    const struct gf_format source = pictures[layer->source]->image.format;
    return (struct gf_layer_part){clamped(layer->x, in.width), clamped(layer->y, in.height),
                                  clamped((long long)layer->x + source.width, in.width),
                                  clamped((long long)layer->y + source.height, in.height)};
}

bool gf_layer_is_samplewise(const struct gf_point_program *program, struct gf_format in,
                            const struct gf_picture *const *pictures)
{
    const int mode = program->layer[0].mode;
    return mixes_two(program, in, pictures) &&
           (mode == GF_BLEND_NORMAL || (mode < GF_BLEND_HUE && in.bits == 8));
}

void gf_layer_plain_row(const struct gf_layer *layer, const struct gf_image *image, int y,
                        struct gf_format in, const uint8_t *from, uint8_t *to)
{
    const size_t pixel_bytes = (size_t)in.channels * (size_t)in.bits / 8;
    const int begin = layer->x > 0 ? layer->x : 0, last = layer->x + image->format.width;
    const int end = last < in.width ? last : in.width, row = y - layer->y;
    if (begin >= end || row < 0 || row >= image->format.height) {
        memcpy(to, from, gf_row_bytes(in));
        return;
    }
    const size_t first = (size_t)begin * pixel_bytes, behind = (size_t)end * pixel_bytes;
    const uint8_t *const s =
        image->data + (size_t)row * image->pitch + (size_t)(begin - layer->x) * pixel_bytes;
    const size_t samples = (size_t)(end - begin) * (size_t)in.channels;
    memcpy(to, from, first);
    memcpy(to + behind, from + behind, gf_row_bytes(in) - behind);
    if (layer->mode == GF_BLEND_MULTIPLY && layer->opacity == 1.0f)
        multiply_bytes(s, from + first, to + first, samples);
    else if (layer->mode != GF_BLEND_NORMAL)
        mix_bytes_by[layer->mode](*layer, s, from + first, to + first, samples);
    else if (in.bits == 8 && gf_cpu_has(GF_CPU_VBMI))
        gf_bytes_mix(layer->opacity, s, from + first, to + first, samples);
    else if (in.bits == 8)
        mix_bytes(layer->opacity, s, from + first, to + first, samples);
    else
        mix_words(layer->opacity, (const uint16_t *)(const void *)s,
                  (const uint16_t *)(const void *)(from + first), (uint16_t *)(void *)(to + first),
                  samples);
}
