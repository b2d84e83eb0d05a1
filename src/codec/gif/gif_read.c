#include "codec/gif/gif.h"

#include <gif_lib.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/process/library.h"
#include "base/threads/times.h"
#include "codec/common/checks.h"
#include "codec/common/opening.h"
#include "codec/common/rows/whole_picture.h"

enum { BITS_MOST = 12, CODES = 1 << BITS_MOST, INDEX_MOST = 255, NONE = -1 };

static void clear(struct gf_gif_decoder *decoder)
{
    decoder->size = decoder->bits + 1;
    decoder->next = (1 << decoder->bits) + 2;
    decoder->last = NONE;
}

static void gif_decoder_open(struct gf_gif_decoder *decoder, int bits, const unsigned char *blocks,
                             const unsigned char *end)
{
    memset(decoder, 0, offsetof(struct gf_gif_decoder, prefix));
    decoder->bits = bits;
    decoder->at = blocks;
    decoder->end = end;
    clear(decoder);
}

/* Returns the next code; NONE at the end of the blocks. */
static int take_code(struct gf_gif_decoder *decoder)
{
    for (; decoder->count < decoder->size; decoder->count += 8) {
        if (decoder->at < decoder->end && !decoder->left)
            decoder->left = *decoder->at++;
        if (decoder->at == decoder->end || !decoder->left)
            return NONE;
        decoder->left--;
        decoder->value |= (unsigned)*decoder->at++ << decoder->count;
    }
    const int code = (int)(decoder->value & ((1u << decoder->size) - 1));
    decoder->value >>= decoder->size;
    decoder->count -= decoder->size;
    return code;
}

/* Adds a string to the dictionary: that of the code before, extended by `index`. */
static void add_string(struct gf_gif_decoder *decoder, unsigned char index)
{
    if (decoder->last == NONE || decoder->next == CODES)
        return;
    decoder->prefix[decoder->next] = (uint16_t)decoder->last;
    decoder->suffix[decoder->next++] = index;
    if (decoder->next == 1 << decoder->size && decoder->size < BITS_MOST)
        decoder->size++;
}

/* Pushes the indices of a code's string on the stack, the last one first. Returns false if there is
 * no such code. */
static bool put_string(struct gf_gif_decoder *decoder, int code)
{
    const int literals = 1 << decoder->bits;
    /* The code stands for the string that it is about to add: the one before, extended by its own
     * first index. */
    const bool repeats = code == decoder->next && decoder->last != NONE;
    int at = repeats ? decoder->last : code;
    if (code >= decoder->next && !repeats)
        return false;
    decoder->depth = repeats;
    for (; at >= literals; at = decoder->prefix[at])
        decoder->stack[decoder->depth++] = decoder->suffix[at];
    if (at > INDEX_MOST)
        return false;
    decoder->stack[0] = repeats ? (unsigned char)at : decoder->stack[0];
    decoder->stack[decoder->depth++] = (unsigned char)at;
    add_string(decoder, (unsigned char)at);
    decoder->last = code;
    return true;
}

/* Decodes the next line of indices. Returns false if the codes are damaged or end too early. */
static bool gif_decode_line(struct gf_gif_decoder *decoder, unsigned char *line, int pixels)
{
    const int clears = 1 << decoder->bits;
    for (int x = 0; x < pixels;) {
        if (decoder->depth) {
            line[x++] = decoder->stack[--decoder->depth];
            continue;
        }
        const int code = take_code(decoder);
        if (code == clears)
            clear(decoder);
        else if (code == NONE || code == clears + 1 || !put_string(decoder, code))
            return false;
    }
    return true;
}

/* clang-format off */
#define GIF_CALLS(CALL) \
    CALL(DGifOpen) CALL(DGifCloseFile) CALL(DGifGetRecordType) CALL(DGifGetImageDesc) \
    CALL(DGifGetLine) CALL(DGifGetCode) CALL(DGifGetCodeNext) CALL(DGifGetExtension) \
    CALL(DGifGetExtensionNext) CALL(DGifExtensionToGCB) CALL(GifErrorString)
/* clang-format on */

static struct {
    GIF_CALLS(GF_LIBRARY_CALL)
} calls;

struct gf_library gf_gif_library = GF_LIBRARY(calls, GIF_CALLS, GF_LIBRARY_TEXT(GF_LIBRARY_gif));

/* The state of reading a file's records one after another. */
struct walk {
    const struct gf_blob *file;
    size_t at;
    bool ended;
    bool cut; /* the file ends between two records, without a trailer */
    GifFileType *gif;
    int long_bits; /* bits of an index of this picture if they are too many for giflib; else 0 */
    int error;     /* giflib's error number; 0: no error */
    GraphicsControlBlock control; /* the control block of the next picture */
    bool beyond;                  /* a pixel has an index beyond its palette */
    double seconds;               /* duration of the counted pictures */
    unsigned loops;               /* how many times the animation is shown; 0: forever */
    struct gf_metadata *metadata; /* gets comments and XMP; NULL: neither is wanted */
    bool texts_left_out;
};

/* Reads bytes for giflib, and adds one zero byte after the end of the file, since a complete
 * picture may lack only the zero that ends its blocks. */
static int read_bytes(GifFileType *gif, GifByteType *to, int size)
{
    struct walk *const walk = gif->UserData;
    const size_t left = walk->file->size - walk->at, wanted = (size_t)size;
    if (!left && wanted == 1 && !walk->ended) {
        walk->ended = true;
        *to = 0;
        return 1;
    }
    const size_t got = left < wanted ? left : wanted;
    memcpy(to, walk->file->data + walk->at, got);
    walk->at += got;
    return (int)got;
}

struct gif_source {
    struct gf_whole_source whole;
    struct walk walk; /* walk.file is NULL until decoding begins */
    int drawn;        /* number of pictures drawn on the canvas */
    int disposal;     /* what happens to the last drawn picture, and its area */
    struct gf_rectangle area;
    GifByteType *line;    /* the indices of a line */
    unsigned char *under; /* the canvas before the last picture was drawn */
};

static void reset_control(struct walk *walk)
{
    walk->control = (GraphicsControlBlock){.TransparentColor = NO_TRANSPARENT_COLOR};
}

static bool begin(struct walk *walk, const struct gf_blob *file)
{
    *walk = (struct walk){.file = file, .loops = 1};
    reset_control(walk);
    walk->gif = calls.DGifOpen(walk, read_bytes, &walk->error);
    return walk->gif;
}

static void end(struct walk *walk)
{
    int ignored;
    if (walk->gif)
        calls.DGifCloseFile(walk->gif, &ignored);
}

/* Joins the bytes of blocks, each of which follows its length, into *joined, which the caller
 * frees. Returns false when out of memory. */
static bool join_blocks(const unsigned char *at, const unsigned char *end, struct gf_blob *joined)
{
    joined->data = malloc((size_t)(end - at) + 1);
    for (joined->size = 0; joined->data && at < end && *at < end - at; at += 1 + *at) {
        memcpy(joined->data + joined->size, at + 1, *at);
        joined->size += *at;
    }
    return joined->data;
}

/* Adds XMP. Its packet lies unchanged between the block's name and GF_GIF_XMP_TAIL bytes (gif.h);
 * some programs split it into blocks instead. */
static bool add_xmp(struct walk *walk, const unsigned char *at, const unsigned char *end)
{
    struct gf_blob *const xmp = &walk->metadata->xmp, blocks = {0};
    const size_t size = (size_t)(end - at), tail = GF_GIF_XMP_TAIL;
    if (xmp->size || size > GF_METADATA_MAX)
        return true;
    if (size > tail && at[size - tail] == 1 && at[size - tail + 1] == 255 && !end[-2])
        return gf_blob_set(xmp, at, size - tail);
    const bool set = join_blocks(at, end, &blocks) && gf_blob_set(xmp, blocks.data, blocks.size);
    free(blocks.data);
    return set;
}

static bool add_comment(struct walk *walk, const unsigned char *at, const unsigned char *end)
{
    struct gf_blob text = {0};
    const bool added =
        join_blocks(at, end, &text) &&
        gf_texts_add_comment(&walk->metadata->texts, text.data, text.size, &walk->texts_left_out);
    free(text.data);
    return added;
}

static bool read_extension(struct walk *walk)
{
    /* The names of the known application blocks, each behind its length. */
    static const char xmp[] = "\x0bXMP DataXMP", netscape[] = "\x0bNETSCAPE2.0",
                      animexts[] = "\13ANIMEXTS1.0";
    /* Behind the extension's code. */
    const unsigned char *const first = walk->file->data + walk->at + 1;
    int code;
    GifByteType *block = NULL;
    if (calls.DGifGetExtension(walk->gif, &code, &block) == GIF_ERROR)
        return false;
    if (code == GRAPHICS_EXT_FUNC_CODE && block)
        (void)calls.DGifExtensionToGCB(block[0], block + 1, &walk->control);
    const bool has_comment = code == COMMENT_EXT_FUNC_CODE && block,
               has_xmp = code == APPLICATION_EXT_FUNC_CODE && block &&
                         !memcmp(block, xmp, sizeof xmp - 1);
    const bool loops = code == APPLICATION_EXT_FUNC_CODE && block &&
                       (!memcmp(block, netscape, sizeof netscape - 1) ||
                        !memcmp(block, animexts, sizeof animexts - 1));
    while (block) {
        if (calls.DGifGetExtensionNext(walk->gif, &block) == GIF_ERROR)
            return false;
        if (loops && block && block[0] == 3 && block[1] == 1) {
            /* How often the file repeats the animation after the first time; 0: forever. */
            const unsigned again = block[2] | (unsigned)block[3] << 8;
            walk->loops = again ? again + 1 : 0;
        }
    }
    const unsigned char *const end = walk->file->data + walk->at;
    const bool added = !walk->metadata ? true
                       : has_comment   ? add_comment(walk, first, end)
                       : has_xmp       ? add_xmp(walk, first + sizeof xmp - 1, end)
                                       : true;
    if (!added)
        walk->gif->Error = D_GIF_ERR_NOT_ENOUGH_MEM;
    return added;
}

/* Reads the picture's description. giflib refuses indices of more than 8 bits; their size is the
 * last byte that it reads. */
static bool read_description(struct walk *walk)
{
    const bool read = calls.DGifGetImageDesc(walk->gif) != GIF_ERROR;
    const int bits = walk->file->data[walk->at - 1];
    const bool is_long = !read && walk->gif->Error == D_GIF_ERR_READ_FAILED &&
                         walk->at < walk->file->size && bits > 8 && bits <= 11;
    walk->long_bits = is_long ? bits : 0;
    return read || is_long;
}

/* Goes to the next picture and reads its description. *found is false at the end of the file. */
static bool next_picture(struct walk *walk, bool *found)
{
    GifRecordType type;
    *found = false;
    for (;;) {
        walk->cut = walk->at == walk->file->size && !walk->ended;
        if (calls.DGifGetRecordType(walk->gif, &type) == GIF_ERROR)
            return false;
        if (type == TERMINATE_RECORD_TYPE)
            return true;
        if (type == IMAGE_DESC_RECORD_TYPE) {
            *found = true;
            return read_description(walk);
        }
        if (type == EXTENSION_RECORD_TYPE && !read_extension(walk))
            return false;
    }
}

static bool skip_pixels(struct walk *walk)
{
    int size;
    GifByteType *block;
    if (calls.DGifGetCode(walk->gif, &size, &block) == GIF_ERROR)
        return false;
    while (block) {
        if (calls.DGifGetCodeNext(walk->gif, &block) == GIF_ERROR)
            return false;
    }
    return true;
}

static int error_of(const struct walk *walk)
{
    return walk->gif ? walk->gif->Error : walk->error;
}

static const char *error_text(const struct walk *walk)
{
    const char *const text = calls.GifErrorString(error_of(walk));
    if (walk->at == walk->file->size)
        return "it is truncated";
    if (error_of(walk) == D_GIF_ERR_READ_FAILED)
        return "the codes of its pixels end too early";
    return text ? text : "giflib cannot read it";
}

static enum gf_status fail(const struct gif_source *gif, const struct walk *walk,
                           struct gf_error *error)
{
    return error_of(walk) == D_GIF_ERR_NOT_ENOUGH_MEM
               ? gf_fail_memory(error)
               : gf_whole_source_fail(&gif->whole, error_text(walk), error);
}

static struct gf_rectangle clipped(const GifImageDesc *desc, struct gf_format format)
{
    struct gf_rectangle area = {desc->Left, desc->Top, desc->Width, desc->Height};
    area.x = area.x < format.width ? area.x : format.width;
    area.y = area.y < format.height ? area.y : format.height;
    area.width = area.width < format.width - area.x ? area.width : format.width - area.x;
    area.height = area.height < format.height - area.y ? area.height : format.height - area.y;
    return area;
}

/* Stores a line's pixels on the canvas. An index beyond the palette becomes black. */
static void put_line(struct walk *walk, const GifByteType *line, int pixels, int channels,
                     unsigned char *to)
{
    const GifFileType *const gif = walk->gif;
    const ColorMapObject *const map = gif->Image.ColorMap ? gif->Image.ColorMap : gif->SColorMap;
    for (int x = 0; x < pixels; x++, to += channels) {
        GifColorType colour = {0, 0, 0};
        if (line[x] == walk->control.TransparentColor)
            continue;
        if (map && line[x] < map->ColorCount)
            colour = map->Colors[line[x]];
        else
            walk->beyond = true;
        to[0] = colour.Red;
        to[1] = colour.Green;
        to[2] = colour.Blue;
        if (channels == 4)
            to[3] = 255;
    }
}

/* Returns the row of a picture that contains its i-th stored line. */
static int row_of(int line, int height, bool interlaced)
{
    static const struct {
        int first, step;
    } passes[] = {{0, 8}, {4, 8}, {2, 4}, {1, 2}};
    for (int p = 0; interlaced && p < 4; p++) {
        const int rows = (height - passes[p].first + passes[p].step - 1) / passes[p].step;
        if (line < rows)
            return passes[p].first + line * passes[p].step;
        line -= rows > 0 ? rows : 0;
    }
    return line;
}

static bool draw(struct walk *walk, struct gf_format format, GifByteType *line,
                 unsigned char *canvas)
{
    const GifImageDesc *const desc = &walk->gif->Image;
    const struct gf_rectangle area = clipped(desc, format);
    struct gf_gif_decoder decoder;
    if (walk->long_bits)
        gif_decoder_open(&decoder, walk->long_bits, walk->file->data + walk->at,
                         walk->file->data + walk->file->size);
    for (int i = 0; i < desc->Height; i++) {
        const int y = row_of(i, desc->Height, desc->Interlace);
        if (gf_time_is_up() ||
            !(walk->long_bits ? gif_decode_line(&decoder, line, desc->Width)
                              : calls.DGifGetLine(walk->gif, line, desc->Width) != GIF_ERROR))
            return false;
        if (y < area.height)
            put_line(walk, line, area.width, format.channels,
                     canvas + (size_t)(area.y + y) * gf_row_bytes(format) +
                         (size_t)area.x * (size_t)format.channels);
    }
    return !walk->long_bits || skip_pixels(walk);
}

static void clear_area(struct gf_rectangle area, struct gf_format format, unsigned char *canvas)
{
    for (int y = area.y; y < area.y + area.height; y++)
        memset(canvas + (size_t)y * gf_row_bytes(format) + (size_t)area.x * (size_t)format.channels,
               0, (size_t)area.width * (size_t)format.channels);
}

/* Changes the canvas as the last picture's disposal says once it was shown: restores or clears its
 * area. */
static void dispose(const struct gif_source *gif, unsigned char *canvas)
{
    const struct gf_format format = gif->whole.base.format;
    if (gif->disposal == DISPOSE_PREVIOUS)
        memcpy(canvas, gif->under, gf_row_bytes(format) * (size_t)format.height);
    if (gif->disposal == DISPOSE_BACKGROUND)
        clear_area(gif->area, format, canvas);
}

/* Draws the next picture on the canvas, after the disposal of the one before. */
static enum gf_status draw_next(struct gif_source *gif, unsigned char *canvas,
                                struct gf_error *error)
{
    const struct gf_format format = gif->whole.base.format;
    const size_t bytes = gf_row_bytes(format) * (size_t)format.height;
    struct walk *const walk = &gif->walk;
    bool found;
    dispose(gif, canvas);
    if (!next_picture(walk, &found) || !found)
        return fail(gif, walk, error);
    gif->disposal = walk->control.DisposalMode;
    gif->area = clipped(&walk->gif->Image, format);
    if (gif->disposal == DISPOSE_PREVIOUS && !gif->under && !(gif->under = malloc(bytes)))
        return gf_fail_memory(error);
    if (gif->disposal == DISPOSE_PREVIOUS)
        memcpy(gif->under, canvas, bytes);
    if (!draw(walk, format, gif->line, canvas))
        return fail(gif, walk, error);
    const int delay = walk->control.DelayTime;
    gif->whole.base.duration = (struct gf_duration){(uint32_t)(delay > 0 ? delay : 0), 100};
    reset_control(walk);
    gif->drawn++;
    return GF_OK;
}

static enum gf_status gif_decode(struct gf_whole_source *source, unsigned char *pixels,
                                 struct gf_error *error)
{
    enum { LINE_MAX = 65535 };
    struct gif_source *const gif = (struct gif_source *)source;
    if (!gif->walk.file && !begin(&gif->walk, &source->file))
        return fail(gif, &gif->walk, error);
    if (!gif->line && !(gif->line = malloc(LINE_MAX)))
        return gf_fail_memory(error);
    while (gif->drawn <= source->frame)
        GF_TRY(draw_next(gif, pixels, error));
    if (gif->walk.beyond && source->frame >= source->last)
        gf_warn(&source->options,
                "%s: some of its pixels have an index beyond their palette: they are black",
                source->name);
    return GF_OK;
}

static void gif_release(struct gf_whole_source *source)
{
    struct gif_source *const gif = (struct gif_source *)source;
    end(&gif->walk);
    free(gif->line);
    free(gif->under);
}

/* Counts the pictures, or those up to `last` if only headers are read. Returns false if the file is
 * damaged after the *count pictures that were found. *alpha becomes whether picture `last` can have
 * transparent pixels. The first picture can leave pixels of the canvas transparent; later pictures
 * are drawn over it, and only areas that are cleared before `last` become transparent. */
static bool count_pictures(struct walk *walk, int last, bool headers_only, int *count, bool *alpha)
{
    bool found = true;
    *count = 0;
    *alpha = false;
    while (found) {
        if (!next_picture(walk, &found))
            return false;
        if (!found)
            break;
        const GifImageDesc *const desc = &walk->gif->Image;
        const bool covers = !desc->Left && !desc->Top && desc->Width >= walk->gif->SWidth &&
                            desc->Height >= walk->gif->SHeight;
        if (!*count)
            *alpha = walk->control.TransparentColor != NO_TRANSPARENT_COLOR || !covers;
        if (*count < last)
            *alpha |= walk->control.DisposalMode == DISPOSE_BACKGROUND;
        walk->seconds += walk->control.DelayTime / 100.0;
        if (headers_only && *count == last)
            found = false;
        else if (!skip_pixels(walk))
            return false;
        reset_control(walk);
        ++*count;
    }
    return true;
}

static enum gf_status read_header(struct gf_whole_source *whole, struct gf_error *error)
{
    struct gif_source *const gif = (struct gif_source *)whole;
    const int first = whole->page < 0 ? 0 : whole->page,
              last = whole->last < 0 ? first : whole->last;
    int count = 0;
    bool alpha = false;
    struct walk walk;
    enum gf_status status = GF_OK;
    bool sound = begin(&walk, &whole->file);
    walk.metadata = &whole->base.metadata;
    sound = sound &&
            count_pictures(&walk, last, whole->headers_only && whole->last < 0, &count, &alpha);
    whole->sound = count;
    if (walk.cut && count > first && !gf_whole_source_suffices(whole)) {
        gf_warn(&whole->options, "%s: its end is missing", whole->name);
        sound = true;
    }
    if (!sound && (!gf_whole_source_suffices(whole) || error_of(&walk) == D_GIF_ERR_NOT_ENOUGH_MEM))
        status = fail(gif, &walk, error);
    else if (!sound)
        gf_warn_behind(whole->name, count, error_text(&walk), &whole->options);
    else if (!count)
        status = gf_whole_source_fail(whole, "it holds no picture", error);
    if (walk.texts_left_out)
        gf_warn(&whole->options, "%s: it has over %d comments: some are left out", whole->name,
                GF_TEXTS_MOST);
    whole->base.metadata.loops = walk.loops;
    if (walk.gif && walk.gif->AspectByte)
        gf_metadata_set_ratio(&whole->base.metadata, 64, walk.gif->AspectByte + 15);
    whole->base.stored =
        (struct gf_stored){.pages = whole->headers_only && whole->last < 0 ? 0 : count,
                           .seconds = sound && count > 1 ? walk.seconds : 0,
                           .is_lossless = true,
                           .colour = GF_STORED_PALETTE};
    GF_THEN(status, gf_choose_frames(whole, count, error));
    GF_THEN(status, gf_whole_source_describe(whole, (uint64_t)walk.gif->SWidth,
                                             (uint64_t)walk.gif->SHeight, alpha ? 4 : 3, 8,
                                             whole->frame || whole->last > 0 ? 4 : 0, error));
    end(&walk);
    return status;
}

GF_WHOLE_SOURCE(gf_gif_source_open, .size = sizeof(struct gif_source), .read_header = read_header,
                .blank = true, .decode = gif_decode, .release = gif_release)
