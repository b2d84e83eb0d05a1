/* Makes HEIC and AVIF files box by box: frames, or grids of frames, whose data the test gives. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { HEIC_MOST = 1 << 20 };

/* Ends the program where a test would make too large a file; fuzz targets have no asserts of tests.
 */
static inline void heic_need(bool holds)
{
    if (!holds)
        abort();
}

struct heic_bytes {
    unsigned char *data;
    size_t size;
};

/* What the file says. Zero is one frame of 256x256 pixels with 4:2:0 and 8 bits. */
struct heic_kind {
    int columns, rows, width, height; /* of a grid; columns 0: one frame */
    int tile_width, tile_height;
    int rotation, mirror; /* mirror 0: none, 1 and 2: imir's axis 0 and 1 */
    bool crops;           /* a clean aperture of `crop`: numbers of the box clap */
    uint32_t crop[8];
    int matrix; /* 0: no box colr */
    bool av1;   /* the frames are AV1 */
    bool full, alpha_of_tile, other_tile, essential, wide;
    bool shared;                           /* all frames are the same bytes */
    int properties;                        /* the first frame has its size so many times more */
    struct heic_bytes parameters, *frames; /* of the frames; NULL: made up ones */
};

static inline void heic_put(struct heic_bytes *to, uint64_t value, int bytes)
{
    heic_need(to->size + 8 < HEIC_MOST);
    for (int i = bytes - 1; i >= 0; i--)
        to->data[to->size++] = (unsigned char)(value >> 8 * i);
}

static inline void heic_text(struct heic_bytes *to, const void *text, size_t size)
{
    heic_need(to->size + size < HEIC_MOST);
    memcpy(to->data + to->size, text, size);
    to->size += size;
}

/* Begins a box; heic_end() sets its size. version -1: a box without version and flags. */
static inline size_t heic_begin(struct heic_bytes *to, const char *type, int version)
{
    const size_t at = to->size;
    heic_put(to, 0, 4);
    heic_text(to, type, 4);
    if (version >= 0)
        heic_put(to, (uint64_t)version << 24, 4);
    return at;
}

static inline void heic_end(const struct heic_bytes *to, size_t at)
{
    struct heic_bytes size = {to->data + at, 0};
    heic_put(&size, to->size - at, 4);
}

/* hvcC of 4:2:0 with 8 bits, and a VPS, an SPS and a PPS of three bytes each. */
static const unsigned char heic_parameters[] =
    "\1\1\0\0\0\0\0\0\0\0\0\0\0\xF0\0\xFC\xFD\xF8\xF8\0\0\x0F\3"
    "\x20\0\1\0\3\x40\1\xAA\x21\0\1\0\3\x42\1\xBB\x22\0\1\0\3\x44\1\xCC";
/* A slice of an IDR frame, and a message (SEI) before it. */
static const unsigned char heic_frame[] = "\0\0\0\4\x4E\1\5\0\0\0\0\5\x26\1\xAF\x12\x34";

/* av1C of 4:2:0 with 8 bits, and an OBU; an item of another one. */
static const unsigned char avif_parameters[] = "\x81\0\x0C\0\x0A\1\xAA";
static const unsigned char avif_frame[] = "\x32\2\x12\x34";

static inline void heic_properties(struct heic_bytes *to, const struct heic_kind *kind)
{
    size_t box = heic_begin(to, kind->av1 ? "av1C" : "hvcC", -1);
    if (kind->parameters.data)
        heic_text(to, kind->parameters.data, kind->parameters.size);
    else if (kind->av1)
        heic_text(to, avif_parameters, sizeof avif_parameters - 1);
    else
        heic_text(to, heic_parameters, sizeof heic_parameters - 1);
    heic_end(to, box);
    box = heic_begin(to, "ispe", 0);
    heic_put(to, (uint64_t)kind->tile_width, 4);
    heic_put(to, (uint64_t)kind->tile_height, 4);
    heic_end(to, box);
    box = heic_begin(to, "ispe", 0); /* property 3: of the grid */
    heic_put(to, (uint64_t)kind->width, 4);
    heic_put(to, (uint64_t)kind->height, 4);
    heic_end(to, box);
    box = heic_begin(to, "colr", -1); /* property 4 */
    heic_text(to, "nclx\0\1\0\15", 8);
    heic_put(to, (uint64_t)kind->matrix, 2);
    heic_put(to, kind->full ? 0x80 : 0, 1);
    heic_end(to, box);
    box = heic_begin(to, "clap", -1); /* property 5 */
    for (int i = 0; i < 8; i++)
        heic_put(to, kind->crops ? kind->crop[i] : 1, 4);
    heic_end(to, box);
    box = heic_begin(to, "irot", -1); /* property 6 */
    heic_put(to, (uint64_t)kind->rotation, 1);
    heic_end(to, box);
    box = heic_begin(to, "imir", -1); /* property 7 */
    heic_put(to, kind->mirror == 2, 1);
    heic_end(to, box);
    box = heic_begin(to, "ispe", 0); /* property 8: of a tile of another size */
    heic_put(to, (uint64_t)kind->tile_width + 2, 4);
    heic_put(to, (uint64_t)kind->tile_height, 4);
    heic_end(to, box);
    heic_end(to, heic_begin(to, "what", -1)); /* property 9 */
}

/* Associates the item with its properties. */
static inline void heic_associate(struct heic_bytes *to, const struct heic_kind *kind, int item,
                                  bool is_frame, bool is_main)
{
    unsigned char list[256];
    int count = 0;
    if (is_frame)
        list[count++] = 0x81;
    list[count++] = !is_frame ? 3 : kind->other_tile && item == 2 ? 8 : 2;
    if (kind->matrix)
        list[count++] = 4;
    for (int i = 0; item == 1 && i < kind->properties; i++)
        list[count++] = 2;
    if (is_main && kind->crops)
        list[count++] = 0x85;
    if (is_main && kind->rotation)
        list[count++] = 0x86;
    if (is_main && kind->mirror)
        list[count++] = 0x87;
    if (is_main && kind->essential)
        list[count++] = 0x89;
    heic_put(to, (uint64_t)item, 2);
    heic_put(to, (uint64_t)count, 1);
    heic_text(to, list, (size_t)count);
}

static inline void heic_items(struct heic_bytes *to, int tiles, bool grid, bool av1)
{
    const size_t list = heic_begin(to, "iinf", 0);
    heic_put(to, (uint64_t)(tiles + grid), 2);
    for (int i = 1; i <= tiles + grid; i++) {
        const size_t entry = heic_begin(to, "infe", 2);
        heic_put(to, (uint64_t)i, 2);
        heic_put(to, 0, 2);
        heic_text(to, i > tiles ? "grid" : av1 ? "av01" : "hvc1", 5);
        heic_end(to, entry);
    }
    heic_end(to, list);
}

/* Returns the file, which the caller frees. *item becomes the number of the main picture. */
static inline struct heic_bytes heic_make(const struct heic_kind *asked, int *item)
{
    struct heic_kind kind = *asked;
    const bool grid = kind.columns > 0;
    const int tiles = grid ? kind.columns * kind.rows : 1;
    struct heic_bytes file = {calloc(1, HEIC_MOST), 0};
    size_t box, places[256];
    heic_need(file.data && tiles < 256);
    kind.tile_width = kind.tile_width ? kind.tile_width : 256;
    kind.tile_height = kind.tile_height ? kind.tile_height : 256;
    *item = tiles + grid;
    heic_text(&file,
              kind.av1 ? "\0\0\0\x18"
                         "ftypavif\0\0\0\0mif1avif"
                       : "\0\0\0\x18"
                         "ftypheic\0\0\0\0mif1heic",
              24);
    const size_t meta = heic_begin(&file, "meta", 0);
    box = heic_begin(&file, "hdlr", 0);
    heic_text(&file, "\0\0\0\0pict\0\0\0\0\0\0\0\0\0\0\0\0", 21);
    heic_end(&file, box);
    box = heic_begin(&file, "pitm", 0);
    heic_put(&file, (uint64_t)*item, 2);
    heic_end(&file, box);
    heic_items(&file, tiles, grid, kind.av1);
    box = heic_begin(&file, "iloc", 1);
    heic_put(&file, 0x4400, 2);
    heic_put(&file, (uint64_t)(tiles + grid), 2);
    for (int i = 0; i < tiles; i++) {
        heic_put(&file, (uint64_t)(i + 1), 2);
        heic_put(&file, 1, 6); /* in the file, one extent */
        places[i] = file.size;
        heic_put(&file, 0, 8);
    }
    if (grid) {
        heic_put(&file, (uint64_t)*item, 2);
        heic_put(&file, 0x100000001, 6); /* in the box idat */
        heic_put(&file, kind.wide ? 12 : 8, 8);
    }
    heic_end(&file, box);
    box = heic_begin(&file, "iprp", -1);
    size_t inner = heic_begin(&file, "ipco", -1);
    heic_properties(&file, &kind);
    heic_end(&file, inner);
    inner = heic_begin(&file, "ipma", 0);
    heic_put(&file, (uint64_t)(tiles + grid), 4);
    for (int i = 1; i <= tiles + grid; i++)
        heic_associate(&file, &kind, i, i <= tiles, i == *item);
    heic_end(&file, inner);
    heic_end(&file, box);
    if (grid) {
        box = heic_begin(&file, "iref", 0);
        inner = heic_begin(&file, "dimg", -1);
        heic_put(&file, (uint64_t)*item, 2);
        heic_put(&file, (uint64_t)tiles, 2);
        for (int i = 1; i <= tiles; i++)
            heic_put(&file, (uint64_t)i, 2);
        heic_end(&file, inner);
        inner = heic_begin(&file, "auxl", -1); /* a picture that belongs to the grid or a tile */
        heic_put(&file, 77, 2);
        heic_put(&file, 1, 2);
        heic_put(&file, kind.alpha_of_tile ? 2 : (uint64_t)*item, 2);
        heic_end(&file, inner);
        heic_end(&file, box);
        box = heic_begin(&file, "idat", -1);
        heic_put(&file, kind.wide, 2);
        heic_put(&file, (uint64_t)(kind.rows - 1), 1);
        heic_put(&file, (uint64_t)(kind.columns - 1), 1);
        heic_put(&file, (uint64_t)kind.width, kind.wide ? 4 : 2);
        heic_put(&file, (uint64_t)kind.height, kind.wide ? 4 : 2);
        heic_end(&file, box);
    }
    heic_end(&file, meta);
    box = heic_begin(&file, "mdat", -1);
    for (int i = 0; i < tiles; i++) {
        struct heic_bytes place = {file.data + places[i], 0};
        const size_t size = kind.frames ? kind.frames[i].size
                            : kind.av1  ? sizeof avif_frame - 1
                                        : sizeof heic_frame - 1;
        heic_put(&place, kind.shared ? box + 8 : file.size, 4);
        heic_put(&place, size, 4);
        if (!i || !kind.shared)
            heic_text(&file,
                      kind.frames ? kind.frames[i].data
                      : kind.av1  ? avif_frame
                                  : heic_frame,
                      size);
    }
    heic_end(&file, box);
    return file;
}
