/* Texts beside a picture: a PNG's tEXt, zTXt and iTXt chunks, a JPEG's comments (COM). */
#ifndef GF_CODEC_COMMON_TEXTS_H
#define GF_CODEC_COMMON_TEXTS_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes from malloc; size 0 where there are none. */
struct gf_blob {
    unsigned char *data;
    size_t size;
};
/* Replaces the blob's bytes by a copy of these. False when out of memory. */
bool gf_blob_set(struct gf_blob *blob, const void *data, size_t size);

/* A text. `head` holds a PNG's keyword (Latin-1), language (ASCII) and translated keyword (UTF-8),
 * each with the zero that ends it; `text` is UTF-8. For a JPEG's comment `head` is empty, and
 * `text` is any bytes. */
struct gf_text {
    struct gf_blob head, text;
};
struct gf_texts {
    struct gf_text *item;
    int count;
    size_t bytes; /* of all */
};
enum { GF_TEXTS_MOST = 256, GF_TEXT_KEYWORD_MOST = 79 };
#define GF_TEXT_COMMENT "Comment" /* a PNG's keyword for the text of a JPEG's COM */

/* Each of these adds a text. Where there are too many texts, or all together are too long, the text
 * is left out and *left_out is set. False when out of memory. */
/* head_size counts the three zeros of `head`. A text that is not UTF-8 is read as Latin-1. */
bool gf_texts_add(struct gf_texts *texts, const void *head, size_t head_size, const void *text,
                  size_t size, bool *left_out);
/* keyword ends with a zero; keyword and text are Latin-1. */
bool gf_texts_add_latin1(struct gf_texts *texts, const char *keyword, const void *text, size_t size,
                         bool *left_out);
/* The payload of a JPEG's COM segment. */
bool gf_texts_add_comment(struct gf_texts *texts, const void *bytes, size_t size, bool *left_out);

/* Whether the text came from a JPEG's COM. */
bool gf_text_is_comment(const struct gf_text *text);
bool gf_texts_copy(struct gf_texts *to, const struct gf_texts *from);
void gf_texts_free(struct gf_texts *texts);

/* Makes the payload of a JPEG's COM segment of the text: a comment unchanged, else "keyword: text"
 * in UTF-8, without the keyword where it is GF_TEXT_COMMENT. False when out of memory. */
bool gf_text_as_comment(const struct gf_text *text, struct gf_blob *comment);
/* Makes the text of a PNG's chunk of the text: a comment gets the keyword GF_TEXT_COMMENT, and a
 * zero within it, which would end a PNG's text, becomes a blank. *latin1: `png` is Latin-1 and fit
 * for tEXt. False when out of memory. */
bool gf_text_as_png(const struct gf_text *text, struct gf_text *png, bool *latin1);
void gf_text_free(struct gf_text *text);

#endif
