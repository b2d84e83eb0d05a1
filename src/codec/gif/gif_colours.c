#include "codec/gif/gif.h"

#include <stdlib.h>

#include "base/fail.h"

/* A frame's own palette takes up to 768 bytes. If colours are reduced anyway, a frame with fewer
 * pixels than these numbers, for each colour or in all, uses the file's palette where that is close
 * enough. */
enum { PIXELS_FOR_A_COLOUR = 16, PIXELS_FOR_A_PALETTE = 1024 };

/* The frame's area as a picture for the palette: pixels that are GF_GIF_FREE are zeros. */
struct part {
    struct gf_image picture;
    unsigned char *indices;
};

static size_t at_row(const struct gf_gif_canvas *canvas, struct gf_rectangle area, int y)
{
    return (size_t)(area.y + y) * canvas->width + (size_t)area.x;
}

/* Collects the colours that are drawn. Returns false if there are more than `most`. */
static bool collect(const struct gf_gif_canvas *canvas, const struct gf_gif_frame *frame, int most,
                    struct gf_palette_table *table)
{
    uint32_t last = 0; /* 0 is no drawn colour, since drawn pixels are opaque */
    gf_palette_table_clear(table);
    for (int y = 0; y < frame->area.height; y++) {
        const size_t row = at_row(canvas, frame->area, y);
        for (size_t at = row; at < row + (size_t)frame->area.width; at++) {
            if (frame->index[at] == GF_GIF_FREE || canvas->pixel[at] == last)
                continue;
            last = canvas->pixel[at];
            if (gf_gif_index_of(table, last, most) < 0)
                return false;
        }
    }
    return true;
}

/* Whether the free pixels of the frame already have colours of the palette, so that they can be
 * drawn again. A full palette has no place for a transparent index. */
static bool needs_no_transparency(const struct gf_gif_canvas *canvas,
                                  const struct gf_gif_frame *frame, struct gf_palette_table *table)
{
    for (int y = 0; y < frame->area.height; y++) {
        const size_t row = at_row(canvas, frame->area, y);
        for (size_t at = row; at < row + (size_t)frame->area.width; at++) {
            if (frame->index[at] == GF_GIF_FREE && gf_gif_index_of(table, canvas->pixel[at], 0) < 0)
                return false;
        }
    }
    return true;
}

/* Adds the colours that the file's palette lacks to it. Returns false, and adds none, if it has no
 * room for all. */
static bool add_to_file(struct gf_gif_colours *colours, const struct gf_palette_table *table)
{
    int missing = 0;
    for (int i = 0; i < table->colours; i++)
        missing += gf_palette_table_find(&colours->palette, table->rgba[i], 0) < 0;
    if (missing > colours->most - colours->palette.colours)
        return false;
    for (int i = 0; i < table->colours; i++)
        (void)gf_palette_table_find(&colours->palette, table->rgba[i], colours->most);
    return true;
}

static void set_exact(const struct gf_gif_canvas *canvas, struct gf_gif_frame *frame,
                      struct gf_palette_table *table)
{
    uint32_t last = 0;
    int16_t index = 0;
    for (int y = 0; y < frame->area.height; y++) {
        const size_t row = at_row(canvas, frame->area, y);
        for (size_t at = row; at < row + (size_t)frame->area.width; at++) {
            if (frame->index[at] == GF_GIF_FREE)
                continue;
            if (canvas->pixel[at] != last)
                index = (int16_t)gf_gif_index_of(table, canvas->pixel[at], 0);
            last = canvas->pixel[at];
            frame->index[at] = index;
        }
    }
}

/* ---- frames with more colours than a palette can have ---- */

static enum gf_status open_part(const struct gf_gif_canvas *canvas,
                                const struct gf_gif_frame *frame, struct part *part,
                                struct gf_error *error)
{
    const struct gf_rectangle area = frame->area;
    const size_t width = (size_t)area.width, height = (size_t)area.height;
    *part = (struct part){.picture = {.format = {area.width, area.height, 4, 8, GF_SAMPLES_INTEGER},
                                      .pitch = width * sizeof *canvas->pixel,
                                      .data = malloc(width * height * sizeof *canvas->pixel)},
                          .indices = malloc(width * height)};
    GF_ALLOCATED(part->picture.data && part->indices, error);
    for (int y = 0; y < area.height; y++) {
        unsigned char *const to = part->picture.data + (size_t)y * part->picture.pitch;
        const size_t row = at_row(canvas, area, y);
        for (size_t x = 0; x < width; x++) {
            const uint32_t pixel =
                frame->index[row + x] == GF_GIF_FREE ? 0 : canvas->pixel[row + x];
            memcpy(to + x * sizeof pixel, &pixel, sizeof pixel);
        }
    }
    return GF_OK;
}

/* Copies the indices of the part to the frame, and the colours of these indices to the canvas. */
static void take_indices(const struct part *part, const struct gf_gif_canvas *canvas,
                         struct gf_gif_frame *frame, struct gf_palette_table *table)
{
    const unsigned char *index = part->indices;
    for (int y = 0; y < frame->area.height; y++) {
        const size_t row = at_row(canvas, frame->area, y);
        for (size_t at = row; at < row + (size_t)frame->area.width; at++, index++) {
            if (frame->index[at] == GF_GIF_FREE)
                continue;
            const int kept = frame->repeats ? gf_gif_index_of(table, canvas->pixel[at], 0) : -1;
            frame->index[at] = (int16_t)(kept < 0 ? *index : kept);
            memcpy(&canvas->pixel[at], table->rgba[frame->index[at]], sizeof *canvas->pixel);
        }
    }
}

static struct gf_palette palette_of(const struct gf_palette_table *table)
{
    struct gf_palette palette = {.colours = table->colours};
    memcpy(palette.rgba, table->rgba, sizeof palette.rgba);
    return palette;
}

static void add_colours(struct gf_palette_table *table, const struct gf_palette *palette)
{
    for (int i = 0; i < palette->colours; i++)
        (void)gf_palette_table_find(table, palette->rgba[i], GF_PALETTE_MOST);
}

/* Fills the free places of the file's palette with colours chosen for the part, and sets
 * colours->map. */
static enum gf_status fill_file(struct gf_gif_colours *colours, int most, const struct part *part,
                                uint64_t pixels, struct gf_error *error)
{
    struct gf_palette palette;
    GF_TRY(gf_palette_choose(&part->picture, most - colours->palette.colours, colours->threads,
                             &palette, error));
    add_colours(&colours->palette, &palette);
    palette = palette_of(&colours->palette);
    enum gf_status status = gf_palette_map_open(&palette, colours->format, colours->threads,
                                                colours->dithers, &colours->map, error);
    GF_THEN(status, gf_palette_map_part(colours->map, &part->picture, part->indices,
                                        &colours->usual_distance, error));
    colours->usual_distance /= pixels;
    return status;
}

/* Makes a palette of the frame's own, and uses it if the colours come closer to it than `distance`,
 * their distance from the file's palette. */
static enum gf_status reduce_own(const struct gf_gif_colours *colours, int most, struct part *part,
                                 uint64_t distance, struct gf_gif_frame *frame,
                                 struct gf_error *error)
{
    struct gf_palette palette;
    struct gf_palette_map *map = NULL;
    uint64_t own;
    unsigned char *const indices =
        malloc((size_t)part->picture.format.width * (size_t)part->picture.format.height);
    enum gf_status status = indices ? GF_OK : gf_fail_memory(error);
    GF_THEN(status, gf_palette_choose(&part->picture, most, colours->threads, &palette, error));
    GF_THEN(status, gf_palette_map_open(&palette, part->picture.format, colours->threads,
                                        colours->dithers, &map, error));
    GF_THEN(status, gf_palette_map_part(map, &part->picture, indices, &own, error));
    gf_palette_map_close(map);
    if (status || own / 3 * 4 > distance) {
        free(indices);
        return status;
    }
    free(part->indices);
    part->indices = indices;
    frame->has_palette = true;
    gf_palette_table_clear(&frame->palette);
    add_colours(&frame->palette, &palette);
    return GF_OK;
}

/* Whether the palette of the file is about as close to this frame's colours as to those of the
 * frame for which it was chosen. */
static bool serves(const struct gf_gif_colours *colours, uint64_t distance, uint64_t pixels)
{
    enum { LITTLE = 768 }; /* a squared distance of about two levels in each channel */
    return pixels < PIXELS_FOR_A_PALETTE ||
           distance / pixels < 2 * colours->usual_distance + LITTLE;
}

static enum gf_status reduce(struct gf_gif_colours *colours, struct part *part,
                             struct gf_gif_frame *frame, struct gf_error *error)
{
    const uint64_t pixels = (uint64_t)frame->area.width * (uint64_t)frame->area.height;
    /* A palette of 256 leaves one place for the transparent index, unless the picture needs
     * none. */
    const int most = colours->most - (colours->most == GF_PALETTE_MOST &&
                                      (colours->animated || frame->drawn < pixels));
    uint64_t distance = UINT64_MAX;
    if (!colours->map && colours->palette.colours < colours->most / 2)
        return fill_file(colours, most, part, frame->drawn, error);
    if (colours->map)
        GF_TRY(gf_palette_map_part(colours->map, &part->picture, part->indices, &distance, error));
    if (colours->map && serves(colours, distance, frame->drawn))
        return GF_OK;
    return reduce_own(colours, most, part, distance, frame, error);
}

static enum gf_status set_reduced(struct gf_gif_colours *colours,
                                  const struct gf_gif_canvas *canvas, struct gf_gif_frame *frame,
                                  struct gf_error *error)
{
    struct part part;
    enum gf_status status = open_part(canvas, frame, &part, error);
    GF_THEN(status, reduce(colours, &part, frame, error));
    if (!status)
        take_indices(&part, canvas, frame,
                     frame->has_palette ? &frame->palette : &colours->palette);
    free(part.picture.data);
    free(part.indices);
    colours->reduced = true;
    return status;
}

enum gf_status gf_gif_colours_set(struct gf_gif_colours *colours,
                                  const struct gf_gif_canvas *canvas, struct gf_gif_frame *frame,
                                  struct gf_error *error)
{
    struct gf_palette_table *const own = &frame->palette;
    frame->has_palette = false;
    const bool few = collect(canvas, frame, colours->most, own) &&
                     (own->colours < GF_PALETTE_MOST || needs_no_transparency(canvas, frame, own));
    const bool in_file = few && add_to_file(colours, own);
    if (!few ||
        (!in_file && colours->map && frame->drawn < (uint64_t)own->colours * PIXELS_FOR_A_COLOUR))
        return set_reduced(colours, canvas, frame, error);
    frame->has_palette = !in_file;
    set_exact(canvas, frame, in_file ? &colours->palette : own);
    return GF_OK;
}
