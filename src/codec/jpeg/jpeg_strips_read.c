#include "codec/jpeg/jpeg_strips.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/pages.h"
#include "codec/common/ordered_work.h"
#include "codec/jpeg/jpeg_strip_decode.h"

enum {
    PIXELS_LEAST = 1 << 20, /* several threads are not faster for a smaller picture */
    /* A strip also decodes one row of units above and below its own rows, which costs less for long
     * strips. */
    ROWS_LEAST = 4,
    ROWS_MOST = 16,
    MEMORY_BYTES = 64 << 20,
    MEMORY_SHARE = 4, /* the reader may use 1/4 of options->memory_bytes */
    THREAD_BYTES = 1 << 20,
    SMALL_SEGMENT_BYTES = 256 /* if the caller chooses the strips, which are small in that case */
};

struct slot {
    unsigned char *pixels;
    bool decoded;
};

/* Any thread decodes strip k to slot k % slots; the caller reads the strips in order. Before
 * decoding, the thread extends the index up to the end of its strip. The index is extended under
 * the lock, from strip to strip without a pause. */
struct gf_jpeg_strips_reader {
    struct gf_jpeg_kind kind;
    int64_t begin;     /* offset of the scan in the input */
    int segment_bytes; /* segment size of the scouts; 0: they choose */
    size_t row_bytes;
    int rows, strip_rows, context; /* rows of units: of the picture, of a strip, of the context on
                                    * each side */
    int strips, threads, slots;
    struct slot *slot;
    unsigned char *pixels; /* memory of all slots as one allocation, which can use huge pages */
    struct gf_jpeg_strip_decoder **decoder; /* one for each thread */
    struct gf_jpeg_index *index;
    pthread_mutex_t lock; /* guards the index */
    struct gf_ordered_work *work;
    int strip, row; /* strip: the current strip; row: its next row of pixels to read */
    bool failed;
};

static int units_across(const struct gf_jpeg_kind *kind)
{
    return ((int)kind->jpeg->image_width + kind->unit_width - 1) / kind->unit_width;
}

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

/* Returns the number of pixel rows above that row of units. */
static int pixel_row(const struct gf_jpeg_strips_reader *reader, int row)
{
    return smaller(row * reader->kind.unit_height, (int)reader->kind.jpeg->image_height);
}

static int pixel_rows(const struct gf_jpeg_strips_reader *reader, int strip)
{
    const int first = strip * reader->strip_rows;
    return pixel_row(reader, first + reader->strip_rows) - pixel_row(reader, first);
}

/* Describes a strip and the rows around it on which its pixels depend. Returns false if its bits,
 * or any earlier bits, are damaged. */
static bool find_strip(struct gf_jpeg_strips_reader *reader, int number,
                       struct gf_jpeg_strip *strip)
{
    const int first = number * reader->strip_rows;
    const int begin = number ? first - reader->context : 0;
    const int end = smaller(first + reader->strip_rows + reader->context, reader->rows);
    pthread_mutex_lock(&reader->lock);
    const bool found = gf_jpeg_index_reach(reader->index, end);
    if (found) {
        strip->begin = reader->index->row[begin];
        strip->end = reader->index->row[end];
    }
    pthread_mutex_unlock(&reader->lock);
    strip->height = pixel_row(reader, end) - pixel_row(reader, begin);
    strip->first_row = pixel_row(reader, first) - pixel_row(reader, begin);
    strip->rows = pixel_rows(reader, number);
    return found;
}

static bool decode_strip(void *context, int thread, int number)
{
    struct gf_jpeg_strips_reader *const reader = context;
    struct slot *const slot = &reader->slot[number % reader->slots];
    struct gf_jpeg_strip strip;
    slot->decoded =
        find_strip(reader, number, &strip) &&
        gf_jpeg_strip_decode(reader->decoder[thread], &strip, slot->pixels, reader->row_bytes);
    return true;
}

static int greatest_divisor(int a, int b)
{
    return b ? greatest_divisor(b, a % b) : a;
}

static uint64_t slot_bytes(const struct gf_jpeg_strips_reader *reader)
{
    return (uint64_t)reader->row_bytes * (uint64_t)(reader->strip_rows * reader->kind.unit_height);
}

/* Returns the number of slots: one for the strip that is being read, one for each thread that
 * decodes, and for every four threads one that waits. */
static int slot_count(int threads)
{
    return threads + threads / 4 + 1;
}

/* Chooses the context. If restart intervals do not end with a row of units, strips and their
 * context can begin only at rows where an interval ends. Without vertical upsampling no context is
 * needed. */
static bool choose_context(struct gf_jpeg_strips_reader *reader)
{
    const struct jpeg_decompress_struct *const jpeg = reader->kind.jpeg;
    const int interval = (int)jpeg->restart_interval;
    const int step =
        interval ? interval / greatest_divisor(interval, units_across(&reader->kind)) : 1;
    reader->context = jpeg->max_v_samp_factor > 1 ? step : 0;
    reader->strip_rows = (reader->strip_rows + step - 1) / step * step;
    return step <= ROWS_MOST;
}

/* Chooses the size of strips and the number of threads: two strips or more for each thread, if the
 * memory suffices. */
static bool choose_strips(struct gf_jpeg_strips_reader *reader, const struct gf_options *options,
                          int strip_rows)
{
    const struct jpeg_decompress_struct *const jpeg = reader->kind.jpeg;
    const uint64_t budget =
        options->memory_bytes ? options->memory_bytes / MEMORY_SHARE : MEMORY_BYTES;
    reader->threads = gf_jpeg_share_threads(options);
    if (!strip_rows && (uint64_t)jpeg->image_width * jpeg->image_height < PIXELS_LEAST)
        return false;
    reader->strip_rows = reader->rows / (2 * reader->threads);
    if (reader->strip_rows > ROWS_MOST)
        reader->strip_rows = ROWS_MOST;
    if (reader->strip_rows < ROWS_LEAST)
        reader->strip_rows = ROWS_LEAST;
    if (strip_rows)
        reader->strip_rows = strip_rows;
    const int least = smaller(ROWS_LEAST, reader->strip_rows);
    while (reader->strip_rows > least &&
           (uint64_t)slot_count(reader->threads) * slot_bytes(reader) > budget)
        reader->strip_rows--;
    if (!choose_context(reader))
        return false;
    reader->strips = (reader->rows + reader->strip_rows - 1) / reader->strip_rows;
    reader->threads = smaller(reader->threads, reader->strips);
    while (reader->threads > 1 && gf_jpeg_strips_reader_memory(reader) > budget)
        reader->threads--;
    reader->slots = smaller(slot_count(reader->threads), reader->strips);
    return reader->threads > 1;
}

struct gf_jpeg_strips_reader *gf_jpeg_strips_reader_open(struct jpeg_decompress_struct *jpeg,
                                                         struct gf_input *input, int64_t begin,
                                                         const struct gf_options *options,
                                                         int strip_rows)
{
    if (gf_input_size(input) < 0 || gf_jpeg_share_threads(options) == 1 ||
        !gf_jpeg_kind_suits(jpeg))
        return NULL;
    struct gf_jpeg_strips_reader *const reader = calloc(1, sizeof *reader);
    if (!reader)
        return NULL;
    pthread_mutex_init(&reader->lock, NULL);
    reader->begin = begin;
    reader->segment_bytes = strip_rows ? SMALL_SEGMENT_BYTES : 0;
    reader->row_bytes = (size_t)jpeg->image_width * (size_t)jpeg->num_components;
    if (gf_jpeg_kind_make(&reader->kind, jpeg, input)) {
        reader->rows =
            ((int)jpeg->image_height + reader->kind.unit_height - 1) / reader->kind.unit_height;
        if (choose_strips(reader, options, strip_rows))
            return reader;
    }
    gf_jpeg_strips_reader_close(reader);
    return NULL;
}

uint64_t gf_jpeg_strips_reader_memory(const struct gf_jpeg_strips_reader *reader)
{
    return (uint64_t)slot_count(reader->threads) * slot_bytes(reader) +
           (uint64_t)reader->threads * THREAD_BYTES;
}

void gf_jpeg_strips_reader_close(struct gf_jpeg_strips_reader *reader)
{
    if (!reader)
        return;
    gf_ordered_work_close(reader->work);
    gf_pages_free(reader->pixels, (size_t)reader->slots * slot_bytes(reader));
    for (int i = 0; reader->decoder && i < reader->threads; i++)
        gf_jpeg_strip_decoder_close(reader->decoder[i]);
    pthread_mutex_destroy(&reader->lock);
    gf_jpeg_index_close(reader->index);
    free(reader->decoder);
    free(reader->slot);
    free(reader);
}

static bool start(struct gf_jpeg_strips_reader *reader)
{
    const struct gf_jpeg_kind *const kind = &reader->kind;
    reader->slot = calloc((size_t)reader->slots, sizeof *reader->slot);
    reader->decoder = calloc((size_t)reader->threads, sizeof *reader->decoder);
    reader->index = gf_jpeg_index_open(&kind->unit, units_across(kind), reader->rows,
                                       (int)kind->jpeg->restart_interval, kind->input,
                                       reader->begin, reader->threads, reader->segment_bytes);
    reader->pixels = gf_pages_alloc((size_t)reader->slots * slot_bytes(reader));
    bool there = reader->slot && reader->decoder && reader->index && reader->pixels;
    for (int i = 0; there && i < reader->slots; i++)
        reader->slot[i].pixels = reader->pixels + (size_t)i * slot_bytes(reader);
    for (int i = 0; there && i < reader->threads; i++) {
        reader->decoder[i] = gf_jpeg_strip_decoder_open(kind);
        there = reader->decoder[i];
    }
    if (!there || gf_ordered_work_open(reader->threads, reader->slots, decode_strip, reader,
                                       &reader->work, NULL))
        return false;
    for (int i = 0; i < reader->slots; i++)
        gf_ordered_work_submit(reader->work);
    return true;
}

/* Waits for strip `strip`, whose first row is the next row, and submits the slot of the strip
 * before it again. */
static bool take_strip(struct gf_jpeg_strips_reader *reader)
{
    bool failed;
    if (!reader->work && !start(reader))
        return false;
    if (reader->strip && reader->strip + reader->slots <= reader->strips)
        gf_ordered_work_submit(reader->work);
    return gf_ordered_work_take(reader->work, true, &failed) &&
           reader->slot[reader->strip % reader->slots].decoded;
}

int gf_jpeg_strips_read(struct gf_jpeg_strips_reader *reader, int rows, unsigned char *dst,
                        size_t pitch)
{
    int done = 0;
    for (; done < rows && !reader->failed; done++, dst += pitch) {
        if (!reader->row && !take_strip(reader)) {
            reader->failed = true;
            break;
        }
        memcpy(dst,
               reader->slot[reader->strip % reader->slots].pixels +
                   (size_t)reader->row * reader->row_bytes,
               reader->row_bytes);
        if (++reader->row == pixel_rows(reader, reader->strip)) {
            reader->strip++;
            reader->row = 0;
        }
    }
    return done;
}

int64_t gf_jpeg_strips_reader_end(const struct gf_jpeg_strips_reader *reader)
{
    return reader->index->bits.begin; /* the index has read the end marker */
}

bool gf_jpeg_codes_are_left(struct jpeg_decompress_struct *jpeg, struct gf_input *input,
                            int64_t begin)
{
    struct gf_jpeg_index *index = NULL;
    if (gf_input_size(input) < 0 || !gf_jpeg_kind_suits(jpeg))
        return false;
    struct gf_jpeg_kind *const kind = malloc(sizeof *kind);
    if (kind && gf_jpeg_kind_make(kind, jpeg, input))
        index =
            gf_jpeg_index_open(&kind->unit, (int)jpeg->MCUs_per_row, (int)jpeg->MCU_rows_in_scan,
                               (int)jpeg->restart_interval, input, begin, 1, 0);
    const bool are_left = index && gf_jpeg_index_has_more(index);
    gf_jpeg_index_close(index);
    free(kind);
    return are_left;
}
