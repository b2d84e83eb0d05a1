/* Manages the memory of a device, which all its backends share, and keeps the second pictures of
 * filters such as overlay there. */
#include <stdlib.h>

#include "base/process/machine.h"
#include "base/threads/times.h"
#include "cuda/backend/backend.cuh"
#include "cuda/common/check.cuh"
#include "cuda/common/launch.cuh"
#include "engine/backend.h"

/* The least and the most bytes of one allocation, on the device and of pinned host memory.
 * cudaMalloc of megabytes takes a large part of a millisecond, and several calls wait for each
 * other. */
enum {
    CHUNK_LEAST = 32 << 20,
    CHUNK_MOST = 1 << 30,
    PINNED_LEAST = 256 << 10,
    PINNED_MOST = 4 << 20,
    FILES_LEAST = 16 << 20,
    FILES_MOST = 128 << 20
};

static void *allocated(cudaError_t (*allocate)(void **, size_t), size_t size,
                       enum gf_start_part part)
{
    void *memory = NULL;
    const double begin_s = gf_now();
    if (allocate(&memory, size) != cudaSuccess) {
        cudaGetLastError();
        return NULL;
    }
    gf_start_note(part, begin_s);
    return memory;
}

static void *take(void *, size_t size)
{
    return allocated(cudaMalloc, size, GF_START_MEMORY);
}

static void give(void *, void *memory)
{
    const double begin_s = gf_now();
    cudaFree(memory);
    gf_start_note(GF_START_MEMORY, begin_s);
}

static void *take_pinned(void *, size_t size)
{
    return allocated(cudaMallocHost, size, GF_START_PINNED);
}

static void give_pinned(void *, void *memory)
{
    cudaFreeHost(memory);
}

/* Takes pages for files and bands, which need not be pinned yet: the first files are read while the
 * device starts. */
static void *take_pages(void *context, size_t size)
{
    struct cuda_device *const device = (struct cuda_device *)context;
    struct shared_pages *const pages = (struct shared_pages *)calloc(1, sizeof *pages);
    void *const data = pages ? gf_pages_alloc(size) : NULL;
    if (!data) {
        free(pages);
        return NULL;
    }
    pages->data = data;
    pages->size = size;
    pthread_mutex_lock(&device->pages_lock);
    pages->next = device->pages;
    device->pages = pages;
    pthread_mutex_unlock(&device->pages_lock);
    return data;
}

static void give_pages(void *context, void *data)
{
    struct cuda_device *const device = (struct cuda_device *)context;
    pthread_mutex_lock(&device->pages_lock);
    struct shared_pages **link = &device->pages;
    while ((*link)->data != data)
        link = &(*link)->next;
    struct shared_pages *const pages = *link;
    *link = pages->next;
    pthread_mutex_unlock(&device->pages_lock);
    if (pages->pinned)
        cudaHostUnregister(data);
    gf_pages_free(data, pages->size);
    free(pages);
}

static void pin_pages(struct shared_pages *pages, int numa_node)
{
    const double begin_s = gf_now();
    gf_numa_prefer(pages->data, pages->size, numa_node);
    gf_pages_populate(pages->data, pages->size);
    pages->tried = true;
    pages->pinned =
        cudaHostRegister(pages->data, pages->size, cudaHostRegisterDefault) == cudaSuccess;
    if (!pages->pinned)
        cudaGetLastError();
    gf_start_note(GF_START_PINNED, begin_s);
}

bool gf_cuda_pin_files(int index, const void *data)
{
    struct cuda_device *const device = gf_cuda_device_state(index);
    const char *const at = (const char *)data;
    bool found = false;
    pthread_mutex_lock(&device->pages_lock);
    for (struct shared_pages *pages = device->pages; pages; pages = pages->next) {
        const char *const first = (const char *)pages->data;
        const bool has = !at || (at >= first && at < first + pages->size);
        if (has && !pages->tried)
            pin_pages(pages, device->numa_node);
        found |= has;
    }
    pthread_mutex_unlock(&device->pages_lock);
    return found;
}

/* Whether a tool that checks for accesses beyond a buffer is running. It notices them only if each
 * buffer is an allocation of its own. */
static bool is_watched(void)
{
#ifdef GF_EMULATED
    return true;
#else
    return getenv("CUDA_INJECTION64_PATH") || getenv("LD_PRELOAD");
#endif
}

static struct cuda_device devices[GF_STARTS_MOST];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void open_devices(void)
{
    const bool watched = is_watched();
    for (int i = 0; i < GF_STARTS_MOST; i++) {
        struct gf_arena *const memory = &devices[i].memory, *const pinned = &devices[i].pinned,
                               *const files = &devices[i].files;
        memory->take = take;
        memory->give = give;
        memory->least = watched ? 0 : CHUNK_LEAST;
        memory->most = watched ? 0 : CHUNK_MOST;
        pinned->take = take_pinned;
        pinned->give = give_pinned;
        pinned->least = watched ? 0 : PINNED_LEAST;
        pinned->most = watched ? 0 : PINNED_MOST;
        files->take = take_pages;
        files->give = give_pages;
        files->context = &devices[i];
        files->least = watched ? 0 : FILES_LEAST;
        files->most = watched ? 0 : FILES_MOST;
        pthread_mutex_init(&files->lock, NULL);
        pthread_mutex_init(&devices[i].pages_lock, NULL);
        pthread_mutex_init(&memory->lock, NULL);
        pthread_mutex_init(&pinned->lock, NULL);
        pthread_mutex_init(&devices[i].lock, NULL);
    }
}

struct cuda_device *gf_cuda_device_state(int index)
{
    pthread_once(&once, open_devices);
    return &devices[index];
}

void gf_cuda_device_enter(int index)
{
    struct cuda_device *const device = gf_cuda_device_state(index);
    pthread_mutex_lock(&device->lock);
    device->users++;
    pthread_mutex_unlock(&device->lock);
}

void gf_cuda_device_leave(int index)
{
    struct cuda_device *const device = gf_cuda_device_state(index);
    pthread_mutex_lock(&device->lock);
    const bool last = !--device->users;
    for (int i = 0; last && i < STREAMS_SHARED; i++) {
        if (device->stream[i])
            cudaStreamDestroy(device->stream[i]);
        device->stream[i] = NULL;
    }
    pthread_mutex_unlock(&device->lock);
    if (last) {
        gf_arena_trim(&device->memory);
        gf_arena_trim(&device->pinned);
        gf_arena_trim(&device->files);
    }
}

bool gf_cuda_device_is_shared(int index)
{
    struct cuda_device *const device = gf_cuda_device_state(index);
    pthread_mutex_lock(&device->lock);
    const bool shared = device->users > 1;
    pthread_mutex_unlock(&device->lock);
    return shared;
}

void *gf_cuda_pinned_piece(int index, size_t size)
{
    return gf_arena_alloc(&gf_cuda_device_state(index)->pinned, size);
}

void gf_cuda_pinned_piece_free(int index, void *piece)
{
    gf_arena_free(&gf_cuda_device_state(index)->pinned, piece);
}

void *gf_cuda_memory_alloc(int index, size_t size, bool own)
{
    return own ? take(NULL, size) : gf_arena_alloc(&gf_cuda_device_state(index)->memory, size);
}

void gf_cuda_memory_free(int index, void *memory, bool own)
{
    if (!own)
        gf_arena_free(&gf_cuda_device_state(index)->memory, memory);
    else if (memory)
        give(NULL, memory);
}

/* Returns the free memory. A recent answer of the driver is corrected by the memory that the arena
 * has allocated since. */
uint64_t gf_cuda_memory_available(int index)
{
    const double old_s = 0.1;
    struct cuda_device *const device = gf_cuda_device_state(index);
    size_t held, available = 0, total = 0;
    pthread_mutex_lock(&device->lock);
    const uint64_t idle = gf_arena_idle(&device->memory, &held);
    const double now_s = gf_now();
    if (now_s - device->asked_s > old_s) {
        if (cudaMemGetInfo(&available, &total) != cudaSuccess) {
            cudaGetLastError();
            available = 0;
        }
        available -= available / 32; /* the driver needs some memory itself */
        device->said_free = available;
        device->held = held;
        device->asked_s = gf_now();
    }
    const uint64_t before = device->said_free + device->held;
    pthread_mutex_unlock(&device->lock);
    return (before > held ? before - held : 0) + idle;
}

/* Keeps second pictures on devices. Each is copied to a device once, however many pipelines read
 * it, and freed when the last of these closes. */

/* Each picture gets an allocation of its own, so that its size is the size that is counted against
 * the budget. */
static const bool OWN = true;

struct device_picture {
    uint64_t id;
    int device, users;
    bool brief;
    uint64_t bytes; /* what the picture takes of the budget */
    struct gf_view view;
    struct device_picture *next;
};

/* Guards `pictures` and the elements of this list. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct device_picture *pictures;

static enum gf_status fail_memory(const struct cuda_backend *cuda, uint64_t bytes,
                                  struct gf_error *error)
{
    return gf_fail(error, GF_ERROR_DEVICE_MEMORY,
                   "cuda:%d: no device memory for a second picture of %llu KiB",
                   cuda->options.device, (unsigned long long)(bytes >> 10));
}

static enum gf_status copy_picture(struct cuda_backend *cuda, const struct gf_image *image,
                                   struct gf_view *view, struct gf_error *error)
{
    const int device = cuda->options.device;
    const size_t row_bytes = gf_row_bytes(image->format), rows = (size_t)image->format.height;
    const size_t pitch = (row_bytes + VECTOR - 1) / VECTOR * VECTOR;
    void *const data = gf_cuda_memory_alloc(device, pitch * rows, OWN);
    if (!data)
        return fail_memory(cuda, pitch * rows, error);
    view->data = (unsigned char *)data;
    view->pitch = pitch;
    view->format = image->format;
    view->y = 0;
    view->rows = image->format.height;
    cudaError_t code = cudaMemcpy2DAsync(data, pitch, image->data, image->pitch, row_bytes, rows,
                                         cudaMemcpyHostToDevice, cudaStreamPerThread);
    GF_THEN(code, cudaStreamSynchronize(cudaStreamPerThread));
    if (code == cudaSuccess)
        return GF_OK;
    gf_cuda_memory_free(device, data, OWN);
    return gf_cuda_fail(error, device, "cudaMemcpy2DAsync", code);
}

static struct device_picture *find(uint64_t id, int device)
{
    struct device_picture *at = pictures;
    while (at && (at->id != id || at->device != device))
        at = at->next;
    return at;
}

static enum gf_status add(struct cuda_backend *cuda, const struct gf_picture *picture,
                          struct device_picture **added, struct gf_error *error)
{
    GF_NEW(struct device_picture, made, error);
    const enum gf_status status = copy_picture(cuda, &picture->image, &made->view, error);
    if (status) {
        free(made);
        return status;
    }
    made->id = picture->id;
    made->device = cuda->options.device;
    made->brief = picture->brief;
    made->bytes = gf_picture_bytes(picture);
    made->next = pictures;
    *added = pictures = made;
    return GF_OK;
}

static bool is_held(const struct cuda_backend *cuda, uint64_t id)
{
    for (int i = 0; i < cuda->held_count; i++) {
        if (cuda->held[i]->id == id)
            return true;
    }
    return false;
}

/* Counts a picture against the budget of every backend that reads it, although it is on the device
 * only once. */
static enum gf_status take_from_budget(struct cuda_backend *cuda, const struct gf_picture *picture,
                                       struct gf_error *error)
{
    const uint64_t bytes = gf_picture_bytes(picture);
    if (cuda->options.budget && cuda->base.calls->free_bytes(&cuda->base) < bytes)
        return fail_memory(cuda, bytes, error);
    pthread_mutex_lock(&cuda->lock);
    cuda->used_bytes += bytes;
    pthread_mutex_unlock(&cuda->lock);
    return GF_OK;
}

static void give_to_budget(struct cuda_backend *cuda, uint64_t bytes)
{
    pthread_mutex_lock(&cuda->lock);
    cuda->used_bytes -= bytes;
    pthread_mutex_unlock(&cuda->lock);
}

static enum gf_status hold(struct cuda_backend *cuda, const struct gf_picture *picture,
                           struct gf_error *error)
{
    struct device_picture *found = find(picture->id, cuda->options.device);
    if (is_held(cuda, picture->id))
        return GF_OK;
    struct device_picture **const grown = (struct device_picture **)realloc(
        cuda->held, (size_t)(cuda->held_count + 1) * sizeof *cuda->held);
    GF_ALLOCATED(grown, error);
    cuda->held = grown;
    enum gf_status status = take_from_budget(cuda, picture, error);
    if (status)
        return status;
    if (!found)
        status = add(cuda, picture, &found, error);
    if (status) {
        give_to_budget(cuda, gf_picture_bytes(picture));
        return status;
    }
    found->users++;
    cuda->held[cuda->held_count++] = found;
    return GF_OK;
}

enum gf_status gf_cuda_hold(struct gf_backend *backend, const struct gf_stage *stage,
                            struct gf_error *error)
{
    const struct gf_picture *list[GF_STAGE_PICTURES_MAX];
    const int count = gf_stage_pictures(stage, list);
    enum gf_status status = GF_OK;
    if (!count)
        return GF_OK;
    pthread_mutex_lock(&lock);
    for (int i = 0; !status && i < count; i++)
        status = hold(backend_of(backend), list[i], error);
    pthread_mutex_unlock(&lock);
    return status;
}

void gf_cuda_find_pictures(const struct cuda_backend *cuda, const struct gf_stage *stage,
                           struct gf_view *views)
{
    const struct gf_picture *list[GF_STAGE_PICTURES_MAX];
    const int count = gf_stage_pictures(stage, list);
    if (!count)
        return;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < count; i++)
        views[i] = find(list[i]->id, cuda->options.device)->view;
    pthread_mutex_unlock(&lock);
}

/* Ends one use of a picture, and frees the picture after the last use. The caller holds the
 * lock. */
static void let_go(struct device_picture *held)
{
    if (--held->users)
        return;
    struct device_picture **at = &pictures;
    while (*at != held)
        at = &(*at)->next;
    *at = held->next;
    gf_cuda_memory_free(held->device, held->view.data, OWN);
    free(held);
}

void gf_cuda_drop_brief_pictures(struct gf_backend *backend)
{
    struct cuda_backend *const cuda = backend_of(backend);
    int kept = 0;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < cuda->held_count; i++) {
        struct device_picture *const held = cuda->held[i];
        if (!held->brief) {
            cuda->held[kept++] = held;
            continue;
        }
        give_to_budget(cuda, held->bytes);
        let_go(held);
    }
    cuda->held_count = kept;
    pthread_mutex_unlock(&lock);
}

void gf_cuda_drop_pictures(struct cuda_backend *cuda)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < cuda->held_count; i++)
        let_go(cuda->held[i]);
    pthread_mutex_unlock(&lock);
    free(cuda->held);
    cuda->held = NULL;
    cuda->held_count = 0;
}
