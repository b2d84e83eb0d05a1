/* Compares texture fetches with plain loads: of each element, of a neighbourhood with clamped or
 * wrapped borders, and interpolated between four elements (Best Practices Guide, 9.2.5). The
 * Programming Guide, 2.2.3.7, says that textures no longer have an advantage. The hardware rounds
 * the fractions of its filter to eight bits. */
#include "study/labs/lab.h"

#ifdef __CUDACC__
#include "cuda/study/labs/lab.cuh"

constexpr int TILE_WIDTH = 32, TILE_HEIGHT = 8;

/* A picture for the kernels: its memory, and textures of it. */
struct picture {
    const float *data;
    int n;
    cudaTextureObject_t linear;              /* a texture of plain memory, without borders and
                                              * filter */
    cudaTextureObject_t clamp, wrap, filter; /* textures of an array; `wrap` uses coordinates in
                                              * 0..1 */
};

struct position {
    int x, y;
};

static __device__ __forceinline__ struct position here(void)
{
    return {(int)(blockIdx.x * TILE_WIDTH + threadIdx.x),
            (int)(blockIdx.y * TILE_HEIGHT + threadIdx.y)};
}

/* Returns the point that the bilinear kernels sample for a pixel. The points are rotated by some
 * degrees and enlarged, and some are beyond the border. */
static __device__ __forceinline__ float2 looked_at(struct position at)
{
    return make_float2(0.874f * (float)at.x - 0.123f * (float)at.y + 31.31f,
                       0.123f * (float)at.x + 0.874f * (float)at.y - 17.69f);
}

static __device__ __forceinline__ int clamped(int i, int n)
{
    return min(max(i, 0), n - 1);
}
static __device__ __forceinline__ int wrapped(int i, int n)
{
    return i < 0 ? i + n : i >= n ? i - n : i;
}

template <bool TEXTURE>
static __global__ void __launch_bounds__(TILE_WIDTH *TILE_HEIGHT)
    copy_kernel(struct picture in, float *out)
{
    const struct position at = here();
    if (at.x >= in.n || at.y >= in.n)
        return;
    const int i = at.y * in.n + at.x;
    out[i] = TEXTURE ? tex1Dfetch<float>(in.linear, i) : in.data[i];
}

/* Sums a pixel's neighbourhood. The nine neighbours have different weights, so that a misplaced one
 * changes the result. */
template <bool TEXTURE, bool WRAP>
static __global__ void __launch_bounds__(TILE_WIDTH *TILE_HEIGHT)
    neighbours_kernel(struct picture in, float *out)
{
    const struct position at = here();
    const float scale = 1.0f / (float)in.n;
    float sum = 0.0f;
    if (at.x >= in.n || at.y >= in.n)
        return;
#pragma unroll
    for (int dy = -1; dy <= 1; dy++) {
#pragma unroll
        for (int dx = -1; dx <= 1; dx++) {
            const int x = at.x + dx, y = at.y + dy;
            float v;
            if (TEXTURE && WRAP)
                v = tex2D<float>(in.wrap, ((float)x + 0.5f) * scale, ((float)y + 0.5f) * scale);
            else if (TEXTURE)
                v = tex2D<float>(in.clamp, (float)x + 0.5f, (float)y + 0.5f);
            else if (WRAP)
                v = in.data[wrapped(y, in.n) * in.n + wrapped(x, in.n)];
            else
                v = in.data[clamped(y, in.n) * in.n + clamped(x, in.n)];
            sum += v * (float)(3 * dy + dx + 5);
        }
    }
    out[at.y * in.n + at.x] = sum;
}

template <bool TEXTURE>
static __global__ void __launch_bounds__(TILE_WIDTH *TILE_HEIGHT)
    bilinear_kernel(struct picture in, float *out)
{
    const struct position at = here();
    if (at.x >= in.n || at.y >= in.n)
        return;
    const float2 p = looked_at(at);
    float v;
    if (TEXTURE) {
        v = tex2D<float>(in.filter, p.x + 0.5f, p.y + 0.5f);
    } else {
        const float left = floorf(p.x), top = floorf(p.y), fx = p.x - left, fy = p.y - top;
        const int x0 = clamped((int)left, in.n), x1 = clamped((int)left + 1, in.n);
        const float *const row0 = in.data + clamped((int)top, in.n) * in.n;
        const float *const row1 = in.data + clamped((int)top + 1, in.n) * in.n;
        const float above = row0[x0] + fx * (row0[x1] - row0[x0]);
        const float below = row1[x0] + fx * (row1[x1] - row1[x0]);
        v = above + fy * (below - above);
    }
    out[at.y * in.n + at.x] = v;
}

/* The texture objects and their array, which are destroyed at the end of the scope. */
struct textures {
    const struct gf_lab_run *run;
    struct picture picture = {};
    cudaArray_t array = NULL;

    explicit textures(const struct gf_lab_run *run_) : run(run_)
    {
    }
    /* Delegates, so that a failure destroys what has been made. */
    textures(const struct gf_lab_run *run_, const lab_memory<float> &in, int n) : textures(run_)
    {
        const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
        const size_t row = (size_t)n * sizeof(float);
        cudaResourceDesc linear = {}, of_array = {};
        picture.data = in.data;
        picture.n = n;
        LAB_TRY(cudaMallocArray(&array, &format, n, n));
        LAB_TRY(cudaMemcpy2DToArray(array, 0, 0, in.data, row, row, n, cudaMemcpyDeviceToDevice));
        linear.resType = cudaResourceTypeLinear;
        linear.res.linear.devPtr = in.data;
        linear.res.linear.desc = format;
        linear.res.linear.sizeInBytes = in.bytes();
        of_array.resType = cudaResourceTypeArray;
        of_array.res.array.array = array;
        make(&picture.linear, linear, cudaTextureDesc());
        make(&picture.clamp, of_array, description(cudaAddressModeClamp, cudaFilterModePoint));
        make(&picture.wrap, of_array, description(cudaAddressModeWrap, cudaFilterModePoint));
        make(&picture.filter, of_array, description(cudaAddressModeClamp, cudaFilterModeLinear));
    }
    ~textures()
    {
        for (cudaTextureObject_t object :
             {picture.linear, picture.clamp, picture.wrap, picture.filter}) {
            if (object)
                cudaDestroyTextureObject(object);
        }
        cudaFreeArray(array);
    }
    static cudaTextureDesc description(cudaTextureAddressMode border, cudaTextureFilterMode filter)
    {
        cudaTextureDesc texture = {};
        texture.addressMode[0] = texture.addressMode[1] = border;
        texture.filterMode = filter;
        texture.normalizedCoords = border == cudaAddressModeWrap;
        return texture;
    }
    void make(cudaTextureObject_t *object, const cudaResourceDesc &resource,
              const cudaTextureDesc &texture) const
    {
        LAB_TRY(cudaCreateTextureObject(object, &resource, &texture, NULL));
    }
};

typedef void kernel(struct picture in, float *out);

/* The measurements. Plain loads are the reference for textures, and the input is the reference for
 * the copy. Tolerances: random values are in -1..1, and the fractions of the hardware's filter have
 * errors below 1/256 in both directions, to which the rounding of the coordinates is added. */
static const struct {
    const char *label;
    kernel *plain, *texture;
    double tolerance;
} methods[] = {
    {"each element", copy_kernel<false>, copy_kernel<true>, 0.0},
    {"3x3, clamped", neighbours_kernel<false, false>, neighbours_kernel<true, false>, 0.0},
    {"3x3, wrapped", neighbours_kernel<false, true>, neighbours_kernel<true, true>, 0.0},
    {"bilinear", bilinear_kernel<false>, bilinear_kernel<true>, 4.0 / 256 + 4e-3},
};
enum { COPY, CLAMP, WRAP, BILINEAR, METHODS };

static void run(const struct gf_lab_run *run)
{
    const int n = run->param[0];
    const dim3 grid(lab_blocks(n, TILE_WIDTH), lab_blocks(n, TILE_HEIGHT)),
        block(TILE_WIDTH, TILE_HEIGHT);
    const lab_memory<float> in(run, (size_t)n * n, 1), plain_out(run, in.count),
        texture_out(run, in.count);
    const struct textures textures(run, in, n);
    double gain[METHODS];
    for (int method = 0; method < METHODS; method++) {
        const auto by_loads = [&] {
            methods[method].plain<<<grid, block>>>(textures.picture, plain_out.data);
        };
        const auto by_texture = [&] {
            methods[method].texture<<<grid, block>>>(textures.picture, texture_out.data);
        };
        plain_out.set_bytes(0xff); /* this is NaN, which differs from everything */
        texture_out.set_bytes(0xff);
        by_loads();
        by_texture();
        const double worst = lab_worst(method == COPY ? in : plain_out, texture_out);
        gf_lab_check(run, worst <= methods[method].tolerance,
                     "%s: both ways differ by %.2g at most (allowed: %.2g)", methods[method].label,
                     worst, methods[method].tolerance);
        const struct lab_time plain = lab_time(run, by_loads), texture = lab_time(run, by_texture);
        gain[method] = plain / texture;
        lab_row(run, NAN, {plain.ms(), texture.ms(), gain[method], worst}, "%s",
                methods[method].label);
    }
    gf_lab_claim(
        run, gain[COPY] < 1.05 && gain[CLAMP] < 1.05 && gain[WRAP] < 1.05,
        "guide 5: fetches have no advantage over loads; here %.2f, %.2f clamped, %.2f wrapped",
        gain[COPY], gain[CLAMP], gain[WRAP]);
    gf_lab_above(run, 1.0,
                 "guides 1 and 4: the hardware filters faster, %.2f times as fast, with a fraction "
                 "of 8 bits",
                 gain[BILINEAR]);
}
#endif

const struct gf_lab gf_lab_texture = {
    .name = "texture",
    .summary = "texture fetches, borders and bilinear filtering beside plain loads",
    .guide = "1; 4, 9.2.5; 5, 2.2.3.7",
    .figure = "guide 5: no performance benefit on any GPU that is supported now",
    .params = {GF_LAB_INT("side", 8192, 64, 11000, "rows and columns of the picture of floats")},
    .rows = "reading",
    .columns = {{"plain loads", "ms", 3},
                {"texture", "ms", 3},
                {"speed-up", "times", 2},
                {"worst difference", "", 5}},
    .run = GF_LAB_RUN(run),
};
