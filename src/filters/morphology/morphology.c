/* dilate, erode and morphology: opening, closing, and differences of dilation, erosion and the
 * picture. */
#include "base/cpu.h"
#include "filters/morphology/element.h"
#include "pixel/float_keys.h"
#include "pixel/stencil.h"
#include "stage/stage.h"

struct gf_element_params {
    struct gf_element element;
    int border;
};

#define GF_ELEMENT_KERNELS \
    "rectangles by columns, then rows, in runs in registers and shared memory; other elements by " \
    "chords of 2^n samples; four samples a word"

/* Parameters and functions that the declarations of dilate and erode have in common. */

static const struct gf_param element_params[] = {
    GF_PARAM_ELEMENT(struct gf_element_params),
    GF_PARAM_BORDER(struct gf_element_params),
    {0},
};

static enum gf_status element_check(const void *params, struct gf_error *error)
{
    return gf_element_check(&((const struct gf_element_params *)params)->element, error);
}

static int element_radius(const void *params)
{
    return gf_element_radius(&((const struct gf_element_params *)params)->element);
}

/* The kernels for squares of 3x3 and 5x5 convert straight RGBA themselves. */
static enum gf_fusing element_fuses(const void *params)
{
    const struct gf_element *const element = &((const struct gf_element_params *)params)->element;
    return gf_element_is_square(element, 1) || gf_element_is_square(element, 2)
               ? (enum gf_fusing)(GF_FUSES_ALPHA | GF_FUSES_FLOAT_ALPHA)
               : GF_FUSES_NOTHING;
}

static const char *element_refuses_floats(const struct gf_stage *stage)
{
    return element_fuses(stage->params) ? NULL : "takes squares of 3x3 and 5x5 of floats";
}

static enum gf_status element_prepare(struct gf_stage *stage, struct gf_error *error)
{
    const struct gf_element_params *const params = stage->params;
    gf_morphology_init(stage->constants, &params->element, params->border);
    return GF_OK;
}

static size_t element_cpu_scratch(const struct gf_stage *stage, int rows)
{
    const struct gf_element_params *const params = stage->params;
    return gf_morphology_scratch(&params->element, stage->in, rows);
}

static size_t element_cuda_scratch(const struct gf_stage *stage, int rows)
{
    const struct gf_element_params *const params = stage->params;
    struct gf_morphology morphology;
    gf_morphology_init(&morphology, &params->element, params->border);
    return gf_morphology_device_scratch(&morphology, stage->in, rows,
                                        gf_morphology_rows(&morphology, stage->in, rows));
}

#define GF_ELEMENT_FILTER \
    GF_PARAMS(struct gf_element_params, element_params), \
        .kind = GF_STENCIL, .takes_floats = true, .keys = GF_KEYS, .within_alpha = true, \
        .cost = {.pixel = 0.6, .row = 0.006}, .check = element_check, .radius = element_radius, \
        .constants_size = sizeof(struct gf_morphology), .prepare = element_prepare, \
        .cpu_scratch = element_cpu_scratch, .floats_scratch = element_cpu_scratch, \
        .cuda_scratch = element_cuda_scratch

/* dilate: takes the largest sample under a structuring element. */

extern gf_launcher gf_dilate_cuda, gf_dilate_floats_cuda;

static void dilate_cpu(const struct gf_stage *stage, const struct gf_view *in,
                       const struct gf_view *out, void *scratch)
{
    gf_morphology_cpu(stage->constants, true, in, out, scratch);
}

const struct gf_filter gf_dilate_filter = {
    .name = "dilate",
    .synonyms = "dilation maximum max grow",
    .summary = "the largest sample under a structuring element",
    .example = "dilate=3",
    .definition = "The largest of the samples at p - s for all s of the structuring element, every "
                  "channel by itself; NaN is the largest. With border=edge the result is that of "
                  "OpenCV's dilate and erode with their default border.",
    GF_ELEMENT_FILTER,
    .cpu = dilate_cpu,
    .floats = dilate_cpu,
    .cuda = GF_CUDA({GF_VARIANT("packed", gf_dilate_cuda, GF_ELEMENT_KERNELS)}),
    .cuda_floats = &(const struct gf_variant){.launch = GF_LAUNCHER(gf_dilate_floats_cuda),
                                              .refuses = element_refuses_floats},
    .fuses = element_fuses,
    .cuda_fused = GF_LAUNCHER(gf_dilate_cuda),
};

/* erode: takes the smallest sample under a structuring element. */

extern gf_launcher gf_erode_cuda, gf_erode_floats_cuda;

static void erode_cpu(const struct gf_stage *stage, const struct gf_view *in,
                      const struct gf_view *out, void *scratch)
{
    gf_morphology_cpu(stage->constants, false, in, out, scratch);
}

const struct gf_filter gf_erode_filter = {
    .name = "erode",
    .synonyms = "erosion minimum min shrink",
    .summary = "the smallest sample under a structuring element",
    .example = "erode=3",
    .definition =
        "The smallest of the samples at p + s for all s of the structuring element, "
        "every channel by itself; NaN is the largest. With border=edge the result is that "
        "of OpenCV's dilate and erode with their default border.",
    GF_ELEMENT_FILTER,
    .cpu = erode_cpu,
    .floats = erode_cpu,
    .cuda = GF_CUDA({GF_VARIANT("packed", gf_erode_cuda, GF_ELEMENT_KERNELS)}),
    .cuda_floats = &(const struct gf_variant){.launch = GF_LAUNCHER(gf_erode_floats_cuda),
                                              .refuses = element_refuses_floats},
    .fuses = element_fuses,
    .cuda_fused = GF_LAUNCHER(gf_erode_cuda),
};

/* morphology: opening, closing, and differences of dilation, erosion and the picture. */

struct morphology {
    int make;
    struct gf_element element;
    int border;
};

static const struct gf_param morphology_params[] = {
    GF_PARAM_CHOICE(struct morphology, make, GF_MORPHOLOGY_OPEN,
                    GF_WORDS("open", "close", "tophat", "blackhat", "gradient"),
                    "open: erode, dilate; close: dilate, erode; tophat: the picture - open; "
                    "blackhat: close - the picture; gradient: dilate - erode"),
    GF_PARAM_ELEMENT(struct morphology),
    GF_PARAM_BORDER(struct morphology),
    {0},
};

static enum gf_status check(const void *params, struct gf_error *error)
{
    return gf_element_check(&((const struct morphology *)params)->element, error);
}

static int radius(const void *params)
{
    const struct morphology *const morphology = params;
    const int reach = gf_element_radius(&morphology->element);
    return morphology->make == GF_MORPHOLOGY_GRADIENT ? reach : 2 * reach;
}

/* The kernels for squares of 3x3 convert straight RGBA themselves. */
static enum gf_fusing fuses(const void *params)
{
    return gf_element_is_square(&((const struct morphology *)params)->element, 1)
               ? GF_FUSES_ALPHA
               : GF_FUSES_NOTHING;
}

static enum gf_status prepare(struct gf_stage *stage, struct gf_error *error)
{
    const struct morphology *const params = stage->params;
    gf_morphology_init(stage->constants, &params->element, params->border);
    return GF_OK;
}

static bool dilates_first(int make)
{
    return make == GF_MORPHOLOGY_CLOSE || make == GF_MORPHOLOGY_BLACKHAT;
}

extern const struct gf_filter gf_dilate_filter, gf_erode_filter, gf_morphology_filter;
static const struct gf_filter opening_filter;

/* Whether a device computes both operations in one pass. */
static bool is_one_stage(const struct gf_element *element, int bits)
{
    return gf_element_is_square(element, 1) ||
           (bits == 8 && element->rx >= 1 && element->rx <= GF_OPENING_RADIUS &&
            gf_element_is_square(element, element->rx));
}

static void expand(const void *params, const struct gf_extent *extent, struct gf_parts *parts)
{
    const struct morphology *const morphology = params;
    const struct gf_element_params element = {morphology->element, morphology->border};
    const struct gf_filter *const both[] = {&gf_erode_filter, &gf_dilate_filter};
    const bool keeps_order =
        morphology->make == GF_MORPHOLOGY_OPEN || morphology->make == GF_MORPHOLOGY_CLOSE;
    if (keeps_order && is_one_stage(&morphology->element, extent->bits)) {
        gf_parts_add(parts, &opening_filter, params, sizeof *morphology);
    } else if (keeps_order) {
        gf_parts_add(parts, both[dilates_first(morphology->make)], &element, sizeof element);
        gf_parts_add(parts, both[!dilates_first(morphology->make)], &element, sizeof element);
    } else {
        gf_parts_add(parts, &gf_morphology_filter, params, sizeof *morphology);
    }
}

/* Divides scratch memory between the rows of the first operation and both operations' own scratch
 * memory. */
static size_t carve(struct gf_carver *carver, const struct morphology *params,
                    struct gf_format format, int rows, unsigned char **first, void **scratch)
{
    struct gf_morphology morphology;
    gf_morphology_init(&morphology, &params->element, params->border);
    const int most = gf_morphology_rows(&morphology, format, rows);
    *first = gf_carve(carver, gf_row_bytes(format) * (size_t)most);
    *scratch = gf_carve(carver, gf_morphology_scratch(&params->element, format, most));
    return carver->used;
}

static size_t cpu_scratch(const struct gf_stage *stage, int rows)
{
    struct gf_carver carver = {0};
    unsigned char *first;
    void *scratch;
    return carve(&carver, stage->params, stage->in, rows, &first, &scratch);
}

#define SUBTRACT(name, type, difference) \
    GF_TARGET_CLONES static void name(const void *from_, const void *what_, void *to_, \
                                      size_t count) \
    { \
        const type *const from = from_, *const what = what_; \
        type *const to = to_; \
        GF_INDEPENDENT for (size_t i = 0; i < count; i++) to[i] = \
            (type)difference(from[i], what[i]); \
    }
#define OF_LEVELS(a, b) ((a) > (b) ? (a) - (b) : 0)
#define OF_KEYS(a, b) gf_key_of_float(gf_float_of_key(a) - gf_float_of_key(b))
SUBTRACT(subtract8, uint8_t, OF_LEVELS)
SUBTRACT(subtract16, gf_u16_any, OF_LEVELS)
SUBTRACT(subtract32, int32_t, OF_KEYS)

/* Computes both operations; the result of the second one goes to `out`. Returns the rows of the
 * first one. */
static struct gf_view compose(const struct gf_stage *stage, const struct gf_view *in,
                              const struct gf_view *out, void *memory)
{
    const struct morphology *const params = stage->params;
    const struct gf_morphology *const morphology = stage->constants;
    const struct gf_format format = in->format;
    const bool is_gradient = params->make == GF_MORPHOLOGY_GRADIENT;
    const bool dilates = dilates_first(params->make);
    struct gf_carver carver = {.base = memory};
    unsigned char *data;
    void *scratch;
    carve(&carver, params, format, out->rows, &data, &scratch);
    const struct gf_rows rows = is_gradient
                                    ? (struct gf_rows){out->y, out->y + out->rows}
                                    : gf_morphology_reach(morphology, format, out->y, out->rows);
    const struct gf_view first = gf_view_make(data, gf_row_bytes(format), format, rows);
    gf_morphology_cpu(morphology, dilates, in, &first, scratch);
    gf_morphology_cpu(morphology, !dilates, is_gradient ? in : &first, out, scratch);
    return first;
}

static void opening_cpu(const struct gf_stage *stage, const struct gf_view *in,
                        const struct gf_view *out, void *memory)
{
    compose(stage, in, out, memory);
}

static void cpu(const struct gf_stage *stage, const struct gf_view *in, const struct gf_view *out,
                void *memory)
{
    const struct morphology *const params = stage->params;
    const struct gf_format format = in->format;
    const size_t row_bytes = gf_row_bytes(format);
    const struct gf_view first = compose(stage, in, out, memory);
    for (int y = out->y; y < out->y + out->rows; y++) {
        unsigned char *const to = gf_view_row(out, y);
        const unsigned char *const original = gf_view_row(in, y);
        const bool is_tophat = params->make == GF_MORPHOLOGY_TOPHAT;
        const unsigned char *const from = is_tophat ? original : to;
        const unsigned char *const what = is_tophat ? to
                                          : params->make == GF_MORPHOLOGY_GRADIENT
                                              ? gf_view_row(&first, y)
                                              : original;
        if (format.bits == 8)
            subtract8(from, what, to, row_bytes);
        else if (format.bits == 32)
            subtract32(from, what, to, row_bytes / 4);
        else
            subtract16(from, what, to, row_bytes / 2);
        if (gf_has_alpha(format))
            gf_keep_alpha(original, to, format, row_bytes);
    }
}

/* Returns the bytes of scratch memory on a device: the rows of the first operation, and what both
 * operations need themselves. */
static size_t cuda_scratch(const struct gf_stage *stage, int rows)
{
    const struct morphology *const params = stage->params;
    struct gf_morphology morphology;
    if (gf_element_is_square(&params->element, 1))
        return 0;
    gf_morphology_init(&morphology, &params->element, params->border);
    const int most = gf_morphology_rows(&morphology, stage->in, rows);
    return gf_morphology_pitch(stage->in, 0) * (size_t)most +
           gf_morphology_device_scratch(&morphology, stage->in, most,
                                        gf_morphology_rows(&morphology, stage->in, most));
}

extern gf_launcher gf_morphology_cuda;

#define OPENING_KERNEL \
    GF_VARIANT("packed", gf_morphology_cuda, \
               "squares of 3x3, and of 8 bits to 9x9, in one pass; dilation and erosion as of " \
               "those filters, then the difference")

/* Openings and closings by small squares; see expand(). */
static const struct gf_filter opening_filter = {
    .name = "opening",
    GF_PARAMS(struct morphology, morphology_params),
    .kind = GF_STENCIL,
    .takes_floats = true,
    .keys = GF_KEYS,
    .within_alpha = true,
    .cost = {.pixel = 1.2, .row = 0.012},
    .radius = radius,
    .constants_size = sizeof(struct gf_morphology),
    .prepare = prepare,
    .cpu_scratch = cpu_scratch,
    .cuda_scratch = cuda_scratch,
    .cpu = opening_cpu,
    .floats = opening_cpu,
    .floats_scratch = cpu_scratch,
    .cuda = GF_CUDA({OPENING_KERNEL}),
    .fuses = fuses,
    .cuda_fused = GF_LAUNCHER(gf_morphology_cuda),
};

const struct gf_filter gf_morphology_filter = {
    .name = "morphology",
    .synonyms = "opening closing top-hat black-hat morphologyex morph",
    .summary = "opening, closing, top-hat, black-hat, gradient",
    .example = "morphology=gradient:2",
    .definition =
        "open = dilate(erode(v)), close = erode(dilate(v)), tophat = v - open, blackhat = close - "
        "v, gradient = dilate(v) -\nerode(v), all by the same element and border. The differences "
        "are clamped at 0 and keep alpha.",
    GF_PARAMS(struct morphology, morphology_params),
    .kind = GF_STENCIL,
    .takes_floats = true,
    .cost = {.pixel = 1.4, .row = 0.012},
    .check = check,
    .expand = expand,
    .radius = radius,
    .constants_size = sizeof(struct gf_morphology),
    .prepare = prepare,
    .cpu_scratch = cpu_scratch,
    .cuda_scratch = cuda_scratch,
    .cpu = cpu,
    .floats = cpu,
    .floats_scratch = cpu_scratch,
    .keys = GF_WIDE_KEYS,
    .cuda = GF_CUDA({OPENING_KERNEL}),
    .fuses = fuses,
    .cuda_fused = GF_LAUNCHER(gf_morphology_cuda),
};
