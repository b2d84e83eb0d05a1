#include "cuda/study/variants/texture.cuh"

#include <pthread.h>
#include <string.h>

#include "cuda/common/launch.cuh"

/* The key of a texture that is kept. The stream is a part of it, so that one event shows when the
 * last work with the texture has ended. Keys are compared as bytes, so that their padding must be
 * 0. */
struct key {
    const void *data;
    cudaStream_t stream;
    size_t pitch;
    struct gf_texture_sampling sampling;
    int width, height, bits, device;
};

struct entry {
    struct key key;
    cudaTextureObject_t object; /* 0: the entry is free */
    cudaEvent_t last_use;
    unsigned long long used; /* the value of `openings` when the texture was opened last */
    int holders;
};

enum { ENTRIES = 64 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct entry entries[ENTRIES];
static unsigned long long openings;

static cudaError_t create(const struct key *key, struct entry *entry)
{
    const int bits[4] = {key->bits, key->sampling.channels > 1 ? key->bits : 0,
                         key->sampling.channels > 2 ? key->bits : 0,
                         key->sampling.channels > 3 ? key->bits : 0};
    struct cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypePitch2D;
    resource.res.pitch2D.devPtr = (void *)key->data;
    resource.res.pitch2D.desc =
        cudaCreateChannelDesc(bits[0], bits[1], bits[2], bits[3], cudaChannelFormatKindUnsigned);
    resource.res.pitch2D.width = (size_t)key->width;
    resource.res.pitch2D.height = (size_t)key->height;
    resource.res.pitch2D.pitchInBytes = key->pitch;
    struct cudaTextureDesc texture = {};
    texture.addressMode[0] = texture.addressMode[1] = key->sampling.address;
    texture.filterMode = key->sampling.filter;
    texture.readMode = key->sampling.read;
    texture.normalizedCoords = key->sampling.normalised;
    LAUNCH_TRY(cudaEventCreateWithFlags(&entry->last_use, cudaEventDisableTiming));
    cudaError_t status = cudaCreateTextureObject(&entry->object, &resource, &texture, NULL);
    if (status != cudaSuccess) {
        cudaEventDestroy(entry->last_use);
        entry->object = 0;
        return status;
    }
    entry->key = *key;
    return cudaSuccess;
}

/* Waits for the work that reads the texture, and destroys the texture. It seldom has to wait,
 * because this texture is the one that was opened the longest time ago. */
static void destroy(struct entry *entry, int device)
{
    cudaSetDevice(entry->key.device);
    cudaEventSynchronize(entry->last_use);
    cudaDestroyTextureObject(entry->object);
    cudaEventDestroy(entry->last_use);
    cudaSetDevice(device);
    cudaGetLastError(); /* clears the error of a device that no longer exists */
    memset(entry, 0, sizeof *entry);
}

/* Finds the entry for the key, or creates it. Returns NULL, with an error in *status, if all
 * entries are in use or the texture cannot be created. */
static struct entry *find(const struct key *key, cudaError_t *status)
{
    struct entry *oldest = NULL;
    for (int i = 0; i < ENTRIES; i++) {
        struct entry *const entry = &entries[i];
        if (entry->object && !memcmp(&entry->key, key, sizeof *key))
            return entry;
        if (!entry->holders && (!oldest || entry->used < oldest->used))
            oldest = entry;
    }
    *status = cudaErrorMemoryAllocation;
    if (!oldest)
        return NULL;
    if (oldest->object)
        destroy(oldest, key->device);
    *status = create(key, oldest);
    return *status == cudaSuccess ? oldest : NULL;
}

/* Sets the address of the rows: their own address, if a texture can have it, otherwise the address
 * of a copy. */
static cudaError_t align_rows(const struct gf_view *view, int first, int end, void *scratch,
                              cudaStream_t stream, struct key *key)
{
    key->data = gf_view_row(view, first);
    key->pitch = view->pitch;
    if ((size_t)key->data % GF_TEXTURE_ALIGNMENT == 0 &&
        key->pitch % GF_TEXTURE_PITCH_ALIGNMENT == 0)
        return cudaSuccess;
    void *const to = (void *)(((size_t)scratch + GF_TEXTURE_ALIGNMENT - 1) / GF_TEXTURE_ALIGNMENT *
                              GF_TEXTURE_ALIGNMENT);
    const cudaError_t status = cudaMemcpy2DAsync(
        to, gf_texture_pitch(view->format), key->data, key->pitch, gf_row_bytes(view->format),
        (size_t)(end - first), cudaMemcpyDeviceToDevice, stream);
    key->data = to;
    key->pitch = gf_texture_pitch(view->format);
    return status;
}

int gf_texture_open(const struct gf_view *view, int first, int end,
                    const struct gf_texture_sampling *sampling, void *scratch, cudaStream_t stream,
                    struct gf_texture *texture)
{
    struct key key;
    memset(&key, 0, sizeof key);
    key.stream = stream;
    key.sampling = *sampling;
    key.width = view->format.width * view->format.channels / sampling->channels;
    key.height = end - first;
    key.bits = view->format.bits;
    LAUNCH_TRY(cudaGetDevice(&key.device));
    LAUNCH_TRY(align_rows(view, first, end, scratch, stream, &key));
    pthread_mutex_lock(&mutex);
    cudaError_t status = cudaSuccess;
    struct entry *const entry = find(&key, &status);
    if (entry) {
        entry->used = ++openings;
        entry->holders++;
        *texture = {entry->object, first, (int)(entry - entries)};
    }
    pthread_mutex_unlock(&mutex);
    return status;
}

int gf_texture_close(const struct gf_texture *texture, cudaStream_t stream)
{
    pthread_mutex_lock(&mutex);
    struct entry *const entry = &entries[texture->slot];
    const cudaError_t status = cudaEventRecord(entry->last_use, stream);
    entry->holders--;
    pthread_mutex_unlock(&mutex);
    return status;
}
