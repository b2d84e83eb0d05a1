/* HEIC and AVIF on the device: a crew of threads, two for each engine of NVDEC, takes the frames of
 * all pictures one by one, has them decoded and converts them into their pictures. An engine so has
 * the next frame while the last one is converted. */
#include "cuda/heic/coders.h"

#include <pthread.h>
#include <stdio.h>

#include "base/process/machine.h"
#include "base/threads/times.h"
#include "cuda/common/coder.cuh"
#include "cuda/common/launch.cuh"
#include "cuda/heic/nvdec.cuh"
#include "pixel/yuv/heif_colours.h"
#include "pixel/yuv/yuv_formula.h"

/* Converting a frame. */

enum { ALONG = 32, ACROSS = 8 };

/* The part of a frame that is shown. Its pixel (x, y), counted from `left` and `top`, goes to out +
 * x * step + y * row. */
struct part {
    struct gf_heif_colours colours;
    struct gf_yuv yuv; /* of a whole picture of AV1, as to_rgb */
    struct gf_yuv_to_rgb to_rgb;
    struct nvdec_frame frame;
    int left, top, width, height, half; /* half: chroma has half as many columns and rows */
    unsigned char *out;
    ptrdiff_t step, row;
    bool sideways; /* neighbours in a column of the frame are neighbours in a row of the picture */
};

/* Returns the chroma of a pixel of AV1, interpolated as chroma_row() of src/pixel/yuv/yuv.c does.
 */
template <class Sample>
static __device__ __forceinline__ float chroma_at(const struct part &part,
                                                  const unsigned char *plane, int column, int line)
{
    const int last = (part.yuv.width + 1) / 2 - 1, k = column / 2;
    const struct gf_yuv_near rows = gf_yuv_near_of(&part.yuv, (part.yuv.height + 1) / 2, line);
    const struct gf_yuv_widening by = gf_yuv_widening_of(&part.yuv);
    const Sample *const near = (const Sample *)(plane + rows.near * part.frame.pitch),
                        *const far = (const Sample *)(plane + rows.far * part.frame.pitch);
    const auto sum = [&](int at) {
        at = min(max(at, 0), last) * part.frame.chroma_step;
        return gf_yuv_near_sum(rows, near[at] >> part.frame.shift, far[at] >> part.frame.shift);
    };
    return column % 2 ? by.odd * sum(k) + by.odd_after * sum(k + 1)
                      : by.even * sum(k) + by.even_before * sum(k - 1);
}

template <class Sample, bool AV1>
static __global__ void __launch_bounds__(ALONG *ACROSS) convert(const struct part part)
{
    const int along = (int)(blockIdx.x * ALONG + threadIdx.x),
              across = (int)(blockIdx.y * ACROSS + threadIdx.y), x = part.sideways ? across : along,
              y = part.sideways ? along : across;
    if (x >= part.width || y >= part.height)
        return;
    const int column = part.left + x, line = part.top + y;
    const size_t chroma = (size_t)(line >> part.half) * part.frame.pitch;
    const int k = (column >> part.half) * part.frame.chroma_step;
    const Sample *const luma = (const Sample *)(part.frame.luma + (size_t)line * part.frame.pitch),
                        *const u = (const Sample *)(part.frame.u + chroma),
                        *const v = (const Sample *)(part.frame.v + chroma);
    const struct gf_yuv_pixel pixel =
        AV1 ? gf_yuv_pixel_of(&part.to_rgb, luma[column] >> part.frame.shift,
                              chroma_at<Sample>(part, part.frame.u, column, line),
                              chroma_at<Sample>(part, part.frame.v, column, line))
            : gf_heif_pixel_of(&part.colours, luma[column] >> part.frame.shift,
                               u[k] >> part.frame.shift, v[k] >> part.frame.shift);
    Sample *const out = (Sample *)(part.out + x * part.step + y * part.row);
    if (AV1 || sizeof(Sample) == 1) {
        out[0] = (Sample)pixel.red;
        out[1] = (Sample)pixel.green;
        out[2] = (Sample)pixel.blue;
    } else {
        const unsigned most = (unsigned)part.colours.most;
        out[0] = (Sample)gf_heif_widened((unsigned)pixel.red, most);
        out[1] = (Sample)gf_heif_widened((unsigned)pixel.green, most);
        out[2] = (Sample)gf_heif_widened((unsigned)pixel.blue, most);
    }
}

/* Finds which part of a tile, or of the whole picture of AV1, is shown, and where it goes. Returns
 * false if none is. */
static bool find_part(const struct gf_heic_decode_picture *picture, int tile, struct part *part)
{
    const struct gf_heif_coded *const coded = picture->coded;
    const int across = coded->av1 ? coded->width : coded->tile_width,
              down = coded->av1 ? coded->height : coded->tile_height;
    const int wide = picture->out.format.bits == 16;
    const struct gf_heif_placing at =
        gf_heif_coded_placing(coded, wide ? 6 : 3, picture->out.pitch);
    const int x = tile % coded->columns * across, y = tile / coded->columns * down,
              left = max(x, coded->left), top = max(y, coded->top),
              right = min(x + across, coded->left + coded->shown_width),
              bottom = min(y + down, coded->top + coded->shown_height);
    part->left = left - x;
    part->top = top - y;
    part->width = right - left;
    part->height = bottom - top;
    part->half = coded->half_height;
    part->step = at.step;
    part->row = at.row;
    part->sideways = gf_heif_coded_sideways(coded);
    part->out = (unsigned char *)picture->out.data + at.first + (left - coded->left) * at.step +
                (top - coded->top) * at.row;
    return part->width > 0 && part->height > 0;
}

static cudaError_t launch(const struct part &part, bool av1, bool wide, cudaStream_t stream)
{
    const int along = part.sideways ? part.height : part.width,
              across = part.sideways ? part.width : part.height;
    const dim3 threads(ALONG, ACROSS),
        blocks((unsigned)((along + ALONG - 1) / ALONG), (unsigned)((across + ACROSS - 1) / ACROSS));
    const auto kernel = av1    ? wide ? convert<uint16_t, true> : convert<uint8_t, true>
                           : wide ? convert<uint16_t, false>
                               : convert<uint8_t, false>;
    return launch_kernel(kernel, blocks, threads, 0, stream, part);
}

/* The crew. */

enum { ENGINES_MOST = 16, EACH = 2 };

struct member {
    struct gf_heic_decoder *decoder;
    pthread_t thread;
    bool started, waits; /* waits: it has no frame; guarded by the decoder's lock */
    cudaStream_t stream;
    cudaEvent_t ended;
    struct nvdec *nvdec;
    unsigned char *bytes; /* the stream of a frame */
    size_t size;
    /* The present frame. */
    struct gf_heic_decode_picture *picture;
    int tile;
    char why[120]; /* why it has not become a part of its picture; "": it has */
};

struct gf_heic_decoder : coder {
    const char *why; /* why there are no members */
    int members;
    uint64_t bytes_each;   /* of device memory for each member */
    uint64_t planes_bytes; /* of device memory that the planes of grids take */
    struct member member[EACH * ENGINES_MOST];
    pthread_mutex_t lock; /* guards the members below, and the results of pictures */
    pthread_cond_t filled;
    bool ended;
    int alive; /* members that can decode, or may be able to */
    /* The pictures that have frames which no member has taken, and the next one of the first. */
    struct gf_heic_decode_picture *first, **last;
    int next_tile;
    int32_t kind[4]; /* of the frames that makers() was last asked about */
    int makers;
};

static int frames_of(const struct gf_heic_decode_picture *picture)
{
    return picture->coded->columns * picture->coded->rows;
}

/* Returns where the planes of a grid of AV1 lie in its memory, as NVDEC lays them, and their rows.
 */
static struct nvdec_frame planes_of(const struct gf_heic_decode_picture *picture, size_t *rows)
{
    enum { LINE = 256 };
    const struct gf_heif_coded *const coded = picture->coded;
    const size_t sample = coded->bits > 8 ? 2 : 1, height = (size_t)coded->height,
                 pitch = ((size_t)coded->width * sample + LINE) / LINE * LINE;
    unsigned char *const u = picture->planes + pitch * height;
    *rows = height + (height + 1) / 2;
    return {picture->planes, u, u + sample, pitch, 2, sample > 1 ? 16 - coded->bits : 0, 0, false};
}

/* Copies a frame to its place in the planes of a grid. */
static cudaError_t copy_frame(const struct member *member, const struct nvdec_frame *frame)
{
    const struct gf_heif_coded *const coded = member->picture->coded;
    const int x = member->tile % coded->columns * coded->tile_width,
              y = member->tile / coded->columns * coded->tile_height,
              width = min(coded->tile_width, coded->width - x + coded->width % 2),
              height = min(coded->tile_height, coded->height - y);
    size_t rows;
    const struct nvdec_frame to = planes_of(member->picture, &rows);
    const size_t sample = (size_t)(to.v - to.u);
    cudaError_t code = cudaSuccess;
    for (int chroma = 0; chroma < 2 && code == cudaSuccess; chroma++)
        code = cudaMemcpy2DAsync(
            (unsigned char *)(chroma ? to.u : to.luma) + (y >> chroma) * to.pitch + x * sample,
            to.pitch, chroma ? frame->u : frame->luma, frame->pitch, width * sample,
            (size_t)(height + chroma) >> chroma, cudaMemcpyDeviceToDevice, member->stream);
    return code;
}

/* Finds the numbers of a picture of AV1. Returns false if its matrix is unknown. */
static bool find_numbers(const struct gf_heif_coded *coded, struct part *part)
{
    part->yuv = {coded->width, coded->height,    coded->bits,   false,        true,
                 true,         coded->full != 0, GF_YUV_CENTRE, GF_YUV_BT601, false};
    if (!gf_yuv_matrix_of(coded->matrix, &part->yuv.matrix))
        return false;
    part->to_rgb = gf_yuv_to_rgb_of(&part->yuv);
    return true;
}

/* Converts a decoded frame, or the planes of a grid, into the picture. Of a grid of AV1, whose
 * chroma is interpolated across its frames, the frame is copied to the planes. */
static void take_frame(void *context, const struct nvdec_frame *frame)
{
    struct member *const member = (struct member *)context;
    const struct gf_heif_coded *const coded = member->picture->coded;
    const int matrix = coded->matrix < 0 ? frame->matrix : coded->matrix;
    struct part part;
    const bool copies = member->picture->planes && frame->luma != member->picture->planes;
    if (!find_part(member->picture, coded->av1 ? 0 : member->tile, &part))
        return;
    if (coded->av1 ? !find_numbers(coded, &part)
                   : !gf_heif_colours_of(matrix, coded->matrix < 0 ? frame->full : coded->full,
                                         coded->bits, &part.colours)) {
        snprintf(member->why, sizeof member->why, "the frames have the matrix %d", matrix);
        return;
    }
    part.frame = *frame;
    const double begin_s = gf_now();
    cudaError_t code = copies ? copy_frame(member, frame)
                              : launch(part, coded->av1, coded->bits > 8, member->stream);
    GF_THEN(code, gf_cuda_sleep(member->stream, member->ended));
    gf_start_note(GF_START_CONVERTED, begin_s);
    if (code != cudaSuccess) /* a device that is lost fails at the picture's next use of it, too */
        snprintf(member->why, sizeof member->why, "CUDA: %s", cudaGetErrorString(code));
}

/* Decodes the member's frame. Leaves in member->why why it could not. */
static void decode_frame(struct member *member)
{
    const struct gf_heic_decode_picture *const picture = member->picture;
    const size_t most = gf_heif_coded_stream_bytes(picture->coded, member->tile);
    *member->why = '\0';
    if (most > member->size) {
        free(member->bytes);
        member->bytes = (unsigned char *)malloc(most);
        member->size = member->bytes ? most : 0;
    }
    const size_t size = member->bytes ? gf_heif_coded_stream(picture->coded, picture->data,
                                                             member->tile, member->bytes)
                                      : 0;
    const char *why = "a frame has other parts than one intra frame has";
    if (size)
        why = nvdec_decode(member->nvdec, picture->coded, member->bytes, size, take_frame, member);
    if (why)
        snprintf(member->why, sizeof member->why, "%s", why);
}

static int64_t pixels_of(const struct gf_heif_coded *coded)
{
    return (int64_t)coded->tile_width * coded->tile_height;
}

/* Returns how many members, from the first on, may decode: those that have decoders for frames of
 * this kind, and as many more as what is left is worth, a picture or WORTH pixels each: decoders
 * are created one after the other, and creating one takes about as long as decoding 32 megapixels,
 * but the next pictures will need them, too. A large frame keeps an engine busy so long that one
 * member more than there are engines suffices. The caller holds the lock. */
static int makers(struct gf_heic_decoder *decoder)
{
    enum { WORTH = 5 << 20, LARGE = 4 << 20 };
    const struct gf_heif_coded *const coded = decoder->first->coded;
    const int32_t kind[] = {coded->tile_width, coded->tile_height, coded->bits,
                            2 * coded->av1 + coded->half_height};
    int64_t pixels = -decoder->next_tile * pixels_of(coded);
    if (decoder->alive < decoder->members)
        return decoder->members;
    if (memcmp(kind, decoder->kind, sizeof kind) != 0)
        decoder->makers = 1;
    memcpy(decoder->kind, kind, sizeof kind);
    for (const struct gf_heic_decode_picture *picture = decoder->first; picture;
         picture = picture->next)
        pixels += max(frames_of(picture) * pixels_of(picture->coded), (int64_t)WORTH);
    const int most = pixels_of(coded) < LARGE ? decoder->members : decoder->members / EACH + 1;
    decoder->makers = max(decoder->makers, (int)min((int64_t)most, 1 + pixels / WORTH));
    return decoder->makers;
}

/* Whether the frames that are left are for other members: the first ones that wait take them. A
 * single frame so always goes to the same member, which has a decoder for it from the last time.
 * The caller holds the lock. */
static bool is_spare(struct gf_heic_decoder *decoder, const struct member *member)
{
    int waiting = 0, frames = -decoder->next_tile;
    for (const struct member *other = decoder->member; other < member; other++)
        waiting += other->waits;
    for (const struct gf_heic_decode_picture *picture = decoder->first;
         picture && frames <= waiting; picture = picture->next)
        frames += frames_of(picture);
    return frames <= waiting || member - decoder->member >= makers(decoder);
}

/* Takes the first picture off the list. The caller holds the lock. */
static void drop_first(struct gf_heic_decoder *decoder)
{
    decoder->first = decoder->first->next;
    if (!decoder->first)
        decoder->last = &decoder->first;
    decoder->next_tile = 0;
}

/* Gives up a picture that waits for its first frame. The caller holds the lock. */
static void refuse(struct gf_heic_decode_picture *picture, const char *why)
{
    picture->decoded = false;
    snprintf(picture->why, sizeof picture->why, "%s", why);
    picture->ended(picture);
}

/* Converts the planes of a grid of which no frame is left, and frees them. */
static void end_planes(struct member *member)
{
    struct gf_heic_decode_picture *const picture = member->picture;
    size_t rows;
    const struct nvdec_frame planes = planes_of(picture, &rows);
    if (picture->decoded) {
        take_frame(member, &planes);
        picture->decoded = !*member->why;
        memcpy(picture->why, member->why, sizeof member->why);
    }
    cudaFree(picture->planes);
    __atomic_sub_fetch(&member->decoder->planes_bytes, rows * planes.pitch, __ATOMIC_RELAXED);
}

/* Decodes the next frame. The caller holds the lock. */
static void do_frame(struct member *member)
{
    struct gf_heic_decoder *const decoder = member->decoder;
    struct gf_heic_decode_picture *const picture = member->picture = decoder->first;
    member->tile = decoder->next_tile++;
    if (decoder->next_tile == frames_of(picture))
        drop_first(decoder);
    pthread_mutex_unlock(&decoder->lock);
    decode_frame(member);
    pthread_mutex_lock(&decoder->lock);
    if (*member->why) {
        picture->decoded = false;
        memcpy(picture->why, member->why, sizeof member->why);
        if (picture == decoder->first) { /* its other frames are not needed */
            picture->left -= frames_of(picture) - decoder->next_tile;
            drop_first(decoder);
        }
    }
    if (--picture->left)
        return;
    pthread_mutex_unlock(&decoder->lock);
    if (picture->planes)
        end_planes(member);
    picture->ended(picture);
    pthread_mutex_lock(&decoder->lock);
}

static const char no_member[] = "no thread of NVDEC could start";

/* The main function of the crew's threads. */
static void *work(void *argument)
{
    struct member *const member = (struct member *)argument;
    struct gf_heic_decoder *const decoder = member->decoder;
    if (cudaSetDevice(gf_device_ordinal(decoder->device)) == cudaSuccess &&
        cudaFree(NULL) == cudaSuccess &&
        cudaStreamCreateWithFlags(&member->stream, cudaStreamNonBlocking) == cudaSuccess &&
        cudaEventCreateWithFlags(&member->ended, cudaEventBlockingSync | cudaEventDisableTiming) ==
            cudaSuccess)
        member->nvdec = nvdec_open(decoder->bytes_each, member->stream);
    pthread_mutex_lock(&decoder->lock);
    decoder->alive -= !member->nvdec;
    while (decoder->first && !decoder->alive) {
        struct gf_heic_decode_picture *const picture = decoder->first;
        drop_first(decoder);
        refuse(picture, no_member);
    }
    if (!member->nvdec) /* nothing is spare any more */
        pthread_cond_broadcast(&decoder->filled);
    while (member->nvdec && (decoder->first || !decoder->ended)) {
        member->waits = !decoder->first || (!decoder->ended && is_spare(decoder, member));
        if (member->waits)
            pthread_cond_wait(&decoder->filled, &decoder->lock);
        else
            do_frame(member);
    }
    pthread_mutex_unlock(&decoder->lock);
    nvdec_close(member->nvdec);
    free(member->bytes);
    if (member->ended)
        cudaEventDestroy(member->ended);
    if (member->stream)
        cudaStreamDestroy(member->stream);
    return NULL;
}

static enum gf_status prepare(struct gf_heic_decoder *decoder, struct gf_error *)
{
    pthread_mutex_init(&decoder->lock, NULL);
    pthread_cond_init(&decoder->filled, NULL);
    decoder->last = &decoder->first;
    /* What a decoder of frames of 12 megapixels takes, and some more. */
    enum { BYTES_LEAST = 160 << 20 };
    int members = EACH * min(nvdec_engines(&decoder->why), ENGINES_MOST);
    while (members > 1 && decoder->memory_most / (unsigned)members < BYTES_LEAST)
        members--;
    decoder->bytes_each = members ? decoder->memory_most / (unsigned)members : 0;
    decoder->members = decoder->alive = members;
    for (int i = 0; i < members; i++) {
        struct member *const member = &decoder->member[i];
        member->decoder = decoder;
        member->started = !pthread_create(&member->thread, NULL, work, member);
        pthread_mutex_lock(&decoder->lock);
        decoder->alive -= !member->started;
        pthread_mutex_unlock(&decoder->lock);
    }
    return GF_OK;
}

static void clear(struct gf_heic_decoder *decoder)
{
    pthread_mutex_lock(&decoder->lock);
    decoder->ended = true;
    pthread_cond_broadcast(&decoder->filled);
    pthread_mutex_unlock(&decoder->lock);
    for (int i = 0; i < EACH * ENGINES_MOST; i++) {
        if (decoder->member[i].started)
            pthread_join(decoder->member[i].thread, NULL);
    }
    pthread_cond_destroy(&decoder->filled);
    pthread_mutex_destroy(&decoder->lock);
}

static bool fits(const struct gf_heic_decode_picture *picture)
{
    const struct gf_format format = gf_heif_coded_format(picture->coded);
    return !memcmp(&format, &picture->out.format, sizeof format) && picture->out.y == 0 &&
           picture->out.rows == format.height && gf_heif_coded_suits_device(picture->coded);
}

/* Takes memory for the planes of a grid of AV1. All of them have an eighth of the decoder's. */
static bool take_planes(struct gf_heic_decoder *decoder, struct gf_heic_decode_picture *picture)
{
    enum { PART = 8 };
    size_t rows;
    const size_t pitch = planes_of(picture, &rows).pitch, bytes = rows * pitch;
    if (!picture->coded->av1 || frames_of(picture) == 1)
        return true;
    if (__atomic_load_n(&decoder->planes_bytes, __ATOMIC_RELAXED) + bytes >
            decoder->memory_most / PART ||
        cudaMalloc((void **)&picture->planes, bytes) != cudaSuccess)
        return false;
    __atomic_add_fetch(&decoder->planes_bytes, bytes, __ATOMIC_RELAXED);
    return true;
}

extern "C" enum gf_status gf_heic_decoder_run(struct gf_heic_decoder *decoder,
                                              struct gf_heic_decode_picture *pictures, int count,
                                              struct gf_error *)
{
    pthread_mutex_lock(&decoder->lock);
    for (struct gf_heic_decode_picture *picture = pictures; picture < pictures + count; picture++) {
        picture->planes = NULL;
        const char *const why = !decoder->members ? decoder->why
                                : !decoder->alive ? no_member
                                : !fits(picture)  ? "it is not what its description says"
                                : !take_planes(decoder, picture)
                                    ? "there is no memory for the planes of a grid"
                                    : NULL;
        if (why) {
            refuse(picture, why);
            continue;
        }
        *picture->why = '\0';
        picture->decoded = true;
        picture->left = frames_of(picture);
        picture->next = NULL;
        *decoder->last = picture;
        decoder->last = &picture->next;
    }
    pthread_cond_broadcast(&decoder->filled);
    pthread_mutex_unlock(&decoder->lock);
    return GF_OK;
}

/* Returns what a decoder of NVDEC takes with four surfaces, or ten for AV1, and one for its
 * output. */
extern "C" uint64_t gf_heic_decoder_bytes(const struct gf_heif_coded *coded)
{
    enum { SURFACES = 5, OF_AV1 = 11 };
    return (uint64_t)coded->tile_width * (uint64_t)coded->tile_height *
           (coded->av1 ? OF_AV1 : SURFACES) * (coded->bits > 8 ? 2 : 1) *
           (coded->half_height ? 3 : 6) / 2;
}

extern "C" bool gf_heic_decoder_present(void)
{
    return nvdec_present();
}

extern "C" bool gf_heic_decoder_takes_av1(const struct gf_heif_coded *coded)
{
    return nvdec_takes_av1(coded);
}

extern "C" int gf_heic_decoder_engines(int device)
{
    const char *why;
    return cudaSetDevice(gf_device_ordinal(device)) == cudaSuccess ? nvdec_engines(&why) : 0;
}

DEFINE_CODER(heic_decode, prepare, clear)
