/* A simulated device, which tests on any machine how the scheduler treats one. Its memory is host
 * memory, poisoned and between guard bytes; the scheduler must copy to it and from it; work is done
 * in wait(), not before; stages run through their CPU functions. It complains of what a real device
 * would fail at: views outside its memory or badly aligned, calls from a thread that did not enter
 * the lane, constants that were not loaded. A test can make it short of memory or let it fail. */
#pragma once

#include <pthread.h>

#include "engine/backend.h"
#include "support.h"
#include "pixel/float_stage.h"
#include "pixel/histogram/histogram.h"

enum { FAKE_BLOCKS = 1024, FAKE_GUARD = 256, FAKE_POISON = 0xC3 };

struct fake_block {
    unsigned char *data; /* between guards */
    size_t size;
    const struct gf_stage *stage; /* of constants */
};

struct fake_device {
    struct gf_backend base; /* first: the backend is the device */
    struct gf_backend_calls calls;
    /* Set by the test. */
    uint64_t memory_bytes; /* 0: no limit */
    bool lies;             /* free_bytes() reports memory that alloc() then refuses */
    int fail_run;          /* the n-th stage run fails; 0: none */
    bool fail_late;        /* in wait(), not in the call */
    bool unavailable;      /* ready() fails */
    bool zero_copy;        /* stages take pinned host memory */
    bool pageable;         /* host memory is never pinned */
    /* Counted by the device. */
    pthread_mutex_t lock;
    struct fake_block block[FAKE_BLOCKS];
    void *pinned[64];
    uint64_t used_bytes, peak_bytes;
    int shared;          /* pieces of shared host memory that are in use */
    size_t shared_bytes; /* that were given, all together */
    int runs, uploads, downloads, waits, lanes_open, lanes_opened;
    size_t upload_bytes, download_bytes;
    bool failed, closed;
    int complaints;
    char complaint[200];
};

enum fake_op_kind { FAKE_COPY, FAKE_LOAD, FAKE_RUN, FAKE_STATISTIC, FAKE_MARK };
struct fake_op {
    enum fake_op_kind kind;
    struct gf_view in, out;
    const struct gf_stage *stage;
    const void *constants;
    unsigned char *scratch;
    void *staged, *loaded; /* copies of constants: what they come from, and where they belong */
    enum gf_span_kind span;
    int index;
    size_t bytes;
};

struct fake_lane {
    struct gf_lane base;
    struct fake_op op[512];
    int ops;
    enum gf_statistic statistic;
    struct gf_histogram histogram;
    double mark_s;
};

static _Thread_local const void *fake_entered; /* the device that the thread has bound */

static struct fake_device *fake_of(const struct gf_lane *lane)
{
    return (struct fake_device *)lane->backend;
}

static void fake_complain(struct fake_device *device, const char *text)
{
    pthread_mutex_lock(&device->lock);
    if (!device->complaints++)
        snprintf(device->complaint, sizeof device->complaint, "%s", text);
    pthread_mutex_unlock(&device->lock);
}

static void fake_check_thread(struct fake_device *device, const char *call)
{
    char text[100];
    snprintf(text, sizeof text, "%s from a thread that did not enter a lane", call);
    if (fake_entered != device)
        fake_complain(device, text);
}

static enum gf_status fake_ready(struct gf_backend *backend, struct gf_error *error)
{
    if (((struct fake_device *)backend)->unavailable)
        return gf_fail(error, GF_ERROR_UNAVAILABLE, "fake: there is no device");
    fake_entered = backend;
    return GF_OK;
}

static void fake_close(struct gf_backend *backend)
{
    ((struct fake_device *)backend)->closed = true;
}

static void fake_describe(struct gf_backend *backend, char *text, size_t size)
{
    snprintf(text, size, "fake:0");
}

/* ---- memory ---- */

static void *fake_new_block(struct fake_device *device, size_t size, const struct gf_stage *stage)
{
    const size_t whole = (size + 2 * FAKE_GUARD + 255) / 256 * 256;
    unsigned char *const base = aligned_alloc(256, whole);
    int i = 0;
    assert_non_null(base);
    memset(base, FAKE_POISON, whole);
    pthread_mutex_lock(&device->lock);
    while (i < FAKE_BLOCKS && device->block[i].data)
        i++;
    assert_true(i < FAKE_BLOCKS);
    device->block[i] = (struct fake_block){.data = base + FAKE_GUARD, .size = size, .stage = stage};
    device->used_bytes += size;
    if (device->used_bytes > device->peak_bytes)
        device->peak_bytes = device->used_bytes;
    pthread_mutex_unlock(&device->lock);
    return base + FAKE_GUARD;
}

static uint64_t fake_room(struct fake_device *device)
{
    pthread_mutex_lock(&device->lock);
    const uint64_t room = !device->memory_bytes ? UINT64_MAX
                          : device->used_bytes < device->memory_bytes
                              ? device->memory_bytes - device->used_bytes
                              : 0;
    pthread_mutex_unlock(&device->lock);
    return room;
}

static uint64_t fake_free_bytes(struct gf_backend *backend)
{
    struct fake_device *const device = (struct fake_device *)backend;
    return device->lies ? UINT64_MAX : fake_room(device);
}

static void *fake_alloc(struct gf_backend *backend, size_t size)
{
    struct fake_device *const device = (struct fake_device *)backend;
    fake_check_thread(device, "alloc");
    return size <= fake_room(device) ? fake_new_block(device, size, NULL) : NULL;
}

static void fake_drop_block(struct fake_device *device, const void *memory, size_t size)
{
    bool found = false, intact = true;
    pthread_mutex_lock(&device->lock);
    for (int i = 0; i < FAKE_BLOCKS && !found; i++) {
        struct fake_block *const block = &device->block[i];
        if (block->data != memory)
            continue;
        found = true;
        for (int g = 1; g <= FAKE_GUARD; g++)
            intact &= block->data[-g] == FAKE_POISON;
        for (int g = 0; g < FAKE_GUARD; g++)
            intact &= block->data[block->size + (size_t)g] == FAKE_POISON;
        intact &= !size || block->size == size;
        device->used_bytes -= block->size;
        free(block->data - FAKE_GUARD);
        *block = (struct fake_block){0};
    }
    pthread_mutex_unlock(&device->lock);
    if (!found)
        fake_complain(device, "memory was released that was not allocated");
    if (!intact)
        fake_complain(device,
                      "guard bytes around device memory were written, or its size was wrong");
}

static void fake_release(struct gf_backend *backend, void *memory, size_t size)
{
    fake_drop_block((struct fake_device *)backend, memory, size);
}

static void *fake_share(struct gf_backend *backend, size_t size)
{
    struct fake_device *const device = (struct fake_device *)backend;
    pthread_mutex_lock(&device->lock);
    device->shared++;
    device->shared_bytes += size;
    pthread_mutex_unlock(&device->lock);
    return malloc(size);
}

static void fake_unshare(struct gf_backend *backend, void *memory)
{
    struct fake_device *const device = (struct fake_device *)backend;
    pthread_mutex_lock(&device->lock);
    device->shared--;
    pthread_mutex_unlock(&device->lock);
    free(memory);
}

static enum gf_pinning fake_pin(struct gf_backend *backend, void *data, size_t size)
{
    struct fake_device *const device = (struct fake_device *)backend;
    bool pinned = false;
    fake_check_thread(device, "pin");
    if (device->pageable)
        return GF_NOT_PINNED;
    pthread_mutex_lock(&device->lock);
    for (int i = 0; i < 64 && !pinned; i++) {
        if (device->pinned[i] == data)
            break; /* CUDA refuses it too: it is registered already */
        if (!device->pinned[i]) {
            device->pinned[i] = data;
            pinned = true;
        }
    }
    pthread_mutex_unlock(&device->lock);
    return pinned ? GF_PINNED : GF_PINNED_BEFORE;
}

static void fake_unpin(struct gf_backend *backend, void *data)
{
    struct fake_device *const device = (struct fake_device *)backend;
    bool found = false;
    pthread_mutex_lock(&device->lock);
    for (int i = 0; i < 64 && !found; i++) {
        if (device->pinned[i] == data) {
            device->pinned[i] = NULL;
            found = true;
        }
    }
    pthread_mutex_unlock(&device->lock);
    if (!found)
        fake_complain(device, "memory was unpinned that was not pinned");
}

/* Whether the view lies in the device's memory, with the alignment that kernels count on. */
static void fake_check_view(struct fake_device *device, const struct gf_view *view,
                            const char *what)
{
    const size_t bytes = view->pitch * (size_t)(view->rows - 1) + gf_row_bytes(view->format);
    bool inside = false;
    char text[100];
    pthread_mutex_lock(&device->lock);
    for (int i = 0; i < FAKE_BLOCKS; i++) {
        const struct fake_block *const block = &device->block[i];
        inside |= block->data && view->data >= block->data &&
                  view->data + bytes <= block->data + block->size;
    }
    for (size_t i = 0; i < sizeof device->pinned / sizeof *device->pinned; i++)
        inside |= device->zero_copy && device->pinned[i] &&
                  view->data >= (unsigned char *)device->pinned[i];
    pthread_mutex_unlock(&device->lock);
    snprintf(text, sizeof text, "%s: a view outside the device's memory or badly aligned", what);
    if (!inside || (uintptr_t)view->data % 16 || view->pitch % 16 || view->rows < 1 ||
        view->y < 0 || view->y + view->rows > view->format.height)
        fake_complain(device, text);
}

static bool fake_reaches(struct gf_backend *backend, const struct gf_view *host)
{
    return ((struct fake_device *)backend)->zero_copy &&
           !(((uintptr_t)host->data | host->pitch) % 16);
}

/* ---- lanes ---- */

static enum gf_status fake_lane_open(struct gf_backend *backend, int index, struct gf_spans *spans,
                                     struct gf_lane **lane, struct gf_error *error)
{
    struct fake_device *const device = (struct fake_device *)backend;
    struct fake_lane *const opened = calloc(1, sizeof *opened);
    assert_non_null(opened);
    opened->base = (struct gf_lane){.backend = backend, .spans = spans, .index = index};
    device->lanes_open++;
    device->lanes_opened++;
    *lane = &opened->base;
    return GF_OK;
}

static void fake_statistic_close(struct gf_lane *lane)
{
    struct fake_lane *const fake = (struct fake_lane *)lane;
    free(fake->histogram.count);
    fake->histogram.count = NULL;
}

/* Forgets what was queued. */
static void fake_drop_ops(struct fake_lane *lane)
{
    for (int i = 0; i < lane->ops; i++)
        free(lane->op[i].staged);
    lane->ops = 0;
}

/* Constants may be under way for work that never came. */
static void fake_lane_close(struct gf_lane *lane)
{
    struct fake_lane *const fake = (struct fake_lane *)lane;
    bool work = false;
    for (int i = 0; i < fake->ops; i++)
        work |= fake->op[i].kind != FAKE_LOAD;
    if (work && !fake_of(lane)->failed)
        fake_complain(fake_of(lane), "a lane was closed with work under way");
    fake_drop_ops(fake);
    fake_of(lane)->lanes_open--;
    fake_statistic_close(lane);
    free(lane);
}

static void fake_lane_enter(struct gf_lane *lane)
{
    fake_entered = lane->backend;
}

static void fake_unload(struct gf_backend *backend, const void *constants)
{
    fake_drop_block((struct fake_device *)backend, constants, 0);
}

/* ---- work ---- */

static void fake_queue(struct gf_lane *lane, struct fake_op op)
{
    struct fake_lane *const fake = (struct fake_lane *)lane;
    fake_check_thread(fake_of(lane), "work");
    assert_true(fake->ops < 512);
    fake->op[fake->ops++] = op;
}

/* For a lane the constants come in its order, from a copy: the stage may go on. */
static enum gf_status fake_load(struct gf_backend *backend, struct gf_lane *lane,
                                const struct gf_stage *stage, const void **constants,
                                struct gf_error *error)
{
    if (!stage->constants_size)
        return GF_OK;
    void *const data = fake_new_block((struct fake_device *)backend, stage->constants_size, stage);
    void *const staged = lane ? malloc(stage->constants_size) : data;
    assert_non_null(staged);
    memcpy(staged, stage->constants, stage->constants_size);
    if (lane)
        fake_queue(lane, (struct fake_op){.kind = FAKE_LOAD,
                                          .staged = staged,
                                          .loaded = data,
                                          .bytes = stage->constants_size});
    *constants = data;
    return GF_OK;
}

static enum gf_status fake_failure(struct gf_error *error)
{
    return gf_fail(error, GF_ERROR_DEVICE, "fake:0: unspecified launch failure");
}

static bool fake_has_failed(struct fake_device *device)
{
    pthread_mutex_lock(&device->lock);
    const bool failed = device->failed;
    pthread_mutex_unlock(&device->lock);
    return failed;
}

static enum gf_status fake_upload(struct gf_lane *lane, const struct gf_view *dst,
                                  const struct gf_view *src, struct gf_error *error)
{
    struct fake_device *const device = fake_of(lane);
    fake_check_view(device, dst, "upload");
    pthread_mutex_lock(&device->lock);
    device->uploads++;
    device->upload_bytes += gf_row_bytes(src->format) * (size_t)src->rows;
    pthread_mutex_unlock(&device->lock);
    fake_queue(lane, (struct fake_op){.kind = FAKE_COPY, .in = *src, .out = *dst});
    return GF_OK;
}

static enum gf_status fake_download(struct gf_lane *lane, const struct gf_view *dst,
                                    const struct gf_view *src, struct gf_error *error)
{
    struct fake_device *const device = fake_of(lane);
    fake_check_view(device, src, "download");
    pthread_mutex_lock(&device->lock);
    device->downloads++;
    device->download_bytes += gf_row_bytes(src->format) * (size_t)src->rows;
    pthread_mutex_unlock(&device->lock);
    fake_queue(lane, (struct fake_op){.kind = FAKE_COPY, .in = *src, .out = *dst});
    return GF_OK;
}

static size_t fake_scratch(const struct gf_stage *stage, int rows)
{
    return gf_stage_cpu_scratch(stage, rows);
}

static enum gf_status fake_run(struct gf_lane *lane, const struct gf_stage *stage,
                               const void *constants, const struct gf_view *in,
                               const struct gf_view *out, void *scratch, struct gf_error *error)
{
    struct fake_device *const device = fake_of(lane);
    fake_check_view(device, in, stage->filter->name);
    fake_check_view(device, out, stage->filter->name);
    pthread_mutex_lock(&device->lock);
    const bool fails = ++device->runs == device->fail_run;
    device->failed |= fails;
    pthread_mutex_unlock(&device->lock);
    if (fails && !device->fail_late)
        return fake_failure(error);
    fake_queue(lane, (struct fake_op){.kind = FAKE_RUN,
                                      .in = *in,
                                      .out = *out,
                                      .stage = stage,
                                      .constants = constants,
                                      .scratch = scratch});
    return GF_OK;
}

static void fake_mark(struct gf_lane *lane, enum gf_span_kind kind, int stage, size_t bytes)
{
    fake_queue(lane,
               (struct fake_op){.kind = FAKE_MARK, .span = kind, .index = stage, .bytes = bytes});
}

/* ---- statistics ---- */

static enum gf_status fake_statistic_open(struct gf_lane *lane, const struct gf_stage *stage,
                                          struct gf_error *error)
{
    struct fake_lane *const fake = (struct fake_lane *)lane;
    fake->statistic = gf_stage_statistic(stage);
    fake->histogram = (struct gf_histogram){
        .channels = gf_statistic_channels(fake->statistic, stage->in), .bins = 1 << stage->in.bits};
    fake->histogram.count =
        calloc((size_t)fake->histogram.channels * (size_t)fake->histogram.bins, sizeof(uint64_t));
    assert_non_null(fake->histogram.count);
    return GF_OK;
}

static enum gf_status fake_statistic_add(struct gf_lane *lane, const struct gf_view *view,
                                         struct gf_error *error)
{
    fake_check_view(fake_of(lane), view, "histogram");
    fake_queue(lane, (struct fake_op){.kind = FAKE_STATISTIC, .in = *view});
    return GF_OK;
}

/* ---- the queued work ---- */

static void fake_copy(const struct gf_view *src, const struct gf_view *dst)
{
    for (int row = src->y; row < src->y + src->rows; row++)
        memcpy(gf_view_row(dst, row), gf_view_row(src, row), gf_row_bytes(src->format));
}

/* Runs the stage on poisoned memory: bytes that it leaves out stay poison, and bytes that it writes
 * between rows are found. */
static void fake_do_run(struct fake_device *device, const struct fake_op *op)
{
    const struct gf_view *const out = &op->out;
    const size_t row_bytes = gf_row_bytes(out->format);
    const size_t padding = out->pitch - row_bytes;
    unsigned char poison[16];
    char text[120];
    snprintf(text, sizeof text, "%s: bytes between the rows were written", op->stage->filter->name);
    memset(poison, FAKE_POISON, sizeof poison);
    for (int row = out->y; row < out->y + out->rows; row++)
        memset(gf_view_row(out, row), FAKE_POISON,
               row + 1 < out->y + out->rows ? out->pitch : row_bytes);
    if (fake_scratch(op->stage, out->rows))
        memset(op->scratch, FAKE_POISON, fake_scratch(op->stage, out->rows));
    if (op->stage->constants_size &&
        (!op->constants || memcmp(op->constants, op->stage->constants, op->stage->constants_size)))
        fake_complain(device, "a stage ran without its constants on the device");
    gf_stage_cpu(op->stage, &op->in, out, op->scratch);
    for (int row = out->y; row + 1 < out->y + out->rows; row++) {
        if (memcmp(gf_view_row(out, row) + row_bytes, poison, padding))
            fake_complain(device, text);
    }
}

static void fake_do(struct fake_lane *lane, const struct fake_op *op)
{
    const double now = gf_now();
    switch (op->kind) {
    case FAKE_COPY:
        fake_copy(&op->in, &op->out);
        break;
    case FAKE_LOAD:
        memcpy(op->loaded, op->staged, op->bytes);
        break;
    case FAKE_RUN:
        fake_do_run(fake_of(&lane->base), op);
        break;
    case FAKE_STATISTIC:
        gf_histogram_add(&op->in, lane->statistic, &lane->histogram);
        break;
    case FAKE_MARK:
        if (op->span != GF_SPAN_START)
            gf_spans_add(lane->base.spans, op->span, op->index, lane->base.index, lane->mark_s, now,
                         op->bytes);
        lane->mark_s = now;
        break;
    }
}

static enum gf_status fake_wait(struct gf_lane *lane, struct gf_error *error)
{
    struct fake_device *const device = fake_of(lane);
    struct fake_lane *const fake = (struct fake_lane *)lane;
    fake_check_thread(device, "wait");
    if (fake_has_failed(device)) {
        fake_drop_ops(fake);
        return fake_failure(error);
    }
    for (int i = 0; i < fake->ops; i++)
        fake_do(fake, &fake->op[i]);
    fake_drop_ops(fake);
    pthread_mutex_lock(&device->lock);
    device->waits++;
    pthread_mutex_unlock(&device->lock);
    return GF_OK;
}

static enum gf_status fake_statistic_take(struct gf_lane *lane, struct gf_histogram *into,
                                          struct gf_error *error)
{
    const struct fake_lane *const fake = (struct fake_lane *)lane;
    const enum gf_status status = fake_wait(lane, error);
    if (status)
        return status;
    for (size_t i = 0; i < (size_t)into->channels * (size_t)into->bins; i++)
        into->count[i] += fake->histogram.count[i];
    return GF_OK;
}

static void fake_measure(struct gf_backend *backend, struct gf_profile *profile)
{
    profile->device_copy_peak = profile->upload_peak = profile->download_peak = 1e9;
}

/* ---- for the tests ---- */

static inline void fake_open(struct fake_device *device)
{
    *device = (struct fake_device){
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .calls = {.band_bytes_least = 512,
                  .band_bytes_most = 4096,
                  .ready = fake_ready,
                  .close = fake_close,
                  .describe = fake_describe,
                  .alloc = fake_alloc,
                  .release = fake_release,
                  .free_bytes = fake_free_bytes,
                  .share = fake_share,
                  .unshare = fake_unshare,
                  .pin = fake_pin,
                  .unpin = fake_unpin,
                  .lane_open = fake_lane_open,
                  .lane_close = fake_lane_close,
                  .lane_enter = fake_lane_enter,
                  .load = fake_load,
                  .unload = fake_unload,
                  .upload = fake_upload,
                  .download = fake_download,
                  .scratch = fake_scratch,
                  .run = fake_run,
                  .reaches = fake_reaches,
                  .statistic_open = fake_statistic_open,
                  .statistic_add = fake_statistic_add,
                  .statistic_take = fake_statistic_take,
                  .statistic_close = fake_statistic_close,
                  .mark = fake_mark,
                  .wait = fake_wait,
                  .measure = fake_measure},
    };
    device->base.calls = &device->calls;
}

/* After a run: all memory was returned, and the device has no complaint. */
static inline void fake_assert_clean(const char *label, const struct fake_device *device)
{
    if (device->complaints)
        fail_msg("%s: %s (and %d more)", label, device->complaint, device->complaints - 1);
    for (int i = 0; i < FAKE_BLOCKS; i++) {
        if (device->block[i].data)
            fail_msg("%s: %zu bytes of device memory were not released%s", label,
                     device->block[i].size, device->block[i].stage ? " (constants)" : "");
    }
    for (int i = 0; i < 64; i++) {
        if (device->pinned[i])
            fail_msg("%s: host memory was left pinned", label);
    }
    if (device->shared)
        fail_msg("%s: %d pieces of shared memory were not returned", label, device->shared);
    if (device->lanes_open)
        fail_msg("%s: %d lanes were left open", label, device->lanes_open);
}
