#include "engine/jpeg_device.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/spans.h"
#include "base/start_times.h"
#include "codec/common/checks.h"
#include "cuda/jpeg/decoder.h"
#include "cuda/jpeg/encoder.h"
#include "gpufilter/device.h"

/* Two threads decode and two encode, so that one copies while the other computes. Larger groups
 * would let all callers come and go at once, and the device would have one kind of work at a time.
 */
enum { THREADS = 2, GROUP_MOST = 32, DEVICES_MOST = 64 };

/* The picture of one caller. */
struct request {
    struct request *next;
    uint64_t bytes; /* of the codec's device memory */
    union {
        struct gf_jpeg_decode_picture decode;
        struct gf_jpeg_encode_picture encode;
    };
    enum gf_status status;
    struct gf_error error;
    sem_t *scan_returned; /* of the thread that encoded it */
    sem_t answered;
};

struct queue {
    struct request *first, **last;
    pthread_cond_t filled;
};

/* A thread that decodes or encodes, with a stream of its own. */
struct coder {
    struct gf_jpeg_device *codec;
    bool encodes, started, served;
    pthread_t thread;
    uint64_t bytes;                  /* of device memory, for one of these two: */
    struct gf_jpeg_decoder *decoder; /* NULL: it could not be created */
    struct gf_jpeg_encoder *encoder;
    enum gf_status status;
    struct gf_error error;
    sem_t scan_returned;
};

struct gf_jpeg_device {
    int device, users;
    pthread_mutex_t lock; /* guards what follows */
    uint64_t lent_bytes;  /* of device memory; 0: usual_bytes is the limit */
    uint64_t usual_bytes;
    int callers; /* as many may come at once */
    bool ended;
    struct queue to_decode, to_encode;
    struct coder coder[2 * THREADS];
};

static pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;
static struct gf_jpeg_device *registry[DEVICES_MOST];

static void wait_for(sem_t *semaphore)
{
    while (sem_wait(semaphore) && errno == EINTR)
        ;
}

/* ---- a group ---- */

static uint64_t bytes_of_coder(const struct gf_jpeg_device *codec)
{
    return (codec->lent_bytes ? codec->lent_bytes : codec->usual_bytes) / (2 * THREADS);
}

static void close_coder(struct coder *coder)
{
    gf_jpeg_decoder_destroy(coder->decoder);
    gf_jpeg_encoder_destroy(coder->encoder);
    coder->decoder = NULL;
    coder->encoder = NULL;
}

/* Creates the decoder or the encoder, and again where the next group needs more memory than it has,
 * or it may now take much more: users come one by one. */
static void open_coder(struct coder *coder, uint64_t needed)
{
    struct gf_jpeg_device *const codec = coder->codec;
    pthread_mutex_lock(&codec->lock);
    const uint64_t most = bytes_of_coder(codec);
    pthread_mutex_unlock(&codec->lock);
    if (coder->bytes > most / 2 && coder->bytes >= needed)
        return;
    const uint64_t bytes = most > needed ? most : needed;
    close_coder(coder);
    coder->bytes = bytes;
    coder->status =
        coder->encodes
            ? gf_jpeg_encoder_create(codec->device, bytes, &coder->encoder, &coder->error)
            : gf_jpeg_decoder_create(codec->device, bytes, &coder->decoder, &coder->error);
}

/* The pictures that are likely to come at once. */
static int expected_pictures(struct gf_jpeg_device *codec)
{
    pthread_mutex_lock(&codec->lock);
    const int callers = codec->callers;
    pthread_mutex_unlock(&codec->lock);
    return callers < GROUP_MOST ? callers : GROUP_MOST;
}

static enum gf_status decode_group(struct coder *coder, struct request *const *group, int count,
                                   struct gf_error *error)
{
    struct gf_jpeg_decode_picture pictures[GROUP_MOST];
    for (int i = 0; i < count; i++)
        pictures[i] = group[i]->decode;
    gf_jpeg_decoder_expect(coder->decoder, expected_pictures(coder->codec));
    const enum gf_status status = gf_jpeg_decoder_run(coder->decoder, pictures, count, error);
    for (int i = 0; i < count; i++)
        group[i]->decode = pictures[i];
    return status;
}

static enum gf_status encode_group(struct coder *coder, struct request *const *group, int count,
                                   struct gf_error *error)
{
    struct gf_jpeg_encode_picture pictures[GROUP_MOST];
    for (int i = 0; i < count; i++)
        pictures[i] = group[i]->encode;
    gf_jpeg_encoder_expect(coder->encoder, expected_pictures(coder->codec));
    const enum gf_status status = gf_jpeg_encoder_run(coder->encoder, pictures, count, error);
    for (int i = 0; i < count; i++) {
        group[i]->encode = pictures[i];
        group[i]->scan_returned = &coder->scan_returned;
    }
    return status;
}

/* Waits for pictures and takes as many as there are, up to a group, which needs *bytes; 0 at the
 * end. */
static int take_group(struct gf_jpeg_device *codec, struct queue *queue, struct request **group,
                      uint64_t *bytes)
{
    int count = 0;
    *bytes = 0;
    pthread_mutex_lock(&codec->lock);
    while (!queue->first && !codec->ended)
        pthread_cond_wait(&queue->filled, &codec->lock);
    while (queue->first && count < GROUP_MOST &&
           (!count || *bytes + queue->first->bytes <= bytes_of_coder(codec))) {
        group[count++] = queue->first;
        *bytes += queue->first->bytes;
        queue->first = queue->first->next;
    }
    if (!queue->first)
        queue->last = &queue->first;
    pthread_mutex_unlock(&codec->lock);
    return count;
}

static void serve_group(struct coder *coder, struct request *const *group, int count)
{
    struct gf_error error = coder->error;
    enum gf_status status = coder->status;
    int scans = 0;
    const double begin_s = gf_now();
    if (!status)
        status = coder->encodes ? encode_group(coder, group, count, &error)
                                : decode_group(coder, group, count, &error);
    if (!coder->served)
        gf_start_note(coder->encodes ? GF_START_ENCODER : GF_START_DECODER, begin_s);
    coder->served = true;
    for (int i = 0; i < count; i++) {
        scans += coder->encodes && !status && group[i]->encode.encoded;
        group[i]->status = status;
        group[i]->error = error;
        sem_post(&group[i]->answered);
    }
    while (scans--)
        wait_for(&coder->scan_returned);
}

static void *coder_main(void *argument)
{
    struct coder *const coder = argument;
    struct gf_jpeg_device *const codec = coder->codec;
    struct queue *const queue = coder->encodes ? &codec->to_encode : &codec->to_decode;
    struct request *group[GROUP_MOST];
    uint64_t bytes = 0;
    open_coder(coder, bytes);
    for (int count; (count = take_group(codec, queue, group, &bytes));) {
        open_coder(coder, bytes);
        serve_group(coder, group, count);
    }
    close_coder(coder);
    return NULL;
}

/* ---- a caller ---- */

/* Hands the request to a thread and waits for the answer; false where the picture is too large for
 * the codec's memory. */
static bool serve(struct gf_jpeg_device *codec, struct queue *queue, struct request *request)
{
    sem_init(&request->answered, 0, 0);
    pthread_mutex_lock(&codec->lock);
    const bool fits = request->bytes <= bytes_of_coder(codec);
    if (fits) {
        *queue->last = request;
        queue->last = &request->next;
        pthread_cond_signal(&queue->filled);
    }
    pthread_mutex_unlock(&codec->lock);
    if (fits)
        wait_for(&request->answered);
    sem_destroy(&request->answered);
    return fits;
}

static enum gf_status result_of(const struct request *request, struct gf_error *error)
{
    if (request->status && error)
        *error = request->error;
    return request->status;
}

enum gf_status gf_jpeg_device_decode(struct gf_jpeg_device *codec,
                                     const struct gf_jpeg_header *header, const unsigned char *data,
                                     size_t size, const struct gf_view *out, bool *decoded,
                                     struct gf_error *error)
{
    struct request request = {
        .bytes = gf_jpeg_decoder_bytes(header, size),
        .decode = {.header = header, .data = data, .size = size, .out = *out}};
    *decoded = serve(codec, &codec->to_decode, &request) && request.decode.decoded;
    return result_of(&request, error);
}

enum gf_status gf_jpeg_device_encode(struct gf_jpeg_device *codec, const struct gf_view *in,
                                     const struct gf_options *options, struct gf_jpeg_scan *scan,
                                     struct gf_error *error)
{
    struct request request = {
        .bytes = gf_jpeg_encoder_bytes(in->format, gf_subsampling_of(options)),
        .encode = {
            .in = *in, .quality = options->quality, .subsampling = gf_subsampling_of(options)}};
    *scan = (struct gf_jpeg_scan){0};
    const bool served = serve(codec, &codec->to_encode, &request);
    if (request.status)
        return result_of(&request, error);
    if (!served || !request.encode.encoded)
        return gf_fail(error, GF_ERROR_DEVICE_MEMORY, "out of memory to encode a JPEG of %dx%d",
                       in->format.width, in->format.height);
    *scan = (struct gf_jpeg_scan){request.encode.scan, request.encode.size, request.scan_returned};
    return GF_OK;
}

void gf_jpeg_scan_return(struct gf_jpeg_scan *scan)
{
    if (scan->returned)
        sem_post(scan->returned);
    *scan = (struct gf_jpeg_scan){0};
}

/* ---- one codec for each device ---- */

static void open_queue(struct queue *queue)
{
    queue->last = &queue->first;
    pthread_cond_init(&queue->filled, NULL);
}

static void destroy(struct gf_jpeg_device *codec)
{
    pthread_mutex_lock(&codec->lock);
    codec->ended = true;
    pthread_cond_broadcast(&codec->to_decode.filled);
    pthread_cond_broadcast(&codec->to_encode.filled);
    pthread_mutex_unlock(&codec->lock);
    for (int i = 0; i < 2 * THREADS; i++) {
        if (codec->coder[i].started)
            pthread_join(codec->coder[i].thread, NULL);
        sem_destroy(&codec->coder[i].scan_returned);
    }
    pthread_cond_destroy(&codec->to_decode.filled);
    pthread_cond_destroy(&codec->to_encode.filled);
    pthread_mutex_destroy(&codec->lock);
    free(codec);
}

static bool start_coders(struct gf_jpeg_device *codec)
{
    for (int i = 0; i < 2 * THREADS; i++) {
        struct coder *const coder = &codec->coder[i];
        coder->codec = codec;
        coder->encodes = i % 2;
        sem_init(&coder->scan_returned, 0, 0);
        coder->started = !pthread_create(&coder->thread, NULL, coder_main, coder);
        if (!coder->started && i < 2) /* there must be one of each kind */
            return false;
    }
    return true;
}

static struct gf_jpeg_device *create(int device)
{
    enum { PART = 4 };
    struct gf_jpeg_device *const codec = calloc(1, sizeof *codec);
    if (!codec)
        return NULL;
    struct gf_device_info info;
    codec->device = device;
    codec->usual_bytes = UINT64_MAX;
    if (!gf_device_describe(device, &info, NULL))
        codec->usual_bytes = info.memory_bytes / PART;
    pthread_mutex_init(&codec->lock, NULL);
    open_queue(&codec->to_decode);
    open_queue(&codec->to_encode);
    if (start_coders(codec))
        return codec;
    destroy(codec);
    return NULL;
}

static void add_caller(struct gf_jpeg_device *codec, int callers, uint64_t bytes)
{
    pthread_mutex_lock(&codec->lock);
    codec->callers += callers;
    codec->lent_bytes += bytes;
    pthread_mutex_unlock(&codec->lock);
}

enum gf_status gf_jpeg_device_open(int device, uint64_t bytes, struct gf_jpeg_device **codec,
                                   struct gf_error *error)
{
    if (device < 0 || device >= DEVICES_MOST)
        return gf_fail(error, GF_ERROR_UNAVAILABLE, "cuda:%d: no such device", device);
    pthread_mutex_lock(&registry_lock);
    if (!registry[device])
        registry[device] = create(device);
    *codec = registry[device];
    if (*codec) {
        (*codec)->users++;
        add_caller(*codec, 1, bytes);
    }
    pthread_mutex_unlock(&registry_lock);
    return *codec ? GF_OK : gf_fail_memory(error);
}

void gf_jpeg_device_close(struct gf_jpeg_device *codec, uint64_t bytes)
{
    if (!codec)
        return;
    pthread_mutex_lock(&registry_lock);
    add_caller(codec, -1, -bytes);
    const bool last = !--codec->users;
    if (last)
        registry[codec->device] = NULL;
    pthread_mutex_unlock(&registry_lock);
    if (last)
        destroy(codec);
}
