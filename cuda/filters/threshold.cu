/* The local thresholds. The mean of a window comes from the kernels of boxblur or blur; another
 * kernel compares the picture with it. Sauvola's threshold has a kernel of its own. */
#include "filters/threshold/threshold.h"

#include "cuda/common/window_sums.cuh"

enum { THREADS = 256 };

/* ---- the mean of a window ---- */

struct compare_args {
    struct view_pair p;
    int offset;
    bool alpha;
};

/* Compares VECTOR bytes of the picture with those of the means, which the result replaces. */
template <class Sample>
static __global__ void __launch_bounds__(THREADS) compare_kernel(const struct compare_args args)
{
    enum { SAMPLES = VECTOR / sizeof(Sample), MAX = (Sample)~0 };
    const struct view_pair &p = args.p;
    const int samples = p.width * p.channels;
    const struct position at =
        position_of(blockIdx.x * THREADS + threadIdx.x, p.rows, ceil_div(samples, SAMPLES));
    const int first = (int)at.column * SAMPLES, count = min((int)SAMPLES, samples - first);
    if (at.row >= (unsigned)p.rows || count <= 0)
        return;
    const Sample *const from = (const Sample *)(p.in + (size_t)at.row * p.in_pitch) + first;
    Sample *const to = (Sample *)(p.out + (size_t)at.row * p.out_pitch) + first;
    union {
        uint4 vector;
        Sample sample[SAMPLES];
    } in, out;
    if (count == SAMPLES) {
        in.vector = __ldg((const uint4 *)from);
        out.vector = *(const uint4 *)to;
    } else {
#pragma unroll
        for (int i = 0; i < SAMPLES; i++) {
            in.sample[i] = i < count ? from[i] : 0;
            out.sample[i] = i < count ? to[i] : 0;
        }
    }
#pragma unroll
    for (int i = 0; i < SAMPLES; i++)
        out.sample[i] =
            args.alpha && i % 2
                ? in.sample[i]
                : (Sample)gf_threshold_above(in.sample[i], out.sample[i], args.offset, MAX);
    if (count == SAMPLES) {
        *(uint4 *)to = out.vector;
    } else {
#pragma unroll
        for (int i = 0; i < SAMPLES; i++) {
            if (i < count)
                to[i] = out.sample[i];
        }
    }
}

template <class Sample>
static int launch_compare(const struct compare_args &whole, cudaStream_t stream)
{
    const int items = ceil_div(whole.p.width * whole.p.channels, VECTOR / (int)sizeof(Sample));
    return for_parts_of_rows(whole.p, (1u << 30) / items, [&](const struct view_pair &part) {
        struct compare_args args = whole;
        args.p = part;
        return launch_kernel(compare_kernel<Sample>,
                             blocks_for((unsigned)items * part.rows, THREADS), THREADS, 0, stream,
                             args);
    });
}

extern "C" int gf_threshold_local_cuda(const struct gf_launch *launch)
{
    struct gf_threshold_means means;
    gf_threshold_means_of(launch->stage, &means);
    struct gf_launch blurring = *launch;
    blurring.stage = &means.stage;
    const int status = means.stage.filter->cuda->launch(&blurring);
    struct compare_args args = {};
    args.p = aligned_views(launch);
    args.offset = gf_threshold_offset(launch->stage);
    args.alpha = gf_has_alpha(launch->in.format);
    if (status || !args.p.rows)
        return status;
    return args.p.bits == 8 ? launch_compare<unsigned char>(args, launch->stream)
                            : launch_compare<unsigned short>(args, launch->stream);
}

/* ---- Sauvola's threshold ---- */

struct sauvola_args {
    struct view_pair p;
    struct gf_sauvola sauvola;
    int strip; /* rows of results of a block */
};

template <class Sample, class Square, int CHANNELS>
static __global__ void __launch_bounds__(THREADS, 2) sauvola_kernel(const struct sauvola_args args)
{
    constexpr int COUNT = WINDOW_EACH * CHANNELS;
    __shared__ struct prefixes<unsigned, Square, CHANNELS, THREADS> prefixes;
    const struct view_pair &p = args.p;
    const int radius = args.sauvola.radius;
    const struct place place = place_of<THREADS>(p, radius, args.strip, p.rows);
    const struct window_joins<2> joins(radius);
    struct columns<Sample, Square, CHANNELS> columns;
    for (int y = place.top; y < place.end; y++) {
        const int row = p.out_y + y;
        columns.go_to(p, place, radius, row);
        unsigned sum[COUNT], v[COUNT];
        Square squares[COUNT];
#pragma unroll
        for (int i = 0; i < COUNT; i++) {
            sum[i] = columns.sum[i];
            squares[i] = columns.squares[i];
        }
        window_sums(prefixes, y, radius, joins, place.makes, sum, squares);
        if (!place.makes)
            continue;
        load_columns<Sample, CHANNELS>(window_row<Sample>(p, row), place, v);
#pragma unroll
        for (int i = 0; i < COUNT; i++) {
            if (CHANNELS == 1 || i % CHANNELS == 0)
                v[i] = (Sample)(0 - gf_sauvola_above(&args.sauvola, (double)v[i], (double)sum[i],
                                                     (double)squares[i]));
        }
        store_columns<Sample, CHANNELS>(p, place, y, v);
    }
}

/* Launches Sauvola's threshold of a gray picture. With 2 CHANNELS it has alpha, which is kept. */
template <class Sample, int CHANNELS>
static int launch_sauvola(struct sauvola_args args, cudaStream_t stream)
{
    const struct view_pair &p = args.p;
    const int radius = args.sauvola.radius;
    const auto kernel = sauvola_kernel<Sample, typename window_square<Sample>::type, CHANNELS>;
    LAUNCH_TRY(window_strip<THREADS>(kernel, p.width, p.rows, radius, 256, &args.strip));
    return launch_kernel(kernel,
                         tile_blocks(p.width, p.rows, windows_across<THREADS>(radius), args.strip),
                         THREADS, 0, stream, args);
}

extern "C" int gf_threshold_sauvola_cuda(const struct gf_launch *launch)
{
    const struct gf_sauvola *const sauvola = (const struct gf_sauvola *)launch->stage->constants;
    struct sauvola_args args = {};
    args.p = view_pair_of(launch, sauvola->border);
    args.sauvola = *sauvola;
    if (!args.p.rows)
        return cudaSuccess;
    if (args.p.channels == 2)
        return args.p.bits == 8 ? launch_sauvola<unsigned char, 2>(args, launch->stream)
                                : launch_sauvola<unsigned short, 2>(args, launch->stream);
    return args.p.bits == 8 ? launch_sauvola<unsigned char, 1>(args, launch->stream)
                            : launch_sauvola<unsigned short, 1>(args, launch->stream);
}
