/* Pictures become frames of YCbCr. One launch converts a picture, and one copy brings all frames of
 * a group to the host. */
#include "cuda/yuv/coders.h"

#include "cuda/yuv/frame.cuh"

struct gf_yuv_encoder : coder {
};

struct job {
    struct gf_yuv yuv;
    struct gf_yuv_from_rgb from;
    const unsigned char *in;
    size_t pitch;
    void *plane[3];
    int chroma_width, chroma_height;
};

/* The chroma of a thread's columns in a row. With half width there are two values, averaged
 * horizontally. */
struct chroma {
    float u[COLUMNS], v[COLUMNS];
};

/* Sets `to` to the chroma of four pixels or, with half width, to two averages. full[0] belongs to
 * the pixel before the four. */
static __device__ __forceinline__ void narrow(const struct job &job, const float full[COLUMNS + 1],
                                              float to[COLUMNS])
{
    const struct gf_yuv_three weight = gf_yuv_columns_under(&job.yuv);
#pragma unroll
    for (int k = 0; k < COLUMNS; k++)
        to[k] = full[k + 1];
    if (job.yuv.half_width) {
        to[0] = gf_yuv_average(weight, full[0], full[1], full[2]);
        to[1] = gf_yuv_average(weight, full[2], full[3], full[4]);
    }
}

/* Makes the chroma of a row, and stores its luma if puts_luma is set. */
template <class In, class Out, int CHANNELS>
static __device__ __forceinline__ struct chroma convert_row(const struct job &job, int x, int row,
                                                            bool puts_luma)
{
    const int width = job.yuv.width;
    const In *const in = (const In *)(job.in + row * job.pitch);
    float u[COLUMNS + 1], v[COLUMNS + 1];
    struct samples<Out> luma;
#pragma unroll
    for (int i = 0; i <= COLUMNS; i++) {
        const In *const pixel = in + (size_t)clamped(x + i - 1, width) * CHANNELS;
        const float red = pixel[0], green = CHANNELS > 2 ? pixel[CHANNELS > 2 ? 1 : 0] : 0.0f,
                    blue = CHANNELS > 2 ? pixel[CHANNELS > 2 ? 2 : 0] : 0.0f;
        u[i] = CHANNELS > 2 ? gf_yuv_mixed(&job.from.u, red, green, blue) : 0.0f;
        v[i] = CHANNELS > 2 ? gf_yuv_mixed(&job.from.v, red, green, blue) : 0.0f;
        if (i)
            luma.of[i - 1] = CHANNELS > 2 ? gf_yuv_luma_of(&job.from, red, green, blue)
                                          : gf_yuv_luma_of_gray(&job.from, red);
    }
    if (puts_luma)
        store((Out *)job.plane[0] + (size_t)row * width + x, luma, width - x);
    struct chroma chroma;
    narrow(job, u, chroma.u);
    narrow(job, v, chroma.v);
    return chroma;
}

template <class Out>
static __device__ __forceinline__ void
put_chroma(const struct job &job, int plane, struct gf_yuv_three weight, struct place at,
           const float above[COLUMNS], const float here[COLUMNS], const float below[COLUMNS])
{
    const int x = job.yuv.half_width ? at.x / 2 : at.x,
              most = job.yuv.half_width ? COLUMNS / 2 : COLUMNS, rest = job.chroma_width - x;
    Out *const to = (Out *)job.plane[plane] + (size_t)at.row * job.chroma_width + x;
    struct samples<Out> samples = {
    };
#pragma unroll
    for (int k = 0; k < COLUMNS; k++)
        samples.of[k] = gf_yuv_round(
            gf_yuv_average(weight, above[k], here[k], below[k]) + job.from.u.offset, job.from.most);
    store(to, samples, rest < most ? rest : most);
}

/* A row of threads makes a row of chroma, and the rows of luma that belong to it. */
template <class In, class Out, int CHANNELS> static __global__ void from_rows(const struct job job)
{
    const struct place at = own_place(job.yuv.width);
    const struct gf_yuv_under rows = gf_yuv_under(&job.yuv, at.row);
    if (at.x >= job.yuv.width || rows.here >= job.yuv.height)
        return;
    const struct chroma here = convert_row<In, Out, CHANNELS>(job, at.x, rows.here, true);
    if (job.yuv.mono)
        return;
    struct chroma above = here, below = here;
    if (rows.below != rows.here)
        below = convert_row<In, Out, CHANNELS>(job, at.x, rows.below, true);
    if (rows.weight.before > 0 && rows.above != rows.here)
        above = convert_row<In, Out, CHANNELS>(job, at.x, rows.above, false);
    put_chroma<Out>(job, 1, rows.weight, at, above.u, here.u, below.u);
    put_chroma<Out>(job, 2, rows.weight, at, above.v, here.v, below.v);
}

template <class In, class Out>
static cudaError_t launch(const struct job &job, int channels, cudaStream_t stream)
{
    const int rows = job.yuv.half_height ? job.chroma_height : job.yuv.height;
    const unsigned blocks = blocks_of(job.yuv.width, rows);
    const dim3 threads(BLOCK_ACROSS, BLOCK_DOWN);
    return (cudaError_t)for_channels(channels, [&](auto constant) -> int {
        return launch_kernel(from_rows<In, Out, decltype(constant)::value>, blocks, threads, 0,
                             stream, job);
    });
}

static cudaError_t convert(const struct gf_yuv_encode_picture *picture, unsigned char *planes,
                           cudaStream_t stream)
{
    const struct gf_format format = picture->in.format;
    const struct gf_yuv_planes layout = gf_yuv_planes_of(picture->yuv);
    struct job job;
    job.yuv = *picture->yuv;
    job.from = gf_yuv_from_rgb_of(picture->yuv, gf_colour_channels(format), format.bits);
    job.in = picture->in.data;
    job.pitch = picture->in.pitch;
    job.chroma_width = (int)layout.chroma_width;
    job.chroma_height = (int)layout.chroma_height;
    for (int i = 0; i < 3; i++)
        job.plane[i] = planes + layout.first[i] * layout.sample_bytes;
    const int channels = format.channels;
    if (format.bits == 8)
        return layout.sample_bytes == 2 ? launch<uint8_t, uint16_t>(job, channels, stream)
                                        : launch<uint8_t, uint8_t>(job, channels, stream);
    return layout.sample_bytes == 2 ? launch<uint16_t, uint16_t>(job, channels, stream)
                                    : launch<uint16_t, uint8_t>(job, channels, stream);
}

static bool fits(const struct gf_yuv_encode_picture *picture)
{
    const struct gf_format format = picture->in.format;
    const struct gf_yuv *const yuv = picture->yuv;
    return format.width == yuv->width && format.height == yuv->height &&
           (!yuv->mono || format.channels < 3) && picture->in.y == 0 &&
           picture->in.rows == format.height;
}

/* Converts the pictures that were chosen. Their frames lie one behind the other in memory. */
static enum gf_status run(const struct gf_yuv_encoder *encoder,
                          struct gf_yuv_encode_picture *pictures, int count, struct gf_error *error)
{
    uint64_t at = 0;
    CODER_TRY(encoder, coder_mark(encoder, 0, encoder->stream));
    for (int i = 0; i < count; i++) {
        if (!pictures[i].encoded)
            continue;
        CODER_TRY(encoder, convert(pictures + i, encoder->memory + at, encoder->stream));
        pictures[i].frame = encoder->pinned + at;
        at += aligned(pictures[i].size);
    }
    CODER_TRY(encoder, coder_mark(encoder, 1, encoder->stream));
    CODER_TRY(encoder, cudaMemcpyAsync(encoder->pinned, encoder->memory, at, cudaMemcpyDeviceToHost,
                                       encoder->stream));
    CODER_TRY(encoder, coder_mark(encoder, 2, encoder->stream));
    CODER_TRY(encoder, coder_wait(encoder));
    return coder_add_times(encoder, error);
}

extern "C" enum gf_status gf_yuv_encoder_run(struct gf_yuv_encoder *encoder,
                                             struct gf_yuv_encode_picture *pictures, int count,
                                             struct gf_error *error)
{
    uint64_t bytes = 0;
    int chosen = 0;
    coder_begin_times(encoder);
    for (int i = 0; i < count; i++) {
        struct gf_yuv_encode_picture *const picture = pictures + i;
        picture->size = gf_yuv_frame_bytes(picture->yuv);
        picture->encoded = fits(picture) && bytes + aligned(picture->size) <= encoder->memory_most;
        bytes += picture->encoded ? aligned(picture->size) : 0;
        chosen += picture->encoded;
    }
    if (!chosen)
        return GF_OK;
    GF_TRY(coder_reserve(encoder, bytes, chosen, error));
    GF_TRY(coder_reserve_pinned(encoder, bytes, 0, chosen, error));
    return run(encoder, pictures, count, error);
}

DEFINE_CODER(yuv_encode, prepare_nothing, clear_nothing)
