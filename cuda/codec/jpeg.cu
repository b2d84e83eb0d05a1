/* nvJPEG behind jpeg_device.h. Each device has one thread that decodes: it takes the pictures that
 * wait, up to a group, and gives them to the hardware's engines at once. All groups use one decoder
 * state, which takes a third of a second to create, but no time to change to another number of
 * pictures. */
#include <cuda_runtime.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/codec/nvjpeg.cuh"
#include "cuda/common/check.cuh"
#include "engine/jpeg_device.h"

#ifdef GF_HAS_NVJPEG

/* An engine decodes one picture at a time. A group is a few rounds of the engines; larger groups
 * would let the callers come and go all at once. Without engines kernels decode the pictures. */
enum { ROUNDS = 4, GROUP_MOST = 64, GROUP_OF_KERNELS = 16, DEVICES_MOST = 64, SIDE_MOST = 16384 };
/* Two keep the device busy; a third fills the gaps. */
enum { LEASES = 3 };

/* The picture of one caller. */
struct request {
    struct request *next;
    const unsigned char *data;
    size_t size;
    nvjpegImage_t image;
    nvjpegOutputFormat_t format;
    bool done, declined;
    pthread_cond_t answered; /* one for each request, so that an answer wakes only its caller */
};

/* Each lease has an encoder of its own, which is created when first used, in 11 ms. */
struct gf_jpeg_lease {
    bool taken;
    cudaStream_t stream;
    nvjpegEncoderState_t state;
    nvjpegEncoderParams_t params;
};

struct gf_jpeg_device {
    int device, users;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t started_now, wanted, lease_returned;
    struct request *first, **last; /* waiting */
    bool started, ended;
    enum gf_status status;
    struct gf_error error;
    struct nvjpeg_functions call;
    nvjpegHandle_t handle;
    cudaStream_t stream;
    nvjpegJpegState_t state;
    int state_count; /* of pictures and their format, that the state is set for */
    nvjpegOutputFormat_t state_format;
    int engines, group; /* engines: 0: none */
    struct gf_jpeg_lease lease[LEASES];
};

static pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;
static struct gf_jpeg_device *registry[DEVICES_MOST];

/* ---- start ---- */

/* Chroma is interpolated as libjpeg does it, where nvJPEG knows how: the pictures are the same
 * then, but for a level here and there. */
static bool create_handle(struct gf_jpeg_device *codec, bool *hardware)
{
    static const struct {
        nvjpegBackend_t backend;
        unsigned flags;
    } attempts[] = {{NVJPEG_BACKEND_HARDWARE, NVJPEG_FLAGS_UPSAMPLING_WITH_INTERPOLATION},
                    {NVJPEG_BACKEND_GPU_HYBRID, NVJPEG_FLAGS_UPSAMPLING_WITH_INTERPOLATION},
                    {NVJPEG_BACKEND_HARDWARE, NVJPEG_FLAGS_DEFAULT},
                    {NVJPEG_BACKEND_GPU_HYBRID, NVJPEG_FLAGS_DEFAULT}};
    for (size_t i = 0; i < sizeof attempts / sizeof *attempts; i++) {
        *hardware = attempts[i].backend == NVJPEG_BACKEND_HARDWARE;
        if (!codec->call.CreateEx(attempts[i].backend, NULL, NULL, attempts[i].flags,
                                  &codec->handle))
            return true;
    }
    codec->handle = NULL;
    return false;
}

static int count_engines(const struct gf_jpeg_device *codec)
{
    unsigned engines = 0, cores = 0;
    if (!codec->call.engines || codec->call.engines(codec->handle, &engines, &cores))
        return 0;
    return (int)(engines * cores);
}

static enum gf_status start(struct gf_jpeg_device *codec, struct gf_error *error)
{
    GF_CUDA_TRY(cudaSetDevice(codec->device), codec->device, error);
    if (!load_nvjpeg(&codec->call))
        return gf_fail(error, GF_ERROR_UNAVAILABLE, "nvJPEG is not here (libnvjpeg.so.%d)",
                       CUDART_VERSION / 1000);
    bool hardware;
    if (!create_handle(codec, &hardware))
        return gf_fail(error, GF_ERROR_UNAVAILABLE, "nvJPEG does not start on cuda:%d",
                       codec->device);
    GF_CUDA_TRY(cudaStreamCreateWithFlags(&codec->stream, cudaStreamNonBlocking), codec->device,
                error);
    if (codec->call.JpegStateCreate(codec->handle, &codec->state)) {
        codec->state = NULL;
        return gf_fail(error, GF_ERROR_UNAVAILABLE, "nvJPEG has no decoder on cuda:%d",
                       codec->device);
    }
    codec->engines = hardware ? count_engines(codec) : 0;
    codec->group = codec->engines ? ROUNDS * codec->engines : GROUP_OF_KERNELS;
    codec->group = codec->group < GROUP_MOST ? codec->group : GROUP_MOST;
    return GF_OK;
}

/* ---- decoding ---- */

static bool decode_group(struct gf_jpeg_device *codec, struct request *const *group, int count)
{
    const unsigned char *data[GROUP_MOST];
    size_t size[GROUP_MOST];
    nvjpegImage_t image[GROUP_MOST];
    const nvjpegOutputFormat_t format = group[0]->format;
    for (int i = 0; i < count; i++) {
        data[i] = group[i]->data;
        size[i] = group[i]->size;
        image[i] = group[i]->image;
    }
    if (codec->state_count != count || codec->state_format != format) {
        codec->state_count = 0; /* until it is set */
        if (codec->call.DecodeBatchedInitialize(codec->handle, codec->state, count, 1, format))
            return false;
        codec->state_count = count;
        codec->state_format = format;
    }
    const nvjpegStatus_t status =
        codec->call.DecodeBatched(codec->handle, codec->state, data, size, image, codec->stream);
    const bool decoded = cudaStreamSynchronize(codec->stream) == cudaSuccess && !status;
    if (!decoded)
        codec->state_count = 0;
    return decoded;
}

/* If a group fails, each of its pictures is tried alone. */
static void decode(struct gf_jpeg_device *codec, struct request *const *group, int count)
{
    if (decode_group(codec, group, count))
        return;
    for (int i = 0; i < count; i++)
        group[i]->declined = count == 1 || !decode_group(codec, group + i, 1);
}

/* Takes pictures of one output format from the head of the queue and returns their number. More
 * than one round is cut to full rounds of the engines. */
static int take_group(struct gf_jpeg_device *codec, struct request **group)
{
    int count = 0;
    for (struct request *at = codec->first;
         at && count < codec->group && at->format == codec->first->format; at = at->next)
        count++;
    if (codec->engines && count > codec->engines)
        count -= count % codec->engines;
    for (int i = 0; i < count; i++) {
        group[i] = codec->first;
        codec->first = codec->first->next;
    }
    if (!codec->first)
        codec->last = &codec->first;
    return count;
}

static void answer(struct request *const *group, int count)
{
    for (int i = 0; i < count; i++) {
        group[i]->done = true;
        pthread_cond_signal(&group[i]->answered);
    }
}

static void serve(struct gf_jpeg_device *codec)
{
    struct request *group[GROUP_MOST];
    pthread_mutex_lock(&codec->lock);
    for (;;) {
        while (!codec->first && !codec->ended)
            pthread_cond_wait(&codec->wanted, &codec->lock);
        if (!codec->first)
            break;
        const int count = take_group(codec, group);
        pthread_mutex_unlock(&codec->lock);
        decode(codec, group, count);
        pthread_mutex_lock(&codec->lock);
        answer(group, count);
    }
    pthread_mutex_unlock(&codec->lock);
}

extern "C" bool gf_jpeg_device_likely(void)
{
    return open_nvjpeg() != NULL;
}

extern "C" enum gf_status gf_jpeg_device_engines(struct gf_jpeg_device *codec, int *engines,
                                                 struct gf_error *error)
{
    pthread_mutex_lock(&codec->lock);
    while (!codec->started)
        pthread_cond_wait(&codec->started_now, &codec->lock);
    pthread_mutex_unlock(&codec->lock);
    *engines = codec->engines;
    if (codec->status)
        *error = codec->error;
    return codec->status;
}

extern "C" bool gf_jpeg_device_takes(const struct gf_jpeg_info *info)
{
    return info->width <= SIDE_MOST && info->height <= SIDE_MOST;
}

extern "C" enum gf_status gf_jpeg_device_decode(struct gf_jpeg_device *codec, unsigned char *data,
                                                const struct gf_jpeg_info *info,
                                                const struct gf_view *out, struct gf_error *error)
{
    struct request request;
    memset(&request, 0, sizeof request);
    /* The start marker again, before the first segment that is wanted. */
    data[info->tables - 2] = 0xff;
    data[info->tables - 1] = 0xd8;
    request.data = data + info->tables - 2;
    request.size = info->end - info->tables + 2;
    request.format = info->components == 1 ? NVJPEG_OUTPUT_Y : NVJPEG_OUTPUT_RGBI;
    request.image.channel[0] = out->data;
    request.image.pitch[0] = out->pitch;
    pthread_cond_init(&request.answered, NULL);
    pthread_mutex_lock(&codec->lock);
    *codec->last = &request;
    codec->last = &request.next;
    pthread_cond_signal(&codec->wanted);
    while (!request.done)
        pthread_cond_wait(&request.answered, &codec->lock);
    pthread_mutex_unlock(&codec->lock);
    pthread_cond_destroy(&request.answered);
    return request.declined ? gf_fail(error, GF_ERROR_INPUT, "nvJPEG declines it") : GF_OK;
}

/* ---- encoding ---- */

static enum gf_status fail_call(struct gf_error *error, const char *call, nvjpegStatus_t status)
{
    return gf_fail(
        error, status == NVJPEG_STATUS_ALLOCATOR_FAILURE ? GF_ERROR_DEVICE_MEMORY : GF_ERROR_DEVICE,
        "nvJPEG: %s fails (status %d)", call, (int)status);
}

#define TRY_NVJPEG(codec, name, ...) \
    do { \
        const nvjpegStatus_t nvjpeg_status_ = (codec)->call.name(__VA_ARGS__); \
        if (nvjpeg_status_) \
            return fail_call(error, #name, nvjpeg_status_); \
    } while (0)

static enum gf_status open_encoder(struct gf_jpeg_device *codec, struct gf_jpeg_lease *lease,
                                   struct gf_error *error)
{
    if (lease->params)
        return GF_OK;
    if (!lease->stream)
        GF_CUDA_TRY(cudaStreamCreateWithFlags(&lease->stream, cudaStreamNonBlocking), codec->device,
                    error);
    if (!lease->state)
        TRY_NVJPEG(codec, EncoderStateCreate, codec->handle, &lease->state, lease->stream);
    TRY_NVJPEG(codec, EncoderParamsCreate, codec->handle, &lease->params, lease->stream);
    return GF_OK;
}

static void close_encoder(struct gf_jpeg_device *codec, struct gf_jpeg_lease *lease)
{
    if (lease->params)
        codec->call.EncoderParamsDestroy(lease->params);
    if (lease->state)
        codec->call.EncoderStateDestroy(lease->state);
    if (lease->stream)
        cudaStreamDestroy(lease->stream);
}

static enum gf_status encode(struct gf_jpeg_device *codec, struct gf_jpeg_lease *lease,
                             const struct gf_view *in, const struct gf_options *options,
                             struct gf_error *error)
{
    static const nvjpegChromaSubsampling_t samplings[] = {NVJPEG_CSS_420, NVJPEG_CSS_422,
                                                          NVJPEG_CSS_444};
    const bool gray = in->format.channels == 1;
    const nvjpegChromaSubsampling_t sampling =
        gray ? NVJPEG_CSS_GRAY : samplings[options->subsampling];
    nvjpegImage_t image;
    memset(&image, 0, sizeof image);
    image.channel[0] = in->data;
    image.pitch[0] = in->pitch;
    TRY_NVJPEG(codec, EncoderParamsSetQuality, lease->params, options->quality, lease->stream);
    TRY_NVJPEG(codec, EncoderParamsSetSamplingFactors, lease->params, sampling, lease->stream);
    if (gray)
        TRY_NVJPEG(codec, EncodeYUV, codec->handle, lease->state, lease->params, &image,
                   NVJPEG_CSS_GRAY, in->format.width, in->format.height, lease->stream);
    else
        TRY_NVJPEG(codec, EncodeImage, codec->handle, lease->state, lease->params, &image,
                   NVJPEG_INPUT_RGBI, in->format.width, in->format.height, lease->stream);
    return GF_OK;
}

extern "C" enum gf_status gf_jpeg_device_encode(struct gf_jpeg_device *codec,
                                                struct gf_jpeg_lease *lease,
                                                const struct gf_view *in,
                                                const struct gf_options *options, size_t *size,
                                                struct gf_error *error)
{
    enum gf_status status = open_encoder(codec, lease, error);
    if (!status)
        status = encode(codec, lease, in, options, error);
    if (status)
        return status;
    TRY_NVJPEG(codec, EncodeRetrieveBitstream, codec->handle, lease->state, NULL, size,
               lease->stream);
    return GF_OK;
}

extern "C" enum gf_status gf_jpeg_device_fetch(struct gf_jpeg_device *codec,
                                               struct gf_jpeg_lease *lease, void *data, size_t size,
                                               struct gf_error *error)
{
    TRY_NVJPEG(codec, EncodeRetrieveBitstream, codec->handle, lease->state, (unsigned char *)data,
               &size, lease->stream);
    GF_CUDA_TRY(cudaStreamSynchronize(lease->stream), codec->device, error);
    return GF_OK;
}

/* ---- leases ---- */

static struct gf_jpeg_lease *free_lease(struct gf_jpeg_device *codec)
{
    for (int i = 0; i < LEASES; i++) {
        if (!codec->lease[i].taken)
            return &codec->lease[i];
    }
    return NULL;
}

extern "C" struct gf_jpeg_lease *gf_jpeg_lease_acquire(struct gf_jpeg_device *codec)
{
    struct gf_jpeg_lease *lease;
    pthread_mutex_lock(&codec->lock);
    while (!(lease = free_lease(codec)))
        pthread_cond_wait(&codec->lease_returned, &codec->lock);
    lease->taken = true;
    pthread_mutex_unlock(&codec->lock);
    return lease;
}

extern "C" void gf_jpeg_lease_release(struct gf_jpeg_device *codec, struct gf_jpeg_lease *lease)
{
    pthread_mutex_lock(&codec->lock);
    lease->taken = false;
    pthread_cond_signal(&codec->lease_returned);
    pthread_mutex_unlock(&codec->lock);
}

/* ---- one codec for each device ---- */

static void *codec_main(void *argument)
{
    struct gf_jpeg_device *const codec = (struct gf_jpeg_device *)argument;
    struct gf_error error;
    memset(&error, 0, sizeof error);
    const enum gf_status status = start(codec, &error);
    pthread_mutex_lock(&codec->lock);
    codec->status = status;
    codec->error = error;
    codec->started = true;
    pthread_cond_broadcast(&codec->started_now);
    pthread_mutex_unlock(&codec->lock);
    if (!status)
        serve(codec);
    if (codec->state)
        codec->call.JpegStateDestroy(codec->state);
    for (int i = 0; i < LEASES; i++)
        close_encoder(codec, &codec->lease[i]);
    if (codec->stream)
        cudaStreamDestroy(codec->stream);
    if (codec->handle)
        codec->call.Destroy(codec->handle);
    return NULL;
}

static struct gf_jpeg_device *create(int device)
{
    struct gf_jpeg_device *const codec = (struct gf_jpeg_device *)calloc(1, sizeof *codec);
    if (!codec)
        return NULL;
    codec->device = device;
    codec->last = &codec->first;
    pthread_mutex_init(&codec->lock, NULL);
    pthread_cond_init(&codec->started_now, NULL);
    pthread_cond_init(&codec->wanted, NULL);
    pthread_cond_init(&codec->lease_returned, NULL);
    if (!pthread_create(&codec->thread, NULL, codec_main, codec))
        return codec;
    free(codec);
    return NULL;
}

extern "C" enum gf_status gf_jpeg_device_open(int device, struct gf_jpeg_device **codec,
                                              struct gf_error *error)
{
    if (device < 0 || device >= DEVICES_MOST)
        return gf_fail(error, GF_ERROR_UNAVAILABLE, "cuda:%d: no such device", device);
    pthread_mutex_lock(&registry_lock);
    if (!registry[device])
        registry[device] = create(device);
    *codec = registry[device];
    if (*codec)
        (*codec)->users++;
    pthread_mutex_unlock(&registry_lock);
    return *codec ? GF_OK : gf_fail(error, GF_ERROR_MEMORY, "cannot start a thread");
}

extern "C" void gf_jpeg_device_close(struct gf_jpeg_device *codec)
{
    if (!codec)
        return;
    pthread_mutex_lock(&registry_lock);
    const bool last = !--codec->users;
    if (last)
        registry[codec->device] = NULL;
    pthread_mutex_unlock(&registry_lock);
    if (!last)
        return;
    pthread_mutex_lock(&codec->lock);
    codec->ended = true;
    pthread_cond_signal(&codec->wanted);
    pthread_mutex_unlock(&codec->lock);
    pthread_join(codec->thread, NULL);
    pthread_cond_destroy(&codec->lease_returned);
    pthread_cond_destroy(&codec->wanted);
    pthread_cond_destroy(&codec->started_now);
    pthread_mutex_destroy(&codec->lock);
    free(codec);
}

#else
#include "engine/jpeg_device_none.h"
#endif
