/* nvJPEG's part of `make bench-batch`: decodes and encodes every JPEG of a folder, without a
 * filter. Each of a few threads reads a group of files, has them decoded by the GPU's engines, or
 * by kernels where there are none, encodes them one by one and writes them. Arguments: the folder,
 * and the one for the results. */
#include <cuda_runtime.h>
#include <dirent.h>
#include <nvjpeg.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { WORKERS = 4, GROUP = 28, NAMES = 1 << 20, SIDE = 256, QUALITY = 90 };

#define TRY(call) \
    do { \
        const int status_ = (int)(call); \
        if (status_) { \
            fprintf(stderr, "bench-nvjpeg: %s: status %d\n", #call, status_); \
            exit(1); \
        } \
    } while (0)

static const char *source, *target;
static char *names[NAMES];
static int count, taken;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static nvjpegHandle_t handle;

struct picture {
    unsigned char *data; /* of the file */
    size_t size;
    nvjpegImage_t image; /* interleaved RGB; kept for the next picture if that is no larger */
    size_t capacity;
    int width, height;
};

struct worker {
    pthread_t thread;
    cudaStream_t stream;
    nvjpegJpegState_t decoder;
    nvjpegEncoderState_t encoder;
    nvjpegEncoderParams_t params;
    struct picture picture[GROUP];
    unsigned char *result;
    size_t result_capacity;
};

static FILE *open_file(const char *folder, const char *name, const char *mode)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *const file = fopen(path, mode);
    if (!file) {
        perror(path);
        exit(1);
    }
    return file;
}

static void read_picture(struct picture *picture, const char *name)
{
    FILE *const file = open_file(source, name, "rb");
    struct stat about;
    int components, width[NVJPEG_MAX_COMPONENT], height[NVJPEG_MAX_COMPONENT];
    nvjpegChromaSubsampling_t sampling;
    TRY(fstat(fileno(file), &about));
    picture->size = (size_t)about.st_size;
    picture->data = (unsigned char *)realloc(picture->data, picture->size);
    TRY(fread(picture->data, 1, picture->size, file) != picture->size);
    fclose(file);
    TRY(nvjpegGetImageInfo(handle, picture->data, picture->size, &components, &sampling, width,
                           height));
    picture->width = *width;
    picture->height = *height;
    const size_t bytes = (size_t)*width * 3 * (size_t)*height;
    if (bytes > picture->capacity) {
        TRY(cudaFree(picture->image.channel[0]));
        TRY(cudaMalloc((void **)&picture->image.channel[0], bytes));
        picture->capacity = bytes;
    }
    picture->image.pitch[0] = (size_t)*width * 3;
}

static void decode(struct worker *worker, int group)
{
    const unsigned char *data[GROUP];
    size_t size[GROUP];
    nvjpegImage_t image[GROUP];
    for (int i = 0; i < group; i++) {
        data[i] = worker->picture[i].data;
        size[i] = worker->picture[i].size;
        image[i] = worker->picture[i].image;
    }
    TRY(nvjpegDecodeBatchedInitialize(handle, worker->decoder, group, 1, NVJPEG_OUTPUT_RGBI));
    TRY(nvjpegDecodeBatched(handle, worker->decoder, data, size, image, worker->stream));
}

static void encode(struct worker *worker, const struct picture *picture, const char *name)
{
    size_t size;
    TRY(nvjpegEncodeImage(handle, worker->encoder, worker->params, &picture->image,
                          NVJPEG_INPUT_RGBI, picture->width, picture->height, worker->stream));
    TRY(nvjpegEncodeRetrieveBitstream(handle, worker->encoder, NULL, &size, worker->stream));
    if (size > worker->result_capacity) {
        TRY(cudaFreeHost(worker->result));
        TRY(cudaHostAlloc((void **)&worker->result, 2 * size, 0));
        worker->result_capacity = 2 * size;
    }
    TRY(nvjpegEncodeRetrieveBitstream(handle, worker->encoder, worker->result, &size,
                                      worker->stream));
    TRY(cudaStreamSynchronize(worker->stream));
    FILE *const file = open_file(target, name, "wb");
    TRY(fwrite(worker->result, 1, size, file) != size);
    TRY(fclose(file));
}

static void open_worker(struct worker *worker)
{
    TRY(cudaStreamCreateWithFlags(&worker->stream, cudaStreamNonBlocking));
    TRY(nvjpegJpegStateCreate(handle, &worker->decoder));
    TRY(nvjpegEncoderStateCreate(handle, &worker->encoder, worker->stream));
    TRY(nvjpegEncoderParamsCreate(handle, &worker->params, worker->stream));
    TRY(nvjpegEncoderParamsSetQuality(worker->params, QUALITY, worker->stream));
    TRY(nvjpegEncoderParamsSetSamplingFactors(worker->params, NVJPEG_CSS_420, worker->stream));
}

static void *work(void *argument)
{
    struct worker *const worker = (struct worker *)argument;
    open_worker(worker);
    for (;;) {
        pthread_mutex_lock(&lock);
        const int first = taken, group = count - taken < GROUP ? count - taken : GROUP;
        taken += group;
        pthread_mutex_unlock(&lock);
        if (!group)
            return NULL;
        for (int i = 0; i < group; i++)
            read_picture(&worker->picture[i], names[first + i]);
        decode(worker, group);
        for (int i = 0; i < group; i++)
            encode(worker, &worker->picture[i], names[first + i]);
    }
}

int main(int argc, char **argv)
{
    static struct worker worker[WORKERS];
    if (argc != 3) {
        fprintf(stderr, "bench-nvjpeg: FOLDER RESULTS\n");
        return 2;
    }
    source = argv[1];
    target = argv[2];
    DIR *const folder = opendir(source);
    if (!folder) {
        perror(source);
        return 1;
    }
    for (struct dirent *entry; (entry = readdir(folder)) && count < NAMES;) {
        if (*entry->d_name != '.')
            names[count++] = strdup(entry->d_name);
    }
    closedir(folder);
    mkdir(target, 0777);
    if (nvjpegCreateEx(NVJPEG_BACKEND_HARDWARE, NULL, NULL, NVJPEG_FLAGS_DEFAULT, &handle))
        TRY(nvjpegCreateEx(NVJPEG_BACKEND_GPU_HYBRID, NULL, NULL, NVJPEG_FLAGS_DEFAULT, &handle));
    for (int i = 0; i < WORKERS; i++)
        TRY(pthread_create(&worker[i].thread, NULL, work, &worker[i]));
    for (int i = 0; i < WORKERS; i++)
        pthread_join(worker[i].thread, NULL);
    return 0; /* the driver frees what is left */
}
