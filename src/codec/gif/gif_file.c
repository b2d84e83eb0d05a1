#include "codec/gif/gif.h"

#include <limits.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/memory/grow.h"

enum { HELD_MOST = 1 << 20, BLOCK_MOST = 255, HEADER_BYTES = 13, LOOPS_MOST = 65535 };

static void put(struct gf_gif_bytes *bytes, const void *data, size_t size)
{
    memcpy(bytes->data + bytes->size, data, size);
    bytes->size += size;
}

static void put16(struct gf_gif_bytes *bytes, unsigned value)
{
    const unsigned char two[] = {(unsigned char)value, (unsigned char)(value >> 8)};
    put(bytes, two, sizeof two);
}

/* Returns how many bits an index of `colours` colours needs, 1 or more. */
static int bits_of(int colours)
{
    int bits = 1;
    while (1 << bits < colours)
        bits++;
    return bits;
}

static void put_palette(struct gf_gif_bytes *bytes, const struct gf_palette_table *palette,
                        int bits)
{
    static const unsigned char black[3];
    for (int i = 0; i < 1 << bits; i++)
        put(bytes, i < palette->colours ? palette->rgba[i] : black, sizeof black);
}

/* Appends everything that precedes the first image: signature, size, palette, loops and texts. */
static void put_header(const struct gf_gif_file *file, const struct gf_palette_table *palette,
                       int bits, struct gf_gif_bytes *bytes)
{
    const unsigned char about[] = {(unsigned char)(0xf0 | (bits - 1)), 0, file->aspect};
    put(bytes, "GIF89a", 6);
    put16(bytes, (unsigned)file->format.width);
    put16(bytes, (unsigned)file->format.height);
    put(bytes, about, sizeof about);
    put_palette(bytes, palette, bits);
    if (!file->animated || file->loops == 1)
        return;
    const unsigned again = file->loops ? file->loops - 1 : 0;
    put(bytes, "\x21\xff\x0bNETSCAPE2.0\3\1", 16);
    put16(bytes, again < LOOPS_MOST ? again : LOOPS_MOST);
    put(bytes, "", 1);
}

static enum gf_status begin(struct gf_gif_file *file, const struct gf_palette_table *palette,
                            int bits, struct gf_error *error)
{
    unsigned char header[HEADER_BYTES + 3 * GF_PALETTE_MOST + 19];
    struct gf_gif_bytes bytes = {header, 0, sizeof header};
    put_header(file, palette, bits, &bytes);
    file->palette_at = gf_output_size(file->output) + HEADER_BYTES;
    GF_TRY(gf_output_write(file->output, header, bytes.size, error));
    return file->texts.size
               ? gf_output_write(file->output, file->texts.data, file->texts.size, error)
               : GF_OK;
}

/* Appends bytes as blocks of at most 255 bytes, each behind its length, and the empty block that
 * ends them. */
static void put_blocks(struct gf_gif_bytes *bytes, const unsigned char *data, size_t size)
{
    for (size_t at = 0; at < size; at += BLOCK_MOST) {
        const size_t left = size - at;
        const unsigned char some = (unsigned char)(left < BLOCK_MOST ? left : BLOCK_MOST);
        put(bytes, &some, 1);
        put(bytes, data + at, some);
    }
    put(bytes, "", 1);
}

static bool reserve(struct gf_gif_bytes *bytes, size_t more)
{
    return GF_RESERVE(bytes->data, bytes->room, bytes->size + more);
}

static bool add_comment(struct gf_gif_bytes *bytes, const struct gf_text *text)
{
    struct gf_blob comment = {0};
    const bool made = gf_text_as_comment(text, &comment) &&
                      reserve(bytes, 2 + comment.size + comment.size / BLOCK_MOST + 2);
    if (made && comment.size) {
        put(bytes, "\x21\xfe", 2);
        put_blocks(bytes, comment.data, comment.size);
    }
    free(comment.data);
    return made;
}

static bool add_xmp(struct gf_gif_bytes *bytes, const struct gf_blob *xmp)
{
    unsigned char tail[GF_GIF_XMP_TAIL] = {1};
    for (int i = 0; i < 256; i++)
        tail[1 + i] = (unsigned char)(255 - i);
    if (!reserve(bytes, 14 + xmp->size + sizeof tail))
        return false;
    put(bytes, "\x21\xff\x0bXMP DataXMP", 14);
    put(bytes, xmp->data, xmp->size);
    put(bytes, tail, sizeof tail);
    return true;
}

enum gf_status gf_gif_file_set_metadata(struct gf_gif_file *file,
                                        const struct gf_metadata *metadata, struct gf_error *error)
{
    const struct gf_blob *const xmp = &metadata->xmp;
    bool done = true;
    for (int i = 0; done && i < metadata->texts.count; i++)
        done = add_comment(&file->texts, &metadata->texts.item[i]);
    /* A zero byte in the packet would end its blocks. */
    if (done && xmp->size && !memchr(xmp->data, 0, xmp->size))
        done = add_xmp(&file->texts, xmp);
    return done ? GF_OK : gf_fail_memory(error);
}

static void put_image(struct gf_gif_bytes *bytes, const struct gf_gif_image *image, bool animated)
{
    const struct gf_rectangle area = image->area;
    const bool transparent = image->transparent >= 0;
    const int colours = image->palette ? image->palette->colours : 0,
              bits = bits_of(colours > image->transparent ? colours : image->transparent + 1);
    const unsigned char control[] = {0x21, 0xf9, 4,
                                     (unsigned char)(image->disposal << 2 | transparent)};
    const unsigned char index[] = {(unsigned char)(transparent ? image->transparent : 0), 0},
                        about = (unsigned char)(image->palette ? 0x80 | (bits - 1) : 0),
                        least = (unsigned char)image->bits;
    if (animated || transparent) {
        put(bytes, control, sizeof control);
        put16(bytes, (unsigned)image->delay);
        put(bytes, index, sizeof index);
    }
    put(bytes, ",", 1);
    put16(bytes, (unsigned)area.x);
    put16(bytes, (unsigned)area.y);
    put16(bytes, (unsigned)area.width);
    put16(bytes, (unsigned)area.height);
    put(bytes, &about, 1);
    if (image->palette)
        put_palette(bytes, image->palette, bits);
    put(bytes, &least, 1);
    put_blocks(bytes, image->codes->data, image->codes->size);
}

static enum gf_status flush(struct gf_gif_file *file, struct gf_error *error)
{
    const size_t size = file->held.size;
    file->held.size = 0;
    return gf_output_write(file->output, file->held.data, size, error);
}

static GF_CHECKED enum gf_status
gif_file_add(struct gf_gif_file *file, const struct gf_gif_image *image, struct gf_error *error)
{
    static const struct gf_palette_table none;
    enum { AROUND = 8 + 10 + 3 * GF_PALETTE_MOST + 2 };
    const size_t codes = image->codes->size;
    if (!image->palette && image->transparent >= file->colours)
        file->colours = image->transparent + 1;
    GF_ALLOCATED(GF_RESERVE(file->held.data, file->held.room,
                            file->held.size + AROUND + codes + codes / BLOCK_MOST + 1),
                 error);
    put_image(&file->held, image, file->animated);
    file->has_image = true;
    if (file->held.size < HELD_MOST)
        return GF_OK;
    if (!file->palette_at)
        GF_TRY(begin(file, &none, 8, error));
    return flush(file, error);
}

enum gf_status gf_gif_file_end(struct gf_gif_file *file, const struct gf_palette_table *palette,
                               struct gf_error *error)
{
    unsigned char all[3 * GF_PALETTE_MOST];
    struct gf_gif_bytes bytes = {all, 0, sizeof all};
    const int colours = palette->colours > file->colours ? palette->colours : file->colours;
    const bool late = file->palette_at;
    if (!late)
        GF_TRY(begin(file, palette, bits_of(colours), error));
    GF_TRY(flush(file, error));
    GF_TRY(gf_output_write(file->output, ";", 1, error));
    if (!late)
        return GF_OK;
    put_palette(&bytes, palette, 8);
    return gf_output_write_at(file->output, file->palette_at, all, sizeof all, error);
}

/* Returns the lowest index that no drawn pixel of the frame has; -1: there is none. *most becomes
 * the highest index of a drawn pixel. */
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
    int bits = 2; /* the least number that GIF allows */
    while (most >> bits)
        bits++;
    return bits;
}

/* Returns the index of the palette's entry that is nearest to a pixel's colour. */
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

/* Sets the two indices that a free pixel may have: that of the colour `there`, which it already
 * has, and the transparent index. */
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

/* Writes the indices that the pixels of the area may have to coding->either and ->other, row after
 * row. */
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

/* Codes the pixels in three ways and keeps the shortest result. Preferring colours is better where
 * free pixels form repeating patterns, preferring the transparent index where they are noise. */
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
    /* Where nothing is drawn some programs show a colour unless the frame has a transparent index,
     * so that such frames get one. */
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
    return gif_file_add(file, &image, error);
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
