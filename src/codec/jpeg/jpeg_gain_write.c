/* Keeps the gain map of a JPEG: moves it as the picture that it belongs to was moved, and writes
 * both. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "codec/jpeg/jpeg.h"

/* ---- resampling by a triangle as wide as the step ---- */

/* One axis of the map: output i lies at first + (i + 0.5) step, in pixels of the map. */
struct axis {
    int in, out;
    double first, step;
};

struct window {
    int first, count;
    double weight_sum;
};

static double weight(const struct axis *axis, int i, int at)
{
    const double middle = axis->first + (i + 0.5) * axis->step - 0.5,
                 radius = fmax(fabs(axis->step), 1);
    return fmax(1 - fabs(at - middle) / radius, 0);
}

static struct window window_of(const struct axis *axis, int i)
{
    const double middle = axis->first + (i + 0.5) * axis->step - 0.5,
                 radius = fmax(fabs(axis->step), 1);
    struct window window = {.first = (int)floor(middle - radius) + 1};
    window.count = (int)ceil(middle + radius) - window.first;
    for (int k = 0; k < window.count; k++)
        window.weight_sum += weight(axis, i, window.first + k);
    return window;
}

static int inside(int at, int count)
{
    return at < 0 ? 0 : at < count ? at : count - 1;
}

static void sum_rows(const struct gf_image *map, const struct axis *rows, int i, float *sum)
{
    const struct window window = window_of(rows, i);
    const size_t samples = gf_row_bytes(map->format);
    memset(sum, 0, samples * sizeof *sum);
    for (int k = 0; k < window.count; k++) {
        const int at = window.first + k;
        const float part = (float)(weight(rows, i, at) / window.weight_sum);
        const unsigned char *const row = map->data + (size_t)inside(at, rows->in) * map->pitch;
        for (size_t s = 0; part > 0 && s < samples; s++)
            sum[s] += part * row[s];
    }
}

/* Sums the row's pixels to pixel i of the result. */
static void sum_columns(const float *row, const struct axis *columns, int i, int channels,
                        unsigned char *pixel)
{
    const struct window window = window_of(columns, i);
    for (int c = 0; c < channels; c++) {
        float sum = 0;
        for (int k = 0; k < window.count; k++) {
            const int at = window.first + k;
            sum += (float)(weight(columns, i, at) / window.weight_sum) *
                   row[inside(at, columns->in) * channels + c];
        }
        pixel[c] = (unsigned char)(sum + 0.5f);
    }
}

/* Sets the axis of the map for one axis of the result. */
static struct axis axis_of(const struct gf_place *place, int result_axis, int result_side,
                           int map_side, int picture_side)
{
    const double ratio = (double)map_side / picture_side,
                 extent = place->step[result_axis] * result_side * ratio,
                 side = fmax(floor(result_side * ratio / place->reduction + 0.5), 1);
    return (struct axis){map_side, (int)side, place->first[result_axis] * ratio, extent / side};
}

static enum gf_status resample(const struct gf_image *map, const struct gf_place *place,
                               struct gf_format result, struct gf_image *moved,
                               struct gf_error *error)
{
    const int x = place->turned, y = !x, sides[] = {result.width, result.height},
              channels = map->format.channels;
    const struct axis columns = axis_of(place, x, sides[x], map->format.width, place->width),
                      rows = axis_of(place, y, sides[y], map->format.height, place->height);
    const struct gf_format format = {place->turned ? rows.out : columns.out,
                                     place->turned ? columns.out : rows.out, channels, 8,
                                     GF_SAMPLES_INTEGER};
    float *const sum = malloc(gf_row_bytes(map->format) * sizeof *sum);
    const enum gf_status status =
        sum ? gf_image_alloc(moved, format, error) : gf_fail_memory(error);
    for (int r = 0; !status && r < rows.out; r++) {
        sum_rows(map, &rows, r, sum);
        for (int c = 0; c < columns.out; c++) {
            const size_t line = (size_t)(place->turned ? c : r),
                         at = (size_t)(place->turned ? r : c);
            sum_columns(sum, &columns, c, channels,
                        moved->data + line * moved->pitch + at * (size_t)channels);
        }
    }
    free(sum);
    return status;
}

/* Makes the samples of a map of Apple those of Ultra HDR, which are logarithms of factors. */
static void take_logarithms(const struct gf_gain_channel *channel, const struct gf_image *map)
{
    unsigned char table[256];
    for (int v = 0; v < 256; v++)
        table[v] =
            channel->most > 0
                ? (unsigned char)(255 * log2(gf_gain_factor(channel, v / 255.0)) / channel->most +
                                  0.5)
                : 0;
    for (size_t i = 0; i < map->pitch * (size_t)map->format.height; i++)
        map->data[i] = table[map->data[i]];
}

/* ---- the JPEG of the map ---- */

static enum gf_status encode(const struct gf_image *map, const struct gf_metadata *metadata,
                             const struct gf_options *options, struct gf_blob *jpeg,
                             struct gf_error *error)
{
    struct gf_options of_map = *options;
    struct gf_output *output = NULL;
    struct gf_sink *sink = NULL;
    of_map.subsampling = GF_SUBSAMPLING_444;
    of_map.progressive = false;
    GF_TRY(gf_output_open_memory("the gain map", &output, error));
    enum gf_status status =
        gf_jpeg_sink_open(output, map->format, metadata, &of_map, 0, &sink, error);
    GF_THEN(status, sink->write(sink, map->format.height, map->data, map->pitch, error));
    GF_THEN(status, sink->finish(sink, error));
    if (sink)
        sink->close(sink);
    GF_THEN(status, gf_output_commit(output, error));
    if (!status)
        jpeg->data = gf_output_take(output, &jpeg->size);
    gf_output_close(output);
    return status;
}

enum gf_status gf_jpeg_gain_move(const struct gf_blob *jpeg, const struct gf_image *map,
                                 const struct gf_blob *icc, const struct gf_place *place,
                                 struct gf_format result, const struct gf_options *options,
                                 struct gf_blob *moved, struct gf_error *error)
{
    const struct gf_metadata metadata = {.icc = *icc, .orientation = 1};
    struct gf_gain_map_facts facts;
    struct gf_image image = {.data = NULL};
    const char *why;
    enum gf_status status = GF_OK;
    *moved = (struct gf_blob){0};
    (void)gf_gain_map_read(jpeg, &facts, &why);
    const bool apples = facts.channel->headroom > 0,
               same = !apples && gf_place_is_same(place, result);
    if (!same)
        status = resample(map, place, result, &image, error);
    if (!status && apples)
        take_logarithms(facts.channel, &image);
    if (!status && !same)
        status = encode(&image, &metadata, options, moved, error);
    if (!status && ((same && !gf_blob_set(moved, jpeg->data, jpeg->size)) ||
                    !gf_gain_map_describe(&facts, same, moved)))
        status = gf_fail_memory(error);
    gf_image_free(&image);
    return status;
}

/* A sink for a JPEG with a gain map. The picture is encoded in memory, because the index, which
 * precedes it in the file, says where the gain map begins. */

struct gain_sink {
    struct gf_sink base;
    struct gf_sink *picture;
    struct gf_output *output, *memory;
    struct gf_blob map;
};

/* Writes the file, when the picture is finished. */
static enum gf_status write_file(struct gain_sink *sink, struct gf_error *error)
{
    struct gf_blob jpeg = {0};
    enum gf_status status = gf_output_commit(sink->memory, error);
    if (!status)
        jpeg.data = gf_output_take(sink->memory, &jpeg.size);
    GF_THEN(status, gf_gain_map_index(&jpeg, &sink->map) ? GF_OK : gf_fail_memory(error));
    GF_THEN(status, gf_output_write(sink->output, jpeg.data, jpeg.size, error));
    GF_THEN(status, gf_output_write(sink->output, sink->map.data, sink->map.size, error));
    free(jpeg.data);
    return status;
}

static enum gf_status gain_write(struct gf_sink *base, int rows, const unsigned char *src,
                                 size_t pitch, struct gf_error *error)
{
    struct gf_sink *const picture = ((struct gain_sink *)base)->picture;
    return picture->write(picture, rows, src, pitch, error);
}

static enum gf_status gain_finish(struct gf_sink *base, struct gf_error *error)
{
    struct gain_sink *const sink = (struct gain_sink *)base;
    GF_TRY(sink->picture->finish(sink->picture, error));
    return write_file(sink, error);
}

static enum gf_status gain_splice(struct gf_sink *base, const unsigned char *coded, size_t size,
                                  bool last, struct gf_error *error)
{
    struct gain_sink *const sink = (struct gain_sink *)base;
    GF_TRY(sink->picture->splice(sink->picture, coded, size, last, error));
    return last ? write_file(sink, error) : GF_OK;
}

static void gain_close(struct gf_sink *base)
{
    struct gain_sink *const sink = (struct gain_sink *)base;
    if (sink->picture)
        sink->picture->close(sink->picture);
    gf_output_close(sink->memory);
    free(sink->map.data);
    free(sink);
}

/* Opens the sink of the picture, whose XMP announces the map. */
static enum gf_status open_picture(struct gain_sink *sink, struct gf_format format,
                                   const struct gf_metadata *metadata,
                                   const struct gf_options *options, struct gf_error *error)
{
    struct gf_metadata announced = *metadata;
    struct gf_gain_map_facts facts;
    const char *why;
    GF_TRY(gf_output_open_memory(gf_output_name(sink->output), &sink->memory, error));
    enum gf_status status = GF_OK;
    announced.xmp = (struct gf_blob){0};
    if (!gf_blob_set(&sink->map, metadata->gain_map.data, metadata->gain_map.size) ||
        !gf_blob_set(&announced.xmp, metadata->xmp.data, metadata->xmp.size))
        status = gf_fail_memory(error);
    (void)gf_gain_map_read(&sink->map, &facts, &why);
    if (!status && facts.xmp.size && !gf_gain_map_announce(&announced.xmp, sink->map.size))
        status = gf_fail_memory(error);
    GF_THEN(status,
            gf_jpeg_sink_open(sink->memory, format, &announced, options, 0, &sink->picture, error));
    free(announced.xmp.data);
    return status;
}

enum gf_status gf_jpeg_gain_create(const struct gf_sink_order *order, struct gf_sink **sink,
                                   struct gf_error *error)
{
    if (!order->metadata->gain_map.size)
        return gf_jpeg_sink_open(order->output, order->format, order->metadata, order->options, 0,
                                 sink, error);
    GF_NEW(struct gain_sink, opened, error);
    opened->base = (struct gf_sink){
        .write = gain_write, .finish = gain_finish, .splice = gain_splice, .close = gain_close};
    opened->output = order->output;
    const enum gf_status status =
        open_picture(opened, order->format, order->metadata, order->options, error);
    GF_OPENED(status, gain_close, &opened->base, sink);
}
