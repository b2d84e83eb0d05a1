#include "codec/gif/gif_frame.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

/* Returns an index that no pixel is drawn with; -1: there is none. *most becomes the highest index
 * that is drawn. */
static int unused_index(const struct gf_gif_frame *frame, size_t width, int *most)
{
    bool used[GF_PALETTE_MOST] = {false};
    int index = 0;
    *most = 0;
    for (int y = frame->area.y; y < frame->area.y + frame->area.height; y++) {
        const int16_t *const row = frame->index + (size_t)y * width + frame->area.x;
        for (int x = 0; x < frame->area.width; x++) {
            used[row[x] < 0 ? 0 : row[x]] |= row[x] >= 0;
            *most = row[x] > *most ? row[x] : *most;
        }
    }
    while (index < GF_PALETTE_MOST && used[index])
        index++;
    return index < GF_PALETTE_MOST ? index : -1;
}

static int bits_of_index(int most)
{
    int bits = 2; /* a GIF has no fewer */
    while (most >> bits)
        bits++;
    return bits;
}

/* Returns the entry that is nearest to a colour. */
static int nearest(const struct gf_palette_table *palette, uint32_t pixel)
{
    unsigned char rgba[4];
    int best = 0, least = INT_MAX;
    memcpy(rgba, &pixel, sizeof rgba);
    for (int i = 0; i < palette->colours; i++) {
        int distance = 0;
        for (int c = 0; c < 3; c++)
            distance += (palette->rgba[i][c] - rgba[c]) * (palette->rgba[i][c] - rgba[c]);
        best = distance < least ? i : best;
        least = distance < least ? distance : least;
    }
    return best;
}

/* Sets the two indices of a free pixel: the colour that is there, and the transparent index. */
static void set_free(const struct gf_gif_coding *coding, struct gf_palette_table *palette,
                     const struct gf_gif_image *image, uint32_t there, size_t at)
{
    const int index = there ? gf_gif_index_of(palette, there, 0) : -1;
    const bool fits = index >= 0 && index != image->transparent && !(index >> image->bits);
    const int other = image->transparent >= 0 ? image->transparent
                      : index >= 0            ? index
                                              : nearest(palette, there);
    coding->either[at] = (unsigned char)(fits ? index : other);
    coding->other[at] = (unsigned char)other;
}

/* Lists the indices of the area, row after row. */
static void list_indices(const struct gf_gif_coding *coding, const struct gf_gif_frame *frame,
                         struct gf_palette_table *palette, const struct gf_gif_canvas *before,
                         const struct gf_gif_image *image)
{
    const struct gf_rectangle area = frame->area;
    size_t to = 0;
    for (int y = area.y; y < area.y + area.height; y++) {
        const size_t first = (size_t)y * before->width + (size_t)area.x;
        for (size_t at = first; at < first + (size_t)area.width; at++, to++) {
            const int index = frame->index[at];
            if (index < 0)
                set_free(coding, palette, image, before->pixel ? before->pixel[at] : 0, to);
            else
                coding->either[to] = coding->other[to] = (unsigned char)index;
        }
    }
}

/* Which strings give the fewest codes depends on the picture: colours first where free pixels
 * repeat themselves, transparency first where they are noise. */
static enum gf_status encode(struct gf_gif_coding *coding, const unsigned char *either,
                             const unsigned char *other, size_t count, int bits,
                             struct gf_error *error)
{
    const struct gf_gif_pixels tried[] = {
        {either, other, count, false}, {other, either, count, false}, {other, either, count, true}};
    const int trials = memcmp(either, other, count) ? 3 : 1;
    GF_TRY(gf_gif_encode(coding->coder, &tried[0], bits, &coding->codes, error));
    for (int i = 1; i < trials; i++) {
        GF_TRY(gf_gif_encode(coding->coder, &tried[i], bits, &coding->more_codes, error));
        if (coding->more_codes.size < coding->codes.size) {
            const struct gf_gif_bytes smaller = coding->more_codes;
            coding->more_codes = coding->codes;
            coding->codes = smaller;
        }
    }
    return GF_OK;
}

enum gf_status gf_gif_frame_write(struct gf_gif_coding *coding, const struct gf_gif_frame *frame,
                                  struct gf_palette_table *palette,
                                  const struct gf_gif_canvas *before, enum gf_gif_disposal disposal,
                                  struct gf_gif_file *file, struct gf_error *error)
{
    const uint64_t all = (uint64_t)frame->area.width * (uint64_t)frame->area.height;
    /* Some programs show a colour where nothing is drawn, unless the frame has a transparent index.
     */
    const bool shows =
        disposal == GF_GIF_CLEAR ||
        (!file->has_image && all < (uint64_t)file->format.width * (uint64_t)file->format.height);
    int most;
    const int unused = unused_index(frame, before->width, &most);
    struct gf_gif_image image = {.area = frame->area,
                                 .delay = frame->delay,
                                 .disposal = disposal,
                                 .transparent = shows || frame->drawn < all ? unused : -1,
                                 .palette = frame->has_palette ? palette : NULL,
                                 .codes = &coding->codes};
    image.bits = bits_of_index(frame->drawn < all && unused > most ? unused : most);
    list_indices(coding, frame, palette, before, &image);
    GF_TRY(encode(coding, coding->either, coding->other, (size_t)all, image.bits, error));
    return gf_gif_file_add(file, &image, error);
}

bool gf_gif_coding_open(struct gf_gif_coding *coding, size_t pixels)
{
    coding->coder = gf_gif_coder_open();
    coding->either = malloc(pixels);
    coding->other = malloc(pixels);
    return coding->coder && coding->either && coding->other;
}

void gf_gif_coding_close(struct gf_gif_coding *coding)
{
    gf_gif_coder_close(coding->coder);
    free(coding->codes.data);
    free(coding->more_codes.data);
    free(coding->either);
    free(coding->other);
}
