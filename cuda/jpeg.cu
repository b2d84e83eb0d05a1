/* nvJPEG behind jpeg_device.h. One thread of each device decodes: it takes whatever pictures are waiting, up to a
 * group, and gives them to the hardware decoder at once. */
#include <cuda_runtime.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "check.cuh"
#include "jpeg_device.h"
#include "nvjpeg.cuh"

#ifdef GF_HAS_NVJPEG

/* Groups are of a power of two, since a decoder's state is made for one number of pictures. */
enum { GROUP_LOG_MOST = 6, GROUP_MOST = 1 << GROUP_LOG_MOST, DEVICES_MOST = 64, SIDE_MOST = 16384 };
/* More at once are slower, and the first use of each takes 11 ms. */
enum { ENCODERS = 4 };

/* One caller's picture. */
struct request {
    struct request *next;
    const unsigned char *data;
    size_t size;
    nvjpegImage_t image;
    nvjpegOutputFormat_t format;
    bool done, declined;
    pthread_cond_t answered; /* of its own: an answer wakes nobody else */
};

struct decoder {
    nvjpegJpegState_t state;
    nvjpegOutputFormat_t format; /* that it is initialised for */
};

struct encoder {
    cudaStream_t stream;
    nvjpegEncoderState_t state;
    nvjpegEncoderParams_t params;
    bool busy;
};

struct gf_jpeg_device {
    int device, users;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t started_now, wanted, encoder_freed;
    struct request *first, **last; /* waiting */
    bool started, ended;
    enum gf_status status;
    struct gf_error error;
    struct nvjpeg_functions call;
    nvjpegHandle_t handle;
    cudaStream_t stream;
    struct decoder decoder[GROUP_LOG_MOST + 1];
    struct encoder encoder[ENCODERS];
};

static pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;
static struct gf_jpeg_device *registry[DEVICES_MOST];

/* ---- start ---- */

static enum gf_status start(struct gf_jpeg_device *codec, struct gf_error *error)
{
    GF_CUDA_TRY(cudaSetDevice(codec->device), codec->device, error);
    if (!load_nvjpeg(&codec->call))
        return gf_fail(error, GF_ERROR_UNAVAILABLE, "nvJPEG is not here (libnvjpeg.so.%d)", CUDART_VERSION / 1000);
    if (codec->call.CreateEx(NVJPEG_BACKEND_HARDWARE, NULL, NULL, NVJPEG_FLAGS_DEFAULT, &codec->handle) &&
        codec->call.CreateEx(NVJPEG_BACKEND_GPU_HYBRID, NULL, NULL, NVJPEG_FLAGS_DEFAULT, &codec->handle))
        return gf_fail(error, GF_ERROR_UNAVAILABLE, "nvJPEG does not start on cuda:%d", codec->device);
    GF_CUDA_TRY(cudaStreamCreateWithFlags(&codec->stream, cudaStreamNonBlocking), codec->device, error);
    return GF_OK;
}

/* ---- decoding ---- */

static bool prepare_decoder(struct gf_jpeg_device *codec, int log, nvjpegOutputFormat_t format)
{
    struct decoder *const decoder = &codec->decoder[log];
    if (!decoder->state && codec->call.JpegStateCreate(codec->handle, &decoder->state)) {
        decoder->state = NULL;
        return false;
    }
    if (decoder->format == format)
        return true;
    decoder->format = NVJPEG_OUTPUT_UNCHANGED; /* until it is */
    if (codec->call.DecodeBatchedInitialize(codec->handle, decoder->state, 1 << log, 1, format))
        return false;
    decoder->format = format;
    return true;
}

static bool decode_group(struct gf_jpeg_device *codec, struct request *const *group, int log)
{
    const unsigned char *data[GROUP_MOST];
    size_t size[GROUP_MOST];
    nvjpegImage_t image[GROUP_MOST];
    for (int i = 0; i < 1 << log; i++) {
        data[i] = group[i]->data;
        size[i] = group[i]->size;
        image[i] = group[i]->image;
    }
    if (!prepare_decoder(codec, log, group[0]->format))
        return false;
    const nvjpegStatus_t status = codec->call.DecodeBatched(codec->handle, codec->decoder[log].state, data, size,
                                                            image, codec->stream);
    return cudaStreamSynchronize(codec->stream) == cudaSuccess && !status;
}

/* Of a group that fails each picture is tried alone. */
static void decode(struct gf_jpeg_device *codec, struct request *const *group, int log)
{
    if (decode_group(codec, group, log))
        return;
    for (int i = 0; i < 1 << log; i++)
        group[i]->declined = log == 0 || !decode_group(codec, group + i, 0);
}

/* Takes the pictures of one output format from the head of the queue: a power of two of them. */
static int take_group(struct gf_jpeg_device *codec, struct request **group)
{
    int count = 0, log = 0;
    for (struct request *at = codec->first; at && count < GROUP_MOST && at->format == codec->first->format; at = at->next)
        count++;
    while (2 << log <= count)
        log++;
    for (int i = 0; i < 1 << log; i++) {
        group[i] = codec->first;
        codec->first = codec->first->next;
    }
    if (!codec->first)
        codec->last = &codec->first;
    return log;
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
        const int log = take_group(codec, group);
        pthread_mutex_unlock(&codec->lock);
        decode(codec, group, log);
        pthread_mutex_lock(&codec->lock);
        answer(group, 1 << log);
    }
    pthread_mutex_unlock(&codec->lock);
}

static enum gf_status wait_started(struct gf_jpeg_device *codec, struct gf_error *error)
{
    pthread_mutex_lock(&codec->lock);
    while (!codec->started)
        pthread_cond_wait(&codec->started_now, &codec->lock);
    pthread_mutex_unlock(&codec->lock);
    if (codec->status)
        *error = codec->error;
    return codec->status;
}

extern "C" bool gf_jpeg_device_takes(const struct gf_jpeg_nature *nature)
{
    return nature->width <= SIDE_MOST && nature->height <= SIDE_MOST;
}

extern "C" enum gf_status gf_jpeg_device_decode(struct gf_jpeg_device *codec, unsigned char *data,
                                                const struct gf_jpeg_nature *nature, const struct gf_view *out,
                                                struct gf_error *error)
{
    struct request request;
    const enum gf_status status = wait_started(codec, error);
    if (status)
        return status;
    memset(&request, 0, sizeof request);
    data[nature->tables - 2] = 0xff; /* the start marker again, before the first segment that is wanted */
    data[nature->tables - 1] = 0xd8;
    request.data = data + nature->tables - 2;
    request.size = nature->end - nature->tables + 2;
    request.format = nature->components == 1 ? NVJPEG_OUTPUT_Y : NVJPEG_OUTPUT_RGBI;
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
    return gf_fail(error, GF_ERROR_DEVICE, "nvJPEG: %s fails (status %d)", call, (int)status);
}

#define TRY_NVJPEG(codec, name, ...)                                                                   \
    do {                                                                                               \
        const nvjpegStatus_t nvjpeg_status_ = (codec)->call.name(__VA_ARGS__);                         \
        if (nvjpeg_status_)                                                                            \
            return fail_call(error, #name, nvjpeg_status_);                                            \
    } while (0)

static enum gf_status open_encoder(struct gf_jpeg_device *codec, struct encoder *encoder, struct gf_error *error)
{
    if (encoder->params)
        return GF_OK;
    if (!encoder->stream)
        GF_CUDA_TRY(cudaStreamCreateWithFlags(&encoder->stream, cudaStreamNonBlocking), codec->device, error);
    if (!encoder->state)
        TRY_NVJPEG(codec, EncoderStateCreate, codec->handle, &encoder->state, encoder->stream);
    TRY_NVJPEG(codec, EncoderParamsCreate, codec->handle, &encoder->params, encoder->stream);
    return GF_OK;
}

static void close_encoder(struct gf_jpeg_device *codec, struct encoder *encoder)
{
    if (encoder->params)
        codec->call.EncoderParamsDestroy(encoder->params);
    if (encoder->state)
        codec->call.EncoderStateDestroy(encoder->state);
    if (encoder->stream)
        cudaStreamDestroy(encoder->stream);
}

static enum gf_status encode(struct gf_jpeg_device *codec, struct encoder *encoder, const struct gf_view *in,
                             const struct gf_options *options, struct gf_error *error)
{
    static const nvjpegChromaSubsampling_t samplings[] = {NVJPEG_CSS_420, NVJPEG_CSS_422, NVJPEG_CSS_444};
    const bool gray = in->format.channels == 1;
    const nvjpegChromaSubsampling_t sampling = gray ? NVJPEG_CSS_GRAY : samplings[options->subsampling];
    nvjpegImage_t image;
    memset(&image, 0, sizeof image);
    image.channel[0] = in->data;
    image.pitch[0] = in->pitch;
    TRY_NVJPEG(codec, EncoderParamsSetQuality, encoder->params, options->quality, encoder->stream);
    TRY_NVJPEG(codec, EncoderParamsSetSamplingFactors, encoder->params, sampling, encoder->stream);
    if (gray)
        TRY_NVJPEG(codec, EncodeYUV, codec->handle, encoder->state, encoder->params, &image, NVJPEG_CSS_GRAY,
                   in->format.width, in->format.height, encoder->stream);
    else
        TRY_NVJPEG(codec, EncodeImage, codec->handle, encoder->state, encoder->params, &image, NVJPEG_INPUT_RGBI,
                   in->format.width, in->format.height, encoder->stream);
    return GF_OK;
}

static enum gf_status run_encoder(struct gf_jpeg_device *codec, struct encoder *encoder, const struct gf_view *in,
                                  const struct gf_options *options, struct gf_jpeg_bytes *out,
                                  struct gf_error *error)
{
    enum gf_status status = open_encoder(codec, encoder, error);
    if (!status)
        status = encode(codec, encoder, in, options, error);
    if (status)
        return status;
    size_t size;
    TRY_NVJPEG(codec, EncodeRetrieveBitstream, codec->handle, encoder->state, NULL, &size, encoder->stream);
    if (!gf_jpeg_bytes_resize(out, size))
        return gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    TRY_NVJPEG(codec, EncodeRetrieveBitstream, codec->handle, encoder->state, out->data, &out->size, encoder->stream);
    GF_CUDA_TRY(cudaStreamSynchronize(encoder->stream), codec->device, error);
    return GF_OK;
}

extern "C" enum gf_status gf_jpeg_device_encode(struct gf_jpeg_device *codec, const struct gf_view *in,
                                                const struct gf_options *options, struct gf_jpeg_bytes *out,
                                                struct gf_error *error)
{
    enum gf_status status = wait_started(codec, error);
    if (status)
        return status;
    int free_one = 0;
    pthread_mutex_lock(&codec->lock);
    for (;;) {
        for (free_one = 0; free_one < ENCODERS && codec->encoder[free_one].busy;)
            free_one++;
        if (free_one < ENCODERS)
            break;
        pthread_cond_wait(&codec->encoder_freed, &codec->lock);
    }
    struct encoder *const encoder = &codec->encoder[free_one];
    encoder->busy = true;
    pthread_mutex_unlock(&codec->lock);
    status = run_encoder(codec, encoder, in, options, out, error);
    pthread_mutex_lock(&codec->lock);
    encoder->busy = false;
    pthread_cond_signal(&codec->encoder_freed);
    pthread_mutex_unlock(&codec->lock);
    return status;
}

/* ---- the one of a device ---- */

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
    for (int log = 0; log <= GROUP_LOG_MOST; log++) {
        if (codec->decoder[log].state)
            codec->call.JpegStateDestroy(codec->decoder[log].state);
    }
    for (int i = 0; i < ENCODERS; i++)
        close_encoder(codec, &codec->encoder[i]);
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
    pthread_cond_init(&codec->encoder_freed, NULL);
    if (!pthread_create(&codec->thread, NULL, codec_main, codec))
        return codec;
    free(codec);
    return NULL;
}

extern "C" enum gf_status gf_jpeg_device_open(int device, struct gf_jpeg_device **codec, struct gf_error *error)
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
    pthread_cond_destroy(&codec->encoder_freed);
    pthread_cond_destroy(&codec->wanted);
    pthread_cond_destroy(&codec->started_now);
    pthread_mutex_destroy(&codec->lock);
    free(codec);
}

#else
#include "jpeg_device_none.h"
#endif
