/* Compares texture fetches with plain loads: of each element, of a neighbourhood with clamped or
 * wrapped borders, and interpolated between four elements (Best Practices Guide, 9.2.5). The
 * Programming Guide, 2.2.3.7, says that textures no longer have an advantage. The hardware rounds
 * the fractions of its filter to eight bits. */
#include "study/labs/lab.h"

/* The parameters. The name "texture" is not possible, because toolkits before 12.0 declare it. */
struct texture_fetches {
    int side;
};

static const struct gf_param texture_params[] = {
    GF_PARAM_INT(struct texture_fetches, side, 8192, 64, 11000,
                 "rows and columns of the picture of floats"),
    {0},
};

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
    struct picture picture = {};
    cudaArray_t array = NULL;

    textures() = default;
    textures(const textures &) = delete;
    textures &operator=(const textures &) = delete;
    ~textures()
    {
        for (cudaTextureObject_t object :
             {picture.linear, picture.clamp, picture.wrap, picture.filter}) {
            if (object)
                cudaDestroyTextureObject(object);
        }
        cudaFreeArray(array);
    }
    cudaError_t make(cudaTextureObject_t *object, cudaTextureAddressMode border, bool filter) const
    {
        cudaResourceDesc resource = {};
        cudaTextureDesc texture = {};
        resource.resType = cudaResourceTypeArray;
        resource.res.array.array = array;
        texture.addressMode[0] = texture.addressMode[1] = border;
        texture.filterMode = filter ? cudaFilterModeLinear : cudaFilterModePoint;
        texture.normalizedCoords = border == cudaAddressModeWrap;
        return cudaCreateTextureObject(object, &resource, &texture, NULL);
    }
    cudaError_t make_linear(size_t bytes)
    {
        cudaResourceDesc resource = {};
        cudaTextureDesc texture = {};
        resource.resType = cudaResourceTypeLinear;
        resource.res.linear.devPtr = (void *)picture.data;
        resource.res.linear.desc = cudaCreateChannelDesc<float>();
        resource.res.linear.sizeInBytes = bytes;
        return cudaCreateTextureObject(&picture.linear, &resource, &texture, NULL);
    }
};

static enum gf_status prepare(const struct gf_lab_run *run, const lab_memory<float> &in, int n,
                              struct textures *textures)
{
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    const size_t row = (size_t)n * sizeof(float);
    struct picture *const picture = &textures->picture;
    picture->data = in.data;
    picture->n = n;
    LAB_TRY(cudaMallocArray(&textures->array, &format, n, n));
    LAB_TRY(
        cudaMemcpy2DToArray(textures->array, 0, 0, in.data, row, row, n, cudaMemcpyDeviceToDevice));
    LAB_TRY(textures->make_linear(in.bytes()));
    LAB_TRY(textures->make(&picture->clamp, cudaAddressModeClamp, false));
    LAB_TRY(textures->make(&picture->wrap, cudaAddressModeWrap, false));
    LAB_TRY(textures->make(&picture->filter, cudaAddressModeClamp, true));
    return GF_OK;
}

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

static enum gf_status run(const struct gf_lab_run *run)
{
    const struct texture_fetches *const params = (const struct texture_fetches *)run->params;
    const int n = params->side;
    const dim3 grid(lab_blocks(n, TILE_WIDTH), lab_blocks(n, TILE_HEIGHT)),
        block(TILE_WIDTH, TILE_HEIGHT);
    lab_memory<float> in, plain_out, texture_out;
    struct textures textures;
    double gain[METHODS];
    GF_TRY(in.random(run, (size_t)n * n, 1));
    GF_TRY(prepare(run, in, n, &textures));

    gf_lab_rows(run, "reading");
    const int plain_ms = gf_lab_column(run, "plain loads", "ms", 3);
    const int texture_ms = gf_lab_column(run, "texture", "ms", 3);
    const int speedup = gf_lab_column(run, "speed-up", "times", 2);
    const int worst_column = gf_lab_column(run, "worst difference", "", 5);
    for (int method = 0; method < METHODS; method++) {
        struct lab_time plain, texture;
        double worst;
        const auto by_loads = [&] {
            methods[method].plain<<<grid, block>>>(textures.picture, plain_out.data);
        };
        const auto by_texture = [&] {
            methods[method].texture<<<grid, block>>>(textures.picture, texture_out.data);
        };
        GF_TRY(plain_out.alloc(run, in.count));
        GF_TRY(texture_out.alloc(run, in.count));
        LAB_TRY(
            cudaMemset(plain_out.data, 0xff, plain_out.bytes())); /* all bytes 0xff make NaN, which
                                                                   * differs from everything */
        LAB_TRY(cudaMemset(texture_out.data, 0xff, texture_out.bytes()));
        by_loads();
        by_texture();
        LAB_LAUNCHED();
        GF_TRY(lab_worst(run, method == COPY ? in.data : plain_out.data, texture_out.data, in.count,
                         &worst));
        gf_lab_check(run, worst <= methods[method].tolerance,
                     "%s: both ways differ by %.2g at most (allowed: %.2g)", methods[method].label,
                     worst, methods[method].tolerance);
        GF_TRY(lab_time(run, LAB_WARM, by_loads, &plain));
        GF_TRY(lab_time(run, LAB_WARM, by_texture, &texture));
        gain[method] = plain.median_s / texture.median_s;
        gf_lab_row(run, NAN, "%s", methods[method].label);
        gf_lab_value(run, plain_ms, 1e3 * plain.median_s);
        gf_lab_value(run, texture_ms, 1e3 * texture.median_s);
        gf_lab_value(run, speedup, gain[method]);
        gf_lab_value(run, worst_column, worst);
    }
    gf_lab_claim(
        run, gain[COPY] < 1.05 && gain[CLAMP] < 1.05 && gain[WRAP] < 1.05,
        "guide 5: fetches have no advantage over loads; here %.2f, %.2f clamped, %.2f wrapped",
        gain[COPY], gain[CLAMP], gain[WRAP]);
    gf_lab_claim(run, gain[BILINEAR] > 1.0,
                 "guides 1 and 4: the hardware filters faster, %.2f times as fast, with a fraction "
                 "of 8 bits",
                 gain[BILINEAR]);
    return GF_OK;
}
#endif

const struct gf_lab gf_lab_texture = {
    .name = "texture",
    .summary = "texture fetches, borders and bilinear filtering beside plain loads",
    .guide = "1; 4, 9.2.5; 5, 2.2.3.7",
    .figure = "guide 5: no performance benefit on any GPU that is supported now",
    GF_PARAMS(struct texture_fetches, texture_params),
    .run = GF_LAB_RUN(run),
};
