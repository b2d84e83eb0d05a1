/* Texts in picture files: comments, a PNG's texts, and IPTC. */
#include "codec/common/metadata/texts.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/grow.h"
#include "base/text/plain_text.h"
#include "codec/common/metadata/metadata.h"

bool gf_blob_set(struct gf_blob *blob, const void *data, size_t size)
{
    unsigned char *const copy = size ? malloc(size) : NULL;
    if (size && !copy)
        return false;
    if (size)
        memcpy(copy, data, size);
    free(blob->data);
    *blob = (struct gf_blob){copy, size};
    return true;
}

static bool is_utf8(const unsigned char *text, size_t size)
{
    uint32_t number;
    for (size_t at = 0; at < size;) {
        const int bytes = gf_utf8_read(text + at, text + size, &number);
        if (!bytes)
            return false;
        at += (size_t)bytes;
    }
    return true;
}

static bool utf8_of_latin1(const unsigned char *text, size_t size, struct gf_blob *utf8)
{
    unsigned char *const made = malloc(2 * size + 1);
    size_t length = 0;
    if (!made)
        return false;
    for (size_t i = 0; i < size; i++) {
        if (text[i] >= 0x80)
            made[length++] = (unsigned char)(0xc0 | text[i] >> 6);
        made[length++] = (unsigned char)(text[i] < 0x80 ? text[i] : 0x80 | (text[i] & 0x3f));
    }
    *utf8 = (struct gf_blob){made, length};
    return true;
}

/* Converts UTF-8 to Latin-1 in place. Returns false if Latin-1 lacks one of the characters. */
static bool become_latin1(struct gf_blob *text)
{
    uint32_t number;
    if (!text->size)
        return true;
    const unsigned char *const end = text->data + text->size;
    for (const unsigned char *at = text->data; at < end;) {
        const int bytes = gf_utf8_read(at, end, &number);
        if (!bytes || number > 0xff)
            return false;
        at += bytes;
    }
    size_t length = 0;
    for (const unsigned char *at = text->data; at < end; length++) {
        at += gf_utf8_read(at, end, &number);
        text->data[length] = (unsigned char)number;
    }
    text->size = length;
    return true;
}

static bool has_room(const struct gf_texts *texts, size_t size)
{
    return texts->count < GF_TEXTS_MOST && size <= GF_METADATA_MAX - texts->bytes;
}

/* Adds the text to the list, which then owns its blobs. After a failure the blobs are freed. */
static bool add(struct gf_texts *texts, struct gf_text text)
{
    if (!GF_GROW(texts->item, texts->count)) {
        gf_text_free(&text);
        return false;
    }
    texts->item[texts->count++] = text;
    texts->bytes += text.head.size + text.text.size;
    return true;
}

bool gf_texts_add(struct gf_texts *texts, const void *head, size_t head_size, const void *text,
                  size_t size, bool *left_out)
{
    struct gf_text made = {0};
    /* Latin-1 may take twice as many bytes as UTF-8. */
    if (!has_room(texts, head_size) || !has_room(texts, head_size + 2 * size)) {
        *left_out = true;
        return true;
    }
    const bool copied = gf_blob_set(&made.head, head, head_size) &&
                        (is_utf8(text, size) ? gf_blob_set(&made.text, text, size)
                                             : utf8_of_latin1(text, size, &made.text));
    if (copied)
        return add(texts, made);
    gf_text_free(&made);
    return false;
}

bool gf_texts_add_latin1(struct gf_texts *texts, const char *keyword, const void *text, size_t size,
                         bool *left_out)
{
    unsigned char head[GF_TEXT_KEYWORD_MOST + 3] = {0};
    struct gf_blob utf8 = {0};
    const size_t length = strnlen(keyword, GF_TEXT_KEYWORD_MOST);
    if (!has_room(texts, 2 * size)) {
        *left_out = true;
        return true;
    }
    memcpy(head, keyword, length);
    if (!utf8_of_latin1(text, size, &utf8))
        return false;
    const bool added = gf_texts_add(texts, head, length + 3, utf8.data, utf8.size, left_out);
    free(utf8.data);
    return added;
}

bool gf_texts_add_comment(struct gf_texts *texts, const void *bytes, size_t size, bool *left_out)
{
    struct gf_text made = {0};
    if (!size)
        return true;
    if (!has_room(texts, size)) {
        *left_out = true;
        return true;
    }
    return gf_blob_set(&made.text, bytes, size) && add(texts, made);
}

bool gf_text_is_comment(const struct gf_text *text)
{
    return !text->head.size || !strcmp((const char *)text->head.data, GF_TEXT_COMMENT);
}

bool gf_texts_copy(struct gf_texts *to, const struct gf_texts *from)
{
    for (int i = 0; i < from->count; i++) {
        struct gf_text copy = {0};
        if (!gf_blob_set(&copy.head, from->item[i].head.data, from->item[i].head.size) ||
            !gf_blob_set(&copy.text, from->item[i].text.data, from->item[i].text.size)) {
            gf_text_free(&copy);
            return false;
        }
        if (!add(to, copy))
            return false;
    }
    return true;
}

void gf_text_free(struct gf_text *text)
{
    free(text->head.data);
    free(text->text.data);
    *text = (struct gf_text){0};
}

void gf_texts_free(struct gf_texts *texts)
{
    for (int i = 0; i < texts->count; i++)
        gf_text_free(&texts->item[i]);
    free(texts->item);
    *texts = (struct gf_texts){0};
}

/* ---- conversions for the file formats ---- */

bool gf_text_as_comment(const struct gf_text *text, struct gf_blob *comment)
{
    const char *const keyword = (const char *)text->head.data;
    struct gf_blob name;
    *comment = (struct gf_blob){0};
    if (gf_text_is_comment(text))
        return gf_blob_set(comment, text->text.data, text->text.size);
    if (!utf8_of_latin1(text->head.data, strlen(keyword), &name))
        return false;
    unsigned char *const made = malloc(name.size + 2 + text->text.size);
    if (made) {
        memcpy(made, name.data, name.size);
        memcpy(made + name.size, ": ", 2);
        if (text->text.size)
            memcpy(made + name.size + 2, text->text.data, text->text.size);
        *comment = (struct gf_blob){made, name.size + 2 + text->text.size};
    }
    free(name.data);
    return made;
}

bool gf_text_as_png(const struct gf_text *text, struct gf_text *png, bool *latin1)
{
    static const char comment[] = GF_TEXT_COMMENT "\0\0";
    const bool has_keyword = text->head.size;
    *png = (struct gf_text){0};
    const struct gf_blob head =
        has_keyword ? text->head : (struct gf_blob){(unsigned char *)comment, sizeof comment};
    const bool utf8 = is_utf8(text->text.data, text->text.size);
    if (!gf_blob_set(&png->head, head.data, head.size) ||
        !gf_blob_set(&png->text, text->text.data, text->text.size)) {
        gf_text_free(png);
        return false;
    }
    for (size_t i = 0; i < png->text.size; i++) {
        if (!png->text.data[i])
            png->text.data[i] = ' ';
    }
    const size_t keyword = strlen((const char *)head.data);
    /* Head has neither a language nor a translated keyword. */
    const bool plain = head.size == keyword + 3;
    *latin1 = plain && (!utf8 || become_latin1(&png->text));
    return true;
}

/* ---- IPTC records, as Photoshop stores them: within a resource of a JPEG ---- */

enum { RESOURCE_HEAD = 12, IPTC_RESOURCE = 0x0404, IPTC_TAG = 0x1c };

static size_t even(size_t size)
{
    return size + size % 2;
}

/* Sets *iptc to a Photoshop resource that has no name and holds these IPTC records. Returns false
 * when out of memory. */
static bool set_iptc(struct gf_blob *iptc, const unsigned char *records, size_t size)
{
    unsigned char *const resource = calloc(1, RESOURCE_HEAD + even(size));
    if (!resource)
        return false;
    memcpy(resource, "8BIM\4\4\0\0", 8);
    for (int i = 0; i < 4; i++)
        resource[8 + i] = (unsigned char)(size >> (24 - 8 * i));
    memcpy(resource + RESOURCE_HEAD, records, size);
    free(iptc->data);
    *iptc = (struct gf_blob){resource, RESOURCE_HEAD + even(size)};
    return true;
}

bool gf_metadata_add_photoshop(struct gf_metadata *metadata, const void *data, size_t size)
{
    if (metadata->iptc.size || !size || size > GF_METADATA_MAX)
        return true;
    const unsigned char *at = data, *const end = at + size;
    if (at[0] == IPTC_TAG)
        return set_iptc(&metadata->iptc, at, size);
    while (end - at >= RESOURCE_HEAD && !memcmp(at, "8BIM", 4)) {
        /* The bytes of the name with its length byte. */
        const size_t name = even((size_t)at[6] + 1);
        if ((size_t)(end - at) < 6 + name + 4)
            break;
        const size_t length = gf_get_be(at + 6 + name, 4);
        const unsigned char *const records = at + 6 + name + 4;
        if (length > (size_t)(end - records))
            break;
        if (gf_get_be(at + 4, 2) == IPTC_RESOURCE)
            return !length || set_iptc(&metadata->iptc, records, length);
        if (even(length) > (size_t)(end - records))
            break;
        at = records + even(length);
    }
    return true;
}

struct gf_blob gf_iptc_records(const struct gf_blob *iptc)
{
    if (iptc->size < RESOURCE_HEAD)
        return (struct gf_blob){0};
    const size_t stated = gf_get_be(iptc->data + 8, 4), room = iptc->size - RESOURCE_HEAD;
    return (struct gf_blob){iptc->data + RESOURCE_HEAD, stated < room ? stated : room};
}

void gf_iptc_remove(struct gf_blob *iptc, int first, int last)
{
    enum { HEAD = 5, RECORD = 2 };
    const size_t end =
        iptc->size < RESOURCE_HEAD ? 0 : RESOURCE_HEAD + gf_get_be(iptc->data + 8, 4);
    size_t at = RESOURCE_HEAD, to = at;
    while (at + HEAD <= end && end <= iptc->size && iptc->data[at] == IPTC_TAG) {
        const unsigned char *const head = iptc->data + at;
        size_t size = HEAD + gf_get_be(head + 3, 2);
        if (head[3] & 0x80) { /* the length of the record is stated in further bytes */
            const size_t digits = gf_get_be(head + 3, 2) & 0x7fff;
            if (digits > 4 || at + HEAD + digits > end)
                break;
            size = HEAD + digits + gf_get_be(head + HEAD, (int)digits);
        }
        if (size > end - at)
            break;
        if (head[1] != RECORD || head[2] < first || head[2] > last) {
            memmove(iptc->data + to, head, size);
            to += size;
        }
        at += size;
    }
    if (to == end || !iptc->size)
        return;
    for (int i = 0; i < 4; i++)
        iptc->data[8 + i] = (unsigned char)((to - RESOURCE_HEAD) >> (24 - 8 * i));
    if (to % 2)
        iptc->data[to++] = 0;
    iptc->size = to == RESOURCE_HEAD ? 0 : to;
}

bool gf_iptc_set(struct gf_blob *iptc, int dataset, const char *text)
{
    enum { HEAD = 5, RECORD = 2, VERSION = 4 };
    /* The datasets that say that the texts are UTF-8, and which version of the record this is. */
    static const unsigned char utf8[] = {IPTC_TAG, 1, 90, 0, 3, 27, '%', 'G'},
                               version[] = {IPTC_TAG, RECORD, 0, 0, 2, 0, VERSION};
    bool is_ascii = true;
    gf_iptc_remove(iptc, dataset, dataset);
    const struct gf_blob old = gf_iptc_records(iptc);
    for (const char *at = text; *at; at++)
        is_ascii &= !(*at & 0x80);
    if (!is_ascii && old.size && !memmem(old.data, old.size, utf8, sizeof utf8))
        return true;
    const size_t length = strlen(text), before = old.size ? 0 : sizeof utf8 + sizeof version,
                 size = before + old.size + HEAD + length;
    unsigned char *const records = malloc(size);
    if (!records)
        return false;
    unsigned char *at = records;
    if (!old.size) {
        at = mempcpy(at, utf8, sizeof utf8);
        at = mempcpy(at, version, sizeof version);
    } else
        at = mempcpy(at, old.data, old.size);
    const unsigned char head[HEAD] = {IPTC_TAG, RECORD, (unsigned char)dataset,
                                      (unsigned char)(length >> 8), (unsigned char)length};
    at = mempcpy(at, head, HEAD);
    memcpy(at, text, length);
    const bool done = set_iptc(iptc, records, size);
    free(records);
    return done;
}
