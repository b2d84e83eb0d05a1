/* Texts in a picture file: a PNG's tEXt, zTXt and iTXt chunks, a JPEG's comments (COM). */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Bytes that malloc() has allocated. A size of 0 means that there are none. */
struct gf_blob {
    unsigned char *data;
    size_t size;
};
/* Replaces the blob's bytes by a copy of `size` bytes. False when out of memory. */
bool gf_blob_set(struct gf_blob *blob, const void *data, size_t size);

/* A text. `head` holds a PNG's keyword (Latin-1), language (ASCII) and translated keyword (UTF-8),
 * each with a terminating zero; `text` is UTF-8. For a JPEG's comment `head` is empty, and `text`
 * has no known encoding. */
struct gf_text {
    struct gf_blob head, text;
};
struct gf_texts {
    struct gf_text *item;
    int count;
    size_t bytes; /* the size of all heads and texts together */
};
enum { GF_TEXTS_MOST = 256, GF_TEXT_KEYWORD_MOST = 79 };
#define GF_TEXT_COMMENT "Comment" /* the keyword that a JPEG's comment gets in a PNG */

/* Each of the next three functions adds a text to the list. If the list has too many texts, or they
 * would be too long together, the text is left out and *left_out is set. Returns false when out of
 * memory. */
/* Adds a text. head_size counts the three terminating zeros of `head`. A text that is not valid
 * UTF-8 is read as Latin-1. */
bool gf_texts_add(struct gf_texts *texts, const void *head, size_t head_size, const void *text,
                  size_t size, bool *left_out);
/* Adds a text. The keyword ends with a zero; keyword and text are Latin-1. */
bool gf_texts_add_latin1(struct gf_texts *texts, const char *keyword, const void *text, size_t size,
                         bool *left_out);
/* Adds a text. `bytes` is the payload of a JPEG's COM marker segment. */
bool gf_texts_add_comment(struct gf_texts *texts, const void *bytes, size_t size, bool *left_out);

/* Whether the text came from a JPEG's COM marker segment. */
bool gf_text_is_comment(const struct gf_text *text);
bool gf_texts_copy(struct gf_texts *to, const struct gf_texts *from);
void gf_texts_free(struct gf_texts *texts);

/* Makes the payload of a JPEG's COM marker segment from the text: a comment is copied, any other
 * text becomes "keyword: text" in UTF-8, or the text alone if its keyword is GF_TEXT_COMMENT.
 * Returns false when out of memory. */
bool gf_text_as_comment(const struct gf_text *text, struct gf_blob *comment);
/* Makes the text for a PNG's chunk: a comment gets the keyword GF_TEXT_COMMENT, and each zero in
 * the text, which would end it in a PNG, becomes a blank. *latin1 becomes whether `png` is Latin-1,
 * which a tEXt chunk can hold. Returns false when out of memory. */
bool gf_text_as_png(const struct gf_text *text, struct gf_text *png, bool *latin1);
void gf_text_free(struct gf_text *text);
