#include "codec/png/write/png_stripes.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/pages.h"
#include "codec/common/checks.h"
#include "codec/common/ordered_work.h"
#include "codec/common/samples.h"
#include "codec/io/output.h"
#include "codec/png/write/png_pack.h"

enum {
    MEMORY_BYTES = 64 << 20,
    MEMORY_SHARE = 4 /* the writer may use 1/4 of options->memory_bytes */
};

/* The caller fills stripe k in slot k % slots, any thread compresses it, and the caller writes it
 * in order. */
struct gf_png_stripes {
    struct gf_output *output;
    struct gf_format format;
    struct gf_png_layout layout;
    struct gf_png_stripe *slot;
    int slots;
    struct gf_png_packer *packer; /* one for each thread */
    int packers;
    struct gf_ordered_work *work;
    int filled, written; /* numbers of stripes */
    int row;             /* next row of the stripe that is being filled */
    uint32_t adler;
};

static struct gf_png_stripe *slot_of(const struct gf_png_stripes *stripes, int index)
{
    return &stripes->slot[index % stripes->slots];
}

static bool pack(void *context, int thread, int index)
{
    const struct gf_png_stripes *const stripes = context;
    return gf_png_pack(&stripes->packer[thread], &stripes->layout, slot_of(stripes, index));
}

/* Return the memory of one slot, and of a thread's packer; zlib's part is an estimate. */
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

/* Returns the number of threads: at most one for each stripe, and as many as the memory allows. */
static int packer_count(const struct gf_png_stripes *stripes, const struct gf_options *options)
{
    const struct gf_png_layout *const layout = &stripes->layout;
    const uint64_t budget =
        options->memory_bytes ? options->memory_bytes / MEMORY_SHARE : MEMORY_BYTES;
    const uint64_t slot = slot_bytes(layout);
    const uint64_t each = slot + slot / 2 + packer_bytes(layout);
    const uint64_t affordable = budget > 2 * slot ? (budget - 2 * slot) / each : 1;
    int count = gf_codec_threads(options);
    count = count < layout->count ? count : layout->count;
    count = (uint64_t)count < affordable ? count : (int)affordable;
    return count > 1 ? count : 1;
}

/* Returns the number of slots. One slot is being filled. For every two that are being compressed
 * one more is ready and waits, since stripes are written in order. */
static int slot_count(const struct gf_png_stripes *stripes)
{
    const int count = stripes->packers + stripes->packers / 2 + 1;
    return count < stripes->layout.count ? count : stripes->layout.count;
}

/* Allocates the slots. gf_pages_alloc() returns zeros, which the margins of rows must be. */
static bool open_slots(struct gf_png_stripes *stripes)
{
    const struct gf_png_layout *const layout = &stripes->layout;
    stripes->slot = calloc((size_t)stripes->slots, sizeof *stripes->slot);
    bool there = stripes->slot;
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
    bool there = stripes->packer;
    for (int i = 0; there && i < stripes->packers; i++)
        there = gf_png_packer_open(&stripes->packer[i], &stripes->layout);
    return there;
}

enum gf_status gf_png_stripes_open(struct gf_output *output, struct gf_format format, bool indices,
                                   const struct gf_options *options,
                                   struct gf_png_stripes **stripes, struct gf_error *error)
{
    struct gf_png_stripes *const opened = calloc(1, sizeof *opened);
    if (!opened)
        return gf_fail_memory(error);
    opened->output = output;
    opened->format = format;
    opened->adler = 1;
    opened->layout = layout_of(format, options);
    opened->layout.indices = indices;
    opened->packers = packer_count(opened, options);
    opened->slots = slot_count(opened);
    enum gf_status status =
        open_slots(opened) && open_packers(opened) ? GF_OK : gf_fail_memory(error);
    if (!status)
        status = gf_ordered_work_open(opened->packers, opened->slots, pack, opened, &opened->work,
                                      error);
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
    gf_ordered_work_close(stripes->work);
    for (int i = 0; stripes->packer && i < stripes->packers; i++)
        gf_png_packer_close(&stripes->packer[i]);
    for (int i = 0; stripes->slot && i < stripes->slots; i++) {
        gf_pages_free(stripes->slot[i].raw, stripes->layout.raw_bytes);
        gf_pages_free(stripes->slot[i].chunk, stripes->layout.chunk_bytes);
    }
    free(stripes->packer);
    free(stripes->slot);
    free(stripes);
}

/* Writes the next compressed stripes, and waits until at most `most` stripes are not written
 * yet. */
static enum gf_status write_packed(struct gf_png_stripes *stripes, int most, struct gf_error *error)
{
    bool failed = false;
    while (gf_ordered_work_take(stripes->work, gf_ordered_work_pending(stripes->work) > most,
                                &failed)) {
        struct gf_png_stripe *const stripe = slot_of(stripes, stripes->written++);
        stripes->adler = (uint32_t)adler32_combine(stripes->adler, stripe->adler,
                                                   (z_off_t)stripe->filtered_bytes);
        if (failed)
            return gf_fail_memory(error);
        if (stripes->written == stripes->layout.count)
            gf_png_stripe_end(stripe, stripes->adler);
        GF_TRY(gf_output_write(stripes->output, stripe->chunk, stripe->chunk_bytes, error));
    }
    return GF_OK;
}

/* Copies the rows to which the new stripe may refer from the slot of the last stripe. */
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

static enum gf_status write_row(struct gf_png_stripes *stripes, const unsigned char *src,
                                struct gf_error *error)
{
    const struct gf_png_layout *const layout = &stripes->layout;
    if (!stripes->row) {
        GF_TRY(write_packed(stripes, stripes->slots - 1, error));
        begin_stripe(stripes, stripes->filled);
    }
    unsigned char *const row =
        gf_png_stripe_row(layout, slot_of(stripes, stripes->filled), stripes->row++);
    if (stripes->format.bits == 16)
        gf_samples_big_endian(src, row, layout->row_bytes / 2);
    else
        memcpy(row, src, layout->row_bytes);
    if (stripes->row == gf_png_stripe_rows(layout, stripes->filled)) {
        gf_ordered_work_submit(stripes->work);
        stripes->filled++;
        stripes->row = 0;
    }
    return GF_OK;
}

enum gf_status gf_png_stripes_write(struct gf_png_stripes *stripes, int rows,
                                    const unsigned char *src, size_t pitch, struct gf_error *error)
{
    for (int y = 0; y < rows; y++)
        GF_TRY(write_row(stripes, src + (size_t)y * pitch, error));
    return GF_OK;
}

enum gf_status gf_png_stripes_finish(struct gf_png_stripes *stripes, struct gf_error *error)
{
    return write_packed(stripes, 0, error);
}
