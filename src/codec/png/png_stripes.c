#include "codec/png/png_stripes.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "base/pages.h"
#include "codec/common/samples.h"
#include "codec/io/output.h"
#include "codec/png/png_pack.h"

enum { MEMORY_BYTES = 64 << 20, MEMORY_SHARE = 4 /* the writer's part of options->memory_bytes */ };

/* Stripe k is filled in slot k % slots, packed by any thread, and written in order. The counters
 * only grow; the lock guards them and `done`. */
struct gf_png_stripes {
    struct gf_output *output;
    struct gf_format format;
    struct gf_png_layout layout;
    struct gf_png_stripe *slot;
    bool *done; /* [slot] */
    int slots;
    struct gf_png_packer
        *packer; /* one for each thread; without threads the caller uses the first */
    int packers;
    pthread_t *thread;
    int threads; /* that were started */
    pthread_mutex_t lock;
    pthread_cond_t filled_more, done_more;
    int filled, taken, written; /* numbers of stripes */
    int row;                    /* the next row of the stripe that is being filled */
    bool ending, failed;
    uint32_t adler;
};

static enum gf_status fail_memory(struct gf_error *error)
{
    return gf_fail(error, GF_ERROR_MEMORY, "out of memory");
}

static struct gf_png_stripe *slot_of(const struct gf_png_stripes *stripes, int index)
{
    return &stripes->slot[index % stripes->slots];
}

/* ---- the threads ---- */

static int next_filled(struct gf_png_stripes *stripes)
{
    pthread_mutex_lock(&stripes->lock);
    while (stripes->taken == stripes->filled && !stripes->ending)
        pthread_cond_wait(&stripes->filled_more, &stripes->lock);
    const int index = stripes->ending ? -1 : stripes->taken++;
    pthread_mutex_unlock(&stripes->lock);
    return index;
}

static void mark_packed(struct gf_png_stripes *stripes, int index, bool packed)
{
    pthread_mutex_lock(&stripes->lock);
    stripes->done[index % stripes->slots] = true;
    stripes->failed |= !packed;
    pthread_cond_signal(&stripes->done_more);
    pthread_mutex_unlock(&stripes->lock);
}

struct start {
    struct gf_png_stripes *stripes;
    struct gf_png_packer *packer;
};

static void *thread_main(void *argument)
{
    const struct start start = *(struct start *)argument;
    free(argument);
    for (int index; (index = next_filled(start.stripes)) >= 0;)
        mark_packed(
            start.stripes, index,
            gf_png_pack(start.packer, &start.stripes->layout, slot_of(start.stripes, index)));
    return NULL;
}

static enum gf_status start_threads(struct gf_png_stripes *stripes, struct gf_error *error)
{
    for (; stripes->threads < stripes->packers; stripes->threads++) {
        struct start *const start = malloc(sizeof *start);
        if (!start)
            return fail_memory(error);
        *start = (struct start){stripes, &stripes->packer[stripes->threads]};
        if (pthread_create(&stripes->thread[stripes->threads], NULL, thread_main, start)) {
            free(start);
            break; /* those that were started do the work, or the caller where there are none */
        }
    }
    return GF_OK;
}

/* ---- opening and closing ---- */

/* The memory of one slot, and of a thread's packer; zlib's part is an estimate. */
static uint64_t slot_bytes(const struct gf_png_layout *layout)
{
    return layout->raw_bytes + layout->chunk_bytes;
}

static uint64_t packer_bytes(const struct gf_png_layout *layout)
{
    return layout->filtered_bytes + layout->chunk_bytes + ((uint64_t)256 << 10);
}

static struct gf_png_layout layout_of(struct gf_format format, const struct gf_options *options)
{
    return gf_png_layout_make(format.height, gf_row_bytes(format),
                              format.channels * format.bits / 8, options->png_level);
}

uint64_t gf_png_stripes_memory(struct gf_format format, const struct gf_options *options)
{
    const struct gf_png_layout layout = layout_of(format, options);
    return (layout.count > 1 ? 2 : 1) * slot_bytes(&layout) + packer_bytes(&layout);
}

/* The number of threads: at most one for each stripe, and as many as the memory allows. */
static int packer_count(const struct gf_png_stripes *stripes, const struct gf_options *options)
{
    const struct gf_png_layout *const layout = &stripes->layout;
    const uint64_t budget =
        options->memory_bytes ? options->memory_bytes / MEMORY_SHARE : MEMORY_BYTES;
    const uint64_t slot = slot_bytes(layout);
    const uint64_t each = slot + slot / 2 + packer_bytes(layout);
    const uint64_t affordable = budget > 2 * slot ? (budget - 2 * slot) / each : 1;
    int count = options->threads > 0 ? options->threads : gf_cpu_count();
    count = count < layout->count ? count : layout->count;
    count = (uint64_t)count < affordable ? count : (int)affordable;
    return count > 1 ? count : 1;
}

/* One slot is being filled. For every two that are being packed one more is packed already and
 * waits, since stripes are written in order. */
static int slot_count(const struct gf_png_stripes *stripes)
{
    const int count = stripes->packers + stripes->packers / 2 + 1;
    return count < stripes->layout.count ? count : stripes->layout.count;
}

/* gf_pages_alloc gives zeros, as the margins of rows must be. */
static bool open_slots(struct gf_png_stripes *stripes)
{
    const struct gf_png_layout *const layout = &stripes->layout;
    stripes->slot = calloc((size_t)stripes->slots, sizeof *stripes->slot);
    stripes->done = calloc((size_t)stripes->slots, sizeof *stripes->done);
    bool there = stripes->slot && stripes->done;
    for (int i = 0; there && i < stripes->slots; i++) {
        stripes->slot[i].raw = gf_pages_alloc(layout->raw_bytes);
        stripes->slot[i].chunk = gf_pages_alloc(layout->chunk_bytes);
        there = stripes->slot[i].raw && stripes->slot[i].chunk;
    }
    return there;
}

static bool open_packers(struct gf_png_stripes *stripes)
{
    stripes->packer = calloc((size_t)stripes->packers, sizeof *stripes->packer);
    stripes->thread = calloc((size_t)stripes->packers, sizeof *stripes->thread);
    bool there = stripes->packer && stripes->thread;
    for (int i = 0; there && i < stripes->packers; i++)
        there = gf_png_packer_open(&stripes->packer[i], &stripes->layout);
    return there;
}

enum gf_status gf_png_stripes_open(struct gf_output *output, struct gf_format format,
                                   const struct gf_options *options,
                                   struct gf_png_stripes **stripes, struct gf_error *error)
{
    struct gf_png_stripes *const opened = calloc(1, sizeof *opened);
    if (!opened)
        return fail_memory(error);
    pthread_mutex_init(&opened->lock, NULL);
    pthread_cond_init(&opened->filled_more, NULL);
    pthread_cond_init(&opened->done_more, NULL);
    opened->output = output;
    opened->format = format;
    opened->adler = 1;
    opened->layout = layout_of(format, options);
    opened->packers = packer_count(opened, options);
    opened->slots = slot_count(opened);
    enum gf_status status = open_slots(opened) && open_packers(opened) ? GF_OK : fail_memory(error);
    if (!status && opened->packers > 1)
        status = start_threads(opened, error);
    if (status) {
        gf_png_stripes_close(opened);
        return status;
    }
    *stripes = opened;
    return GF_OK;
}

void gf_png_stripes_close(struct gf_png_stripes *stripes)
{
    if (!stripes)
        return;
    pthread_mutex_lock(&stripes->lock);
    stripes->ending = true;
    pthread_cond_broadcast(&stripes->filled_more);
    pthread_mutex_unlock(&stripes->lock);
    for (int i = 0; i < stripes->threads; i++)
        pthread_join(stripes->thread[i], NULL);
    for (int i = 0; stripes->packer && i < stripes->packers; i++)
        gf_png_packer_close(&stripes->packer[i]);
    for (int i = 0; stripes->slot && i < stripes->slots; i++) {
        gf_pages_free(stripes->slot[i].raw, stripes->layout.raw_bytes);
        gf_pages_free(stripes->slot[i].chunk, stripes->layout.chunk_bytes);
    }
    pthread_cond_destroy(&stripes->filled_more);
    pthread_cond_destroy(&stripes->done_more);
    pthread_mutex_destroy(&stripes->lock);
    free(stripes->thread);
    free(stripes->packer);
    free(stripes->done);
    free(stripes->slot);
    free(stripes);
}

/* ---- the rows ---- */

/* Whether the next stripe to be written is packed. With `wait` it waits until it is. */
static bool next_packed(struct gf_png_stripes *stripes, bool wait, bool *failed)
{
    bool *const done = &stripes->done[stripes->written % stripes->slots];
    pthread_mutex_lock(&stripes->lock);
    while (wait && !*done)
        pthread_cond_wait(&stripes->done_more, &stripes->lock);
    const bool packed = *done;
    *done = false;
    *failed = stripes->failed;
    pthread_mutex_unlock(&stripes->lock);
    return packed;
}

/* Writes all packed stripes that come next, and waits until no more than `most` are not written. */
static enum gf_status write_packed(struct gf_png_stripes *stripes, int most, struct gf_error *error)
{
    enum gf_status status = GF_OK;
    bool failed = false;
    while (!status && stripes->written < stripes->filled &&
           next_packed(stripes, stripes->filled - stripes->written > most, &failed)) {
        struct gf_png_stripe *const stripe = slot_of(stripes, stripes->written++);
        stripes->adler = (uint32_t)adler32_combine(stripes->adler, stripe->adler,
                                                   (z_off_t)stripe->filtered_bytes);
        if (failed)
            return fail_memory(error);
        if (stripes->written == stripes->layout.count)
            gf_png_stripe_end(stripe, stripes->adler);
        status = gf_output_write(stripes->output, stripe->chunk, stripe->chunk_bytes, error);
    }
    return status;
}

/* Copies the rows before the new stripe, to which it may refer, from the slot of the last one. */
static void begin_stripe(struct gf_png_stripes *stripes, int index)
{
    const struct gf_png_layout *const layout = &stripes->layout;
    struct gf_png_stripe *const stripe = slot_of(stripes, index);
    const int above = gf_png_stripe_above(layout, index);
    stripe->index = index;
    if (above <= layout->window_rows)
        memset(gf_png_stripe_row(layout, stripe, -above - 1), 0, layout->row_bytes);
    for (int row = -above; row < 0; row++)
        memcpy(gf_png_stripe_row(layout, stripe, row),
               gf_png_stripe_row(layout, slot_of(stripes, index - 1), row + layout->rows),
               layout->row_bytes);
}

/* Hands the filled stripe over to the threads; without threads it is packed here. */
static void end_stripe(struct gf_png_stripes *stripes)
{
    const int index = stripes->filled;
    if (!stripes->threads)
        mark_packed(stripes, index,
                    gf_png_pack(&stripes->packer[0], &stripes->layout, slot_of(stripes, index)));
    pthread_mutex_lock(&stripes->lock);
    stripes->filled++;
    pthread_cond_signal(&stripes->filled_more);
    pthread_mutex_unlock(&stripes->lock);
    stripes->row = 0;
}

static enum gf_status write_row(struct gf_png_stripes *stripes, const unsigned char *src,
                                struct gf_error *error)
{
    const struct gf_png_layout *const layout = &stripes->layout;
    if (!stripes->row) {
        const enum gf_status status = write_packed(stripes, stripes->slots - 1, error);
        if (status)
            return status;
        begin_stripe(stripes, stripes->filled);
    }
    unsigned char *const row =
        gf_png_stripe_row(layout, slot_of(stripes, stripes->filled), stripes->row++);
    if (stripes->format.bits == 16)
        gf_samples_big_endian(src, row, layout->row_bytes / 2);
    else
        memcpy(row, src, layout->row_bytes);
    if (stripes->row == gf_png_stripe_rows(layout, stripes->filled))
        end_stripe(stripes);
    return GF_OK;
}

enum gf_status gf_png_stripes_write(struct gf_png_stripes *stripes, int rows,
                                    const unsigned char *src, size_t pitch, struct gf_error *error)
{
    enum gf_status status = GF_OK;
    for (int y = 0; !status && y < rows; y++)
        status = write_row(stripes, src + (size_t)y * pitch, error);
    return status;
}

enum gf_status gf_png_stripes_finish(struct gf_png_stripes *stripes, struct gf_error *error)
{
    return write_packed(stripes, 0, error);
}
