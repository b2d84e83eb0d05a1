/* Pictures in memory: some rows of a picture, the second picture that a filter reads, facts that a
 * text can state about a picture, and the layout that textures need. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpufilter/image.h"

/* Rows first .. end - 1 of a picture. */
struct gf_rows {
    int first, end;
};

/* Rows y .. y + rows - 1 of a picture. `format` is the format of the whole picture, including its
 * height. Row r is at data + (r - y) * pitch. In device memory data and pitch are multiples of
 * 16. */
struct gf_view {
    unsigned char *data;
    size_t pitch;
    struct gf_format format;
    int y, rows;
};

static inline unsigned char *gf_view_row(const struct gf_view *view, int row)
{
    return view->data + (ptrdiff_t)(row - view->y) * (ptrdiff_t)view->pitch;
}

static inline struct gf_view gf_view_make(unsigned char *data, size_t pitch,
                                          struct gf_format format, struct gf_rows rows)
{
    return (struct gf_view){.data = data,
                            .pitch = pitch,
                            .format = format,
                            .y = rows.first,
                            .rows = rows.end - rows.first};
}

static inline struct gf_view gf_view_part(const struct gf_view *whole, struct gf_rows rows)
{
    return gf_view_make(gf_view_row(whole, rows.first), whole->pitch, whole->format, rows);
}

/* Returns a view of all rows of the picture. */
static inline struct gf_view gf_image_view(const struct gf_image *image)
{
    return gf_view_make(image->data, image->pitch, image->format,
                        (struct gf_rows){0, image->format.height});
}

static inline size_t gf_view_bytes(const struct gf_view *view)
{
    return gf_row_bytes(view->format) * (size_t)view->rows;
}

/* The largest number of second pictures that one stage reads, such as the one that `overlay` lays
 * over its input. */
enum { GF_STAGE_PICTURES_MAX = 8 };

struct gf_picture {
    struct gf_image image;  /* of integers; of floats those of 16 bits, limited to 0..1 */
    struct gf_image floats; /* the picture's own floats; without data if it has none */
    bool brief;             /* the picture serves one main picture only, and is freed after that */
    bool local;  /* the picture depends on files of this machine that the chain does not name */
    uint64_t id; /* a number that identifies the picture in this process */
    char *notes; /* lines of warnings from the picture's reader that have not been reported; NULL:
                  * none */
};

static inline uint64_t gf_picture_bytes(const struct gf_picture *picture)
{
    return (uint64_t)picture->image.pitch * (uint64_t)picture->image.format.height;
}

/* What a text can say about the picture on which it is drawn. Each fact has the end of its
 * constant's name, its name in a chain, and its description. */
/* clang-format off */
#define GF_PICTURE_FACTS(FACT) \
    FACT(STEM, "stem", "the input's name without folder and extension") \
    FACT(NAME, "name", "the input's name without its folder") \
    FACT(EXT, "ext", "the input's extension") \
    FACT(NUMBER, "n", "the number of the input in the whole list, from 1; for a single input the number of the picture in it") \
    FACT(DATE, "date", "the day when the picture was taken, by EXIF: 2024-05-01") \
    FACT(TIME, "time", "the time of that day: 12:30") \
    FACT(CAMERA, "camera", "EXIF's maker and model") \
    FACT(LENS, "lens", "EXIF's lens") \
    FACT(WIDTH, "w", "the width of the picture on which the text is drawn") \
    FACT(HEIGHT, "h", "its height")
/* clang-format on */
enum gf_picture_fact {
#define GF_FACT_NUMBER(end, name, help) GF_PICTURE_##end,
    GF_PICTURE_FACTS(GF_FACT_NUMBER)
#undef GF_FACT_NUMBER
        GF_PICTURE_FACT_COUNT
};

enum { GF_PICTURE_FACT_SIZE = 512 };

/* Gives the facts about the picture for which a plan is made. tell() writes one fact as printable
 * UTF-8, which is empty if the fact is not known; it is not called for the width and the height. */
struct gf_facts_of_picture {
    void (*tell)(void *context, enum gf_picture_fact fact, char text[GF_PICTURE_FACT_SIZE]);
    void *context;
};

/* What textures require of a picture in device memory: alignments in bytes and the largest sides in
 * texels, the narrowest limits of all devices from compute capability 5.0 on. A view with another
 * layout is copied to scratch memory first. */
enum {
    GF_TEXTURE_ALIGNMENT = 512,
    GF_TEXTURE_PITCH_ALIGNMENT = 32,
    GF_TEXTURE_WIDTH_MAX = 131072,
    GF_TEXTURE_HEIGHT_MAX = 65000,
};

static inline size_t gf_texture_pitch(struct gf_format format)
{
    return (gf_row_bytes(format) + GF_TEXTURE_PITCH_ALIGNMENT - 1) / GF_TEXTURE_PITCH_ALIGNMENT *
           GF_TEXTURE_PITCH_ALIGNMENT;
}

static inline size_t gf_texture_scratch(struct gf_format format, int rows)
{
    return gf_texture_pitch(format) * (size_t)rows + GF_TEXTURE_ALIGNMENT;
}
