#include "pixel/region/region.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/image.h"
#include "pixel/files/kept_files.h"
#include "pixel/float_rows.h"
#include "pixel/float_stage.h"

size_t gf_region_pitch(struct gf_format format)
{
    return gf_part_bytes(gf_row_bytes(format));
}

static int end_of(const struct gf_region_box *box)
{
    return box->at.y + box->at.height;
}

static const struct gf_stage *stages_of(const struct gf_region_parts *parts,
                                        const struct gf_region_box *box)
{
    return &parts->stage[box->first];
}

/* The rows of the input that a band reads. */

/* Finds the rows of the input of each stage of a box, and of the last result, for rows y0 .. y1 - 1
 * of the result. */
static void find_cuts(const struct gf_region_parts *parts, const struct gf_region_box *box, int y0,
                      int y1, struct gf_rows *cut)
{
    cut[box->count] = (struct gf_rows){y0, y1};
    for (int i = box->count; i > 0; i--)
        gf_stage_input_rows(&stages_of(parts, box)[i - 1], cut[i].first, cut[i].end,
                            &cut[i - 1].first, &cut[i - 1].end);
}

static struct gf_rows rows_read(const struct gf_region_parts *parts,
                                const struct gf_region_box *box, int y0, int y1)
{
    struct gf_rows cut[GF_REGION_STAGES_MAX + 1];
    find_cuts(parts, box, y0, y1, cut);
    return cut[0];
}

static bool needs_whole(const void *params)
{
    const struct gf_region_parts *const parts = params;
    bool whole = false;
    for (int i = 0; i < parts->stages; i++)
        whole |= gf_stage_needs_whole(&parts->stage[i]);
    return whole;
}

/* Finds the input rows of a band. Above a box they include what the first row of the box reads
 * above the band, and below a box what its last row reads below the band, so that the rows that
 * bands read never go back. */
static void input_rows(const struct gf_stage *stage, int y0, int y1, int *first, int *end)
{
    const struct gf_region_parts *const parts = stage->params;
    const bool whole = needs_whole(parts);
    for (int i = 0; i < parts->boxes; i++) {
        const struct gf_region_box *const box = &parts->box[i];
        const int low = y0 > box->at.y ? y0 : box->at.y, high = y1 < end_of(box) ? y1 : end_of(box);
        if (low < end_of(box) && (low < high || !whole)) {
            const struct gf_rows rows = rows_read(parts, box, low, low < high ? high : low + 1);
            *first = rows.first < *first ? rows.first : *first;
        }
        if (high > box->at.y && (low < high || !whole)) {
            const struct gf_rows rows = rows_read(parts, box, low < high ? low : high - 1, high);
            *end = rows.end > *end ? rows.end : *end;
        }
    }
}

typedef size_t scratch_of_stage(const struct gf_stage *stage, int rows);

/* Sets most[i] to the most rows that cut i (struct gf_region_band) can have for `rows` rows of a
 * box, wherever they are. It tries places a few rows apart, each with the rows up to the next
 * place, so that places in between need no more. */
static void find_most_rows(const struct gf_region_parts *parts, const struct gf_region_box *box,
                           int rows, int *most)
{
    struct gf_rows cut[GF_REGION_STAGES_MAX + 1];
    const int step = rows / 8 > 0 ? rows / 8 : 1, more = step - 1;
    memset(most, 0, (size_t)(box->count + 1) * sizeof *most);
    for (int y = box->at.y; y < end_of(box); y += step) {
        const int wanted = y + rows + more;
        find_cuts(parts, box, y, wanted < end_of(box) ? wanted : end_of(box), cut);
        for (int i = 0; i <= box->count; i++) {
            const int some = cut[i].end - cut[i].first;
            most[i] = some > most[i] ? some : most[i];
        }
    }
}

/* The bytes of the parts of a band's scratch memory (struct gf_region_band). */
struct sizes {
    size_t columns, made[2];
};

static struct sizes sizes_of(const struct gf_region_parts *parts, const struct gf_region_box *box,
                             const int *rows, struct gf_format in)
{
    const struct gf_stage *const stage = stages_of(parts, box);
    struct sizes sizes = {.columns = 0};
    if (box->columns < in.width)
        sizes.columns = gf_region_pitch(stage->in) * (size_t)rows[0];
    for (int i = 0; i < box->count; i++) {
        const size_t bytes = gf_region_pitch(stage[i].out) * (size_t)rows[i + 1];
        sizes.made[i % 2] = bytes > sizes.made[i % 2] ? bytes : sizes.made[i % 2];
    }
    return sizes;
}

static size_t scratch_bytes(const struct gf_stage *stage, int rows, scratch_of_stage *of_stage)
{
    const struct gf_region_parts *const parts = stage->params;
    size_t most = 0;
    for (int b = 0; b < parts->boxes; b++) {
        const struct gf_region_box *const box = &parts->box[b];
        int cut[GF_REGION_STAGES_MAX + 1];
        find_most_rows(parts, box, rows < box->at.height ? rows : box->at.height, cut);
        const struct sizes sizes = sizes_of(parts, box, cut, stage->in);
        size_t own = 0;
        for (int i = 0; i < box->count; i++) {
            const size_t bytes = of_stage(&stages_of(parts, box)[i], cut[i + 1]);
            own = bytes > own ? bytes : own;
        }
        own += sizes.columns + sizes.made[0] + sizes.made[1];
        most = own > most ? own : most;
    }
    return most;
}

static size_t cpu_scratch(const struct gf_stage *stage, int rows)
{
    return scratch_bytes(stage, rows, gf_stage_cpu_scratch);
}

static size_t cuda_scratch(const struct gf_stage *stage, int rows)
{
    return scratch_bytes(stage, rows, gf_stage_cuda_scratch);
}

bool gf_region_band(const struct gf_stage *stage, int box, const struct gf_view *out, void *scratch,
                    struct gf_region_band *band)
{
    const struct gf_region_parts *const parts = stage->params;
    const int y0 = out->y, y1 = out->y + out->rows;
    int rows[GF_REGION_STAGES_MAX + 1];
    band->box = &parts->box[box];
    const int first = y0 > band->box->at.y ? y0 : band->box->at.y;
    const int end = y1 < end_of(band->box) ? y1 : end_of(band->box);
    if (first >= end)
        return false;
    find_cuts(parts, band->box, first, end, band->cut);
    for (int i = 0; i <= band->box->count; i++)
        rows[i] = band->cut[i].end - band->cut[i].first;
    const struct sizes sizes = sizes_of(parts, band->box, rows, stage->in);
    band->columns = scratch;
    band->made[0] = band->columns + sizes.columns;
    band->made[1] = band->made[0] + sizes.made[0];
    band->scratch = band->made[1] + sizes.made[1];
    return true;
}

struct gf_stage gf_region_stage(const struct gf_stage *stage, const struct gf_region_band *band,
                                int i, struct gf_view *out)
{
    const struct gf_region_parts *const parts = stage->params;
    const struct gf_region_constants *const constants = stage->constants;
    const int index = band->box->first + i;
    struct gf_stage own = parts->stage[index];
    own.constants = (char *)stage->constants + constants->at[index];
    *out = gf_view_make(band->made[i % 2], gf_region_pitch(own.out), own.out, band->cut[i + 1]);
    return own;
}

static int pictures(const void *params, const struct gf_picture **list)
{
    const struct gf_region_parts *const parts = params;
    int count = 0;
    if (parts->mask)
        list[count++] = parts->mask;
    for (int i = 0; i < parts->box[0].count; i++)
        count += gf_stage_pictures(&parts->stage[i], list + count);
    return count;
}

static enum gf_statistic statistic(const void *params)
{
    return gf_stage_statistic(&((const struct gf_region_parts *)params)->stage[0]);
}

static int smooth(const void *params)
{
    const struct gf_stage *const first = &((const struct gf_region_parts *)params)->stage[0];
    return gf_filter_smooth(first->filter, first->params);
}

static bool begins_box(const struct gf_region_parts *parts, int index)
{
    bool begins = false;
    for (int b = 0; b < parts->boxes; b++)
        begins |= parts->box[b].first == index;
    return begins;
}

static enum gf_status prepare(struct gf_stage *stage, struct gf_error *error)
{
    struct gf_region_parts parts = *(const struct gf_region_parts *)stage->params;
    struct gf_region_constants header = {{0}};
    for (int i = 0; i < parts.stages; i++)
        parts.stage[i].histogram = begins_box(&parts, i) ? stage->histogram : NULL;
    return gf_stage_prepare_parts(stage, parts.stage, parts.stages, header.at, sizeof header,
                                  error);
}

struct gf_region_mask gf_region_mask_of(const struct gf_region_parts *parts,
                                        struct gf_format picture, const struct gf_view *view)
{
    if (!parts->mask)
        return (struct gf_region_mask){.data = NULL};
    const struct gf_format format = view->format;
    return (struct gf_region_mask){.data = view->data,
                                   .pitch = view->pitch,
                                   .width = format.width,
                                   .height = format.height,
                                   .scale_x = (float)format.width / (float)picture.width,
                                   .scale_y = (float)format.height / (float)picture.height};
}

static void mix(void *pixel, const void *filtered, struct gf_format format, float coverage)
{
    float own[4], other[4];
    const size_t channels = (size_t)format.channels;
    if (gf_is_float(format)) {
        gf_floats_of_row(pixel, format, channels, own);
        gf_floats_of_row(filtered, format, channels, other);
        gf_region_mix_floats(own, other, format.channels, coverage);
        gf_floats_to_row(own, format, channels, pixel);
    } else if (format.bits == 8)
        gf_region_mix_bytes(pixel, filtered, format.channels, 255.0f, coverage);
    else
        gf_region_mix_words(pixel, filtered, format.channels, 65535.0f, coverage);
}

/* Replaces a box's pixels in row y of the result. `filtered` begins with the box's first column. */
static void replace_row(const struct gf_region_parts *parts, const struct gf_region_mask *mask,
                        const struct gf_region_box *box, struct gf_format format, int y,
                        const unsigned char *filtered, unsigned char *row)
{
    const size_t size = gf_pixel_bytes(format);
    unsigned char *pixel = row + (size_t)box->at.x * size;
    if (box->covered) {
        memcpy(pixel, filtered, (size_t)box->at.width * size);
        return;
    }
    for (int x = box->at.x; x < box->at.x + box->at.width; x++) {
        const float coverage = gf_region_coverage(&parts->cover, mask, x, y);
        if (coverage >= 1.0f)
            memcpy(pixel, filtered, size);
        else if (coverage > 0.0f)
            mix(pixel, filtered, format, coverage);
        pixel += size;
        filtered += size;
    }
}

static void replace(const struct gf_region_parts *parts, const struct gf_region_band *band,
                    const struct gf_view *made, const struct gf_view *out)
{
    const struct gf_region_box *const box = band->box;
    const struct gf_rows rows = band->cut[box->count];
    const struct gf_view mask_view = parts->mask ? gf_image_view(&parts->mask->image) : *made;
    const struct gf_region_mask mask = gf_region_mask_of(parts, out->format, &mask_view);
    const size_t before = (size_t)(box->at.x - box->from) * gf_pixel_bytes(out->format);
    for (int y = rows.first; y < rows.end; y++)
        replace_row(parts, &mask, box, out->format, y, gf_view_row(made, y) + before,
                    gf_view_row(out, y));
}

static void cpu(const struct gf_stage *stage, const struct gf_view *in, const struct gf_view *out,
                void *scratch)
{
    const struct gf_region_parts *const parts = stage->params;
    struct gf_region_band band;
    for (int y = out->y; y < out->y + out->rows; y++)
        memcpy(gf_view_row(out, y), gf_view_row(in, y), gf_row_bytes(out->format));
    for (int b = 0; b < parts->boxes; b++) {
        if (!gf_region_band(stage, b, out, scratch, &band))
            continue;
        struct gf_view view = *in, made;
        view.data += (size_t)band.box->from * gf_pixel_bytes(in->format);
        view.format = stages_of(parts, band.box)->in;
        for (int i = 0; i < band.box->count; i++) {
            const struct gf_stage own = gf_region_stage(stage, &band, i, &made);
            gf_stage_cpu(&own, &view, &made, band.scratch);
            view = made;
        }
        replace(parts, &band, &view, out);
    }
}

extern gf_launcher gf_region_cuda;

const struct gf_filter gf_region = {
    .name = "region",
    .summary = "a filter within a region",
    .params_size = sizeof(struct gf_region_parts),
    .kind = GF_STRAIGHT,
    .takes_floats = true,
    .pictures = pictures,
    .input_rows = input_rows,
    .needs_whole = needs_whole,
    .statistic = statistic,
    .smooth = smooth,
    .prepare = prepare,
    .cpu_scratch = cpu_scratch,
    .cuda_scratch = cuda_scratch,
    .cpu = cpu,
    .cpu_intrinsics = true,
    .cuda = GF_CUDA({GF_VARIANT("boxes", gf_region_cuda,
                                "the filter's kernels for the rows of each box, then a thread for "
                                "a pixel that is replaced")}),
};

static double sample_of(const unsigned char *row, int at, int bits)
{
    return bits == 8 ? row[at] / 255.0 : ((const uint16_t *)(const void *)row)[at] / 65535.0;
}

/* Returns a mask's value at a pixel, its luma times its alpha, as a sample of 16 bits. */
static uint16_t value_of(const unsigned char *row, int x, struct gf_format format)
{
    const int at = x * format.channels;
    double part[4] = {0};
    for (int c = 0; c < format.channels; c++)
        part[c] = sample_of(row, at + c, format.bits);
    const double luma =
        format.channels < 3 ? part[0] : (part[0] * 77 + part[1] * 150 + part[2] * 29) / 256;
    const double alpha = gf_has_alpha(format) ? part[format.channels - 1] : 1;
    return (uint16_t)(luma * alpha * 65535 + 0.5);
}

static enum gf_status make_mask(const struct gf_image *picture, struct gf_image *mask,
                                struct gf_error *error)
{
    const struct gf_format format = picture->format;
    GF_TRY(gf_image_alloc(
        mask, (struct gf_format){format.width, format.height, 1, 16, GF_SAMPLES_INTEGER}, error));
    for (int y = 0; y < format.height; y++) {
        const unsigned char *const from = picture->data + (size_t)y * picture->pitch;
        uint16_t *const to = (uint16_t *)(void *)(mask->data + (size_t)y * mask->pitch);
        for (int x = 0; x < format.width; x++)
            to[x] = value_of(from, x, format);
    }
    return GF_OK;
}

static enum gf_status read_mask(int fd, const char *path, const char *how, void **value,
                                struct gf_error *error)
{
    struct gf_image image = {.data = NULL}, mask = {.data = NULL};
    struct gf_picture *picture = NULL, *made = NULL;
    char *notes = NULL;
    (void)how;
    enum gf_status status = gf_picture_read(fd, path, 1, &image, &notes, error);
    GF_THEN(status, gf_picture_new(&image, &picture, error));
    if (picture)
        status = make_mask(&picture->image, &mask, error);
    else
        gf_image_free(&image);
    gf_picture_free(picture);
    GF_THEN(status, gf_picture_new(&mask, &made, error));
    if (status) {
        gf_image_free(&mask);
        free(notes);
        return status == GF_ERROR_INPUT ? GF_ERROR_USAGE : status;
    }
    made->notes = notes;
    *value = made;
    return GF_OK;
}

static struct gf_kept_files masks = {
    .read = read_mask, .free = gf_picture_free, .lock = PTHREAD_MUTEX_INITIALIZER};

enum gf_status gf_region_mask_load(const char *path, const struct gf_picture **mask,
                                   struct gf_error *error)
{
    const void *value = NULL;
    const enum gf_status status = gf_kept_files_find(&masks, path, "", &value, error);
    *mask = value;
    return status;
}

void gf_region_mask_release(const struct gf_picture *mask)
{
    gf_kept_files_release(&masks, mask);
}
