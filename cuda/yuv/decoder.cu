/* Frames of YCbCr become pictures. A frame is copied as it is, and one launch converts it. */
#include "cuda/yuv/coders.h"

#include "cuda/yuv/frame.cuh"

struct gf_yuv_decoder : coder {
};

struct job {
    struct gf_yuv yuv;
    struct gf_yuv_to_rgb to;
    const void *plane[3];
    int chroma_width, chroma_height;
    unsigned char *out;
    size_t pitch;
};

/* Sets sums to the chroma of a thread's four pixels, interpolated between the samples of a
 * plane. */
template <class Sample>
static __device__ __forceinline__ void widen(const struct job &job, int plane, struct place at,
                                             float sums[COLUMNS])
{
    const struct gf_yuv_near rows = gf_yuv_near_of(&job.yuv, job.chroma_height, at.row);
    const struct gf_yuv_widening by = gf_yuv_widening_of(&job.yuv);
    const Sample *const first = (const Sample *)job.plane[plane],
                        *const near = first + (size_t)rows.near * job.chroma_width,
                        *const far = first + (size_t)rows.far * job.chroma_width;
    const auto sum = [=](int k) {
        k = clamped(k, job.chroma_width);
        return gf_yuv_near_sum(rows, near[k], far[k]);
    };
    if (!job.yuv.half_width) {
        for (int i = 0; i < COLUMNS; i++)
            sums[i] = by.even * sum(at.x + i);
        return;
    }
    const int k = at.x / 2;
    const float before = sum(k - 1), left = sum(k), right = sum(k + 1), after = sum(k + 2);
    sums[0] = by.even * left + by.even_before * before;
    sums[1] = by.odd * left + by.odd_after * right;
    sums[2] = by.even * right + by.even_before * left;
    sums[3] = by.odd * right + by.odd_after * after;
}

template <class Sample> static __global__ void to_gray(const struct job job)
{
    const struct place at = own_place(job.yuv.width);
    if (at.x >= job.yuv.width || at.row >= job.yuv.height)
        return;
    const Sample *const luma = (const Sample *)job.plane[0] + (size_t)at.row * job.yuv.width;
    struct samples<Sample> gray;
#pragma unroll
    for (int i = 0; i < COLUMNS; i++)
        gray.of[i] = gf_yuv_gray_of(&job.to, luma[clamped(at.x + i, job.yuv.width)]);
    store((Sample *)(job.out + at.row * job.pitch) + at.x, gray, job.yuv.width - at.x);
}

template <class Sample> static __global__ void to_rgb(const struct job job)
{
    const struct place at = own_place(job.yuv.width);
    if (at.x >= job.yuv.width || at.row >= job.yuv.height)
        return;
    const Sample *const luma = (const Sample *)job.plane[0] + (size_t)at.row * job.yuv.width;
    float u[COLUMNS], v[COLUMNS];
    widen<Sample>(job, 1, at, u);
    widen<Sample>(job, 2, at, v);
    union {
        Sample of[3 * COLUMNS];
        struct samples<Sample> part[3];
    } rgb;
#pragma unroll
    for (int i = 0; i < COLUMNS; i++) {
        const struct gf_yuv_pixel pixel =
            gf_yuv_pixel_of(&job.to, luma[clamped(at.x + i, job.yuv.width)], u[i], v[i]);
        rgb.of[3 * i] = pixel.red;
        rgb.of[3 * i + 1] = pixel.green;
        rgb.of[3 * i + 2] = pixel.blue;
    }
    Sample *const row = (Sample *)(job.out + at.row * job.pitch) + 3 * at.x;
    const int count = 3 * (job.yuv.width - at.x);
#pragma unroll
    for (int k = 0; k < 3; k++)
        store(row + k * COLUMNS, rgb.part[k], count - k * COLUMNS);
}

template <class Sample> static cudaError_t launch(const struct job &job, cudaStream_t stream)
{
    const unsigned blocks = blocks_of(job.yuv.width, job.yuv.height);
    const dim3 threads(BLOCK_ACROSS, BLOCK_DOWN);
    return launch_kernel(job.yuv.mono ? to_gray<Sample> : to_rgb<Sample>, blocks, threads, 0,
                         stream, job);
}

static cudaError_t convert(const struct gf_yuv_decode_picture *picture, unsigned char *planes,
                           cudaStream_t stream)
{
    const struct gf_yuv_planes layout = gf_yuv_planes_of(picture->yuv);
    struct job job;
    job.yuv = *picture->yuv;
    job.to = gf_yuv_to_rgb_of(picture->yuv);
    job.chroma_width = (int)layout.chroma_width;
    job.chroma_height = (int)layout.chroma_height;
    job.out = picture->out.data;
    job.pitch = picture->out.pitch;
    for (int i = 0; i < 3; i++)
        job.plane[i] = planes + layout.first[i] * layout.sample_bytes;
    return layout.sample_bytes == 2 ? launch<uint16_t>(job, stream) : launch<uint8_t>(job, stream);
}

static bool fits(const struct gf_yuv_decode_picture *picture)
{
    const struct gf_format format = picture->out.format;
    const struct gf_yuv *const yuv = picture->yuv;
    return format.width == yuv->width && format.height == yuv->height &&
           format.channels == (yuv->mono ? 1 : 3) && format.bits == (yuv->bits > 8 ? 16 : 8) &&
           picture->out.y == 0 && picture->out.rows == format.height;
}

static enum gf_status upload(const struct gf_yuv_decoder *decoder,
                             const struct gf_yuv_decode_picture *pictures, int count,
                             struct gf_error *error)
{
    struct coder_copies copies;
    uint64_t at = 0;
    copies.count = 0;
    for (int i = 0; i < count; i++) {
        const size_t bytes = gf_yuv_frame_bytes(pictures[i].yuv);
        if (!pictures[i].decoded)
            continue;
        CODER_TRY(decoder,
                  coder_copy(decoder, &copies, decoder->memory + at, pictures[i].data, bytes));
        at += aligned(bytes);
    }
    CODER_TRY(decoder, coder_queue_copies(decoder, &copies));
    return GF_OK;
}

static enum gf_status run(const struct gf_yuv_decoder *decoder,
                          const struct gf_yuv_decode_picture *pictures, int count,
                          struct gf_error *error)
{
    uint64_t at = 0;
    CODER_TRY(decoder, coder_mark(decoder, 0, decoder->stream));
    GF_TRY(upload(decoder, pictures, count, error));
    CODER_TRY(decoder, coder_mark(decoder, 1, decoder->stream));
    for (int i = 0; i < count; i++) {
        if (!pictures[i].decoded)
            continue;
        CODER_TRY(decoder, convert(pictures + i, decoder->memory + at, decoder->stream));
        at += aligned(gf_yuv_frame_bytes(pictures[i].yuv));
    }
    CODER_TRY(decoder, coder_mark(decoder, 2, decoder->stream));
    CODER_TRY(decoder, coder_wait(decoder));
    return coder_add_times(decoder, error);
}

extern "C" enum gf_status gf_yuv_decoder_run(struct gf_yuv_decoder *decoder,
                                             struct gf_yuv_decode_picture *pictures, int count,
                                             struct gf_error *error)
{
    uint64_t bytes = 0;
    int chosen = 0;
    coder_begin_times(decoder);
    for (int i = 0; i < count; i++) {
        const uint64_t own = aligned(gf_yuv_frame_bytes(pictures[i].yuv));
        pictures[i].decoded = fits(pictures + i) && bytes + own <= decoder->memory_most;
        bytes += pictures[i].decoded ? own : 0;
        chosen += pictures[i].decoded;
    }
    if (!chosen)
        return GF_OK;
    enum gf_status status = coder_reserve(decoder, bytes, chosen, error);
    GF_THEN(status, run(decoder, pictures, count, error));
    if (status) /* the caller may free the frames after this call */
        (void)cudaStreamSynchronize(decoder->stream);
    return status;
}

DEFINE_CODER(yuv_decode, prepare_nothing, clear_nothing)
