/* What a text can say about the picture on which it is drawn. */
#pragma once

/* The facts: the end of the constant, the field's name, and its description. */
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

/* The facts of the picture for which a plan is made. tell() writes a fact other than the size; the
 * text is printable UTF-8, and empty if the fact is not known. */
struct gf_facts_of_picture {
    void (*tell)(void *context, enum gf_picture_fact fact, char text[GF_PICTURE_FACT_SIZE]);
    void *context;
};
