/* Chooses the kernels of dilations, erosions and the operations that consist of both, such as
 * openings. */
#include "cuda/filters/morphology/window.cuh"

/* Rectangles. Squares of a small reach take one pass; all others go down the columns first, then
 * along the rows. */

int gf_morphology_rectangle(const struct gf_launch *launch, const struct gf_morphology *morphology,
                            unsigned flip)
{
    struct view_pair p = view_pair_of(launch, morphology->border);
    const bool both = morphology->rx && morphology->ry;
    if (morphology->rx == 1 && morphology->ry == 1)
        return gf_morphology_small(p, flip, launch->stream);
    if (morphology->rx == 2 && morphology->ry == 2)
        return gf_morphology_medium(p, flip, launch->stream);
    if (!morphology->rx) /* a single pixel is also a column */
        return gf_morphology_columns(p, morphology->ry, flip, launch->stream);
    if (both) {
        p.out = (unsigned char *)launch->scratch;
        p.out_pitch = gf_morphology_pitch(launch->in.format, 0);
        LAUNCH_TRY(gf_morphology_columns(p, morphology->ry, flip, launch->stream));
        p.in = p.out;
        p.in_pitch = p.out_pitch;
        p.in_y = p.out_y;
        p.out = launch->out.data;
        p.out_pitch = launch->out.pitch;
    }
    return gf_morphology_rows(p, morphology->rx, flip, both, launch->stream);
}

/* The launchers of dilate, erode and morphology. */

constexpr int THREADS = 256;

static int extreme(const struct gf_launch *launch, bool dilates)
{
    const struct gf_morphology *const morphology =
        (const struct gf_morphology *)launch->stage->constants;
    const unsigned flip = dilates ? 0 : 0xFFFFFFFFu;
    if (morphology->is_rectangle)
        return gf_morphology_rectangle(launch, morphology, flip);
    return gf_morphology_is_near(morphology, launch->in.format)
               ? gf_morphology_near(launch, morphology, flip)
               : gf_morphology_chords(launch, morphology, flip);
}

GF_LAUNCHES(gf_dilate_cuda, extreme(launch, true))
GF_LAUNCHES(gf_erode_cuda, extreme(launch, false))

static const struct gf_morphology *morphology_of(const struct gf_launch *launch)
{
    return (const struct gf_morphology *)launch->stage->constants;
}

GF_LAUNCHES(gf_dilate_floats_cuda, gf_morphology_floats(launch, morphology_of(launch), 0))
GF_LAUNCHES(gf_erode_floats_cuda, gf_morphology_floats(launch, morphology_of(launch), ~0u))

struct difference_args {
    const unsigned char *from, *what, *original; /* row 0 of the result in each picture */
    unsigned char *out;
    size_t from_pitch, what_pitch, original_pitch, out_pitch;
    /* `alpha` is the number of channels if the last one is alpha, which is kept; otherwise 0. */
    int samples, alpha;
};

/* Each thread computes a word of max(from - what, 0), sample by sample. */
template <class Sample>
__global__ void __launch_bounds__(THREADS) difference_kernel(const struct difference_args args)
{
    constexpr int EACH = 4 / (int)sizeof(Sample);
    const int words = (args.samples + EACH - 1) / EACH;
    const struct tile_origin origin = block_tile(words, THREADS, 1);
    const int first = (origin.x + (int)threadIdx.x) * EACH;
    if (first >= args.samples)
        return;
    const size_t row = (size_t)origin.row;
    const Sample *const from = (const Sample *)(args.from + row * args.from_pitch) + first;
    const Sample *const what = (const Sample *)(args.what + row * args.what_pitch) + first;
    const Sample *const original =
        (const Sample *)(args.original + row * args.original_pitch) + first;
    Sample *const out = (Sample *)(args.out + row * args.out_pitch) + first;
    const int count = min(EACH, args.samples - first);
    __align__(4) Sample v[EACH], w[EACH], result[EACH];
    if (count == EACH) {
        *(unsigned *)v = *(const unsigned *)from;
        *(unsigned *)w = *(const unsigned *)what;
    } else {
        for (int i = 0; i < EACH; i++) {
            v[i] = i < count ? from[i] : 0;
            w[i] = i < count ? what[i] : 0;
        }
    }
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        result[i] = (Sample)max(v[i] - w[i], 0);
        if (args.alpha && i < count && (first + i) % args.alpha == args.alpha - 1)
            result[i] = original[i];
    }
    if (count == EACH) {
        *(unsigned *)out = *(const unsigned *)result;
    } else {
        for (int i = 0; i < count; i++)
            out[i] = result[i];
    }
}

static int subtract(const struct gf_launch *launch, const struct gf_view *from,
                    const struct gf_view *what)
{
    const struct gf_view &out = launch->out;
    struct difference_args args = {};
    args.from = gf_view_row(from, out.y);
    args.what = gf_view_row(what, out.y);
    args.original = gf_view_row(&launch->in, out.y);
    args.out = out.data;
    args.from_pitch = from->pitch;
    args.what_pitch = what->pitch;
    args.original_pitch = launch->in.pitch;
    args.out_pitch = out.pitch;
    args.samples = out.format.width * out.format.channels;
    args.alpha = gf_has_alpha(out.format) ? out.format.channels : 0;
    const int blocks =
        tile_blocks(ceil_div(args.samples, 32 / out.format.bits), out.rows, THREADS, 1);
    return launch_kernel(out.format.bits == 8 ? difference_kernel<unsigned char>
                                              : difference_kernel<unsigned short>,
                         blocks, THREADS, 0, launch->stream, args);
}

/* Does an operation by squares of 3x3 to 9x9 in one pass. Returns cudaErrorNotSupported if there is
 * no kernel for it. */
static int in_one_pass(const struct gf_launch *launch, const struct gf_morphology *morphology,
                       enum gf_morphology_make make)
{
    const struct view_pair p = view_pair_of(launch, morphology->border);
    const bool has_alpha = gf_has_alpha(launch->out.format);
    const bool is_gradient = make == GF_MORPHOLOGY_GRADIENT;
    if (!morphology->is_rectangle || morphology->rx != morphology->ry)
        return cudaErrorNotSupported;
    if (morphology->rx == 1)
        return is_gradient ? gf_morphology_gradient(p, has_alpha, launch->stream)
                           : gf_morphology_opening(p, make, has_alpha, launch->stream);
    return morphology->rx >= 2 && morphology->rx <= GF_OPENING_RADIUS && !is_gradient
               ? gf_morphology_opening_pairs(p, make, morphology->rx, launch->stream)
               : cudaErrorNotSupported;
}

/* Does an operation that consists of a dilation and an erosion. If no kernel does both in one pass,
 * the rows of the first one go to scratch memory, and those of the second one to the result. */
extern "C" int gf_morphology_cuda(const struct gf_launch *launch)
{
    const struct gf_morphology *const morphology =
        (const struct gf_morphology *)launch->stage->constants;
    /* `make` is the first member of the parameters. */
    const auto make = (enum gf_morphology_make) * (const int *)launch->stage->params;
    const struct gf_view &out = launch->out;
    const bool is_gradient = make == GF_MORPHOLOGY_GRADIENT;
    int status = in_one_pass(launch, morphology, make);
    if (status != cudaErrorNotSupported)
        return status;
    const bool dilates_first = make == GF_MORPHOLOGY_BLACKHAT || make == GF_MORPHOLOGY_CLOSE;
    const struct gf_rows rows = is_gradient
                                    ? gf_rows{out.y, out.y + out.rows}
                                    : gf_morphology_reach(morphology, out.format, out.y, out.rows);
    const size_t pitch = gf_morphology_pitch(out.format, 0);
    struct gf_launch first = *launch, second = *launch;
    first.out = gf_view_make((unsigned char *)launch->scratch, pitch, out.format, rows);
    first.scratch = first.out.data + pitch * (size_t)first.out.rows;
    second.scratch = first.scratch;
    if (!is_gradient)
        second.in = first.out;
    status = extreme(&first, dilates_first);
    GF_THEN(status, extreme(&second, !dilates_first));
    if (status || make == GF_MORPHOLOGY_OPEN || make == GF_MORPHOLOGY_CLOSE)
        return status;
    return make == GF_MORPHOLOGY_TOPHAT     ? subtract(launch, &launch->in, &out)
           : make == GF_MORPHOLOGY_BLACKHAT ? subtract(launch, &out, &launch->in)
                                            : subtract(launch, &out, &first.out);
}
