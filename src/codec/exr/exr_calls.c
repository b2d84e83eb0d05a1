/* OpenEXR's core library, what it says, and its attributes that are strings, as the texts of a
 * picture. A comment is `comments`. */
#include "codec/exr/exr_calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct gf_exr_calls gf_exr;
struct gf_library gf_exr_library =
    GF_LIBRARY(gf_exr, GF_EXR_CALLS, GF_LIBRARY_TEXT(GF_LIBRARY_OpenEXRCore));
_Thread_local struct gf_exr_said gf_exr_said;

void gf_exr_note(exr_const_context_t context, exr_result_t code, const char *text)
{
    if (!*gf_exr_said.why && text)
        snprintf(gf_exr_said.why, sizeof gf_exr_said.why, "%.*s", (int)strcspn(text, "\r\n"), text);
}

const char *gf_exr_why(exr_result_t code)
{
    return *gf_exr_said.why ? gf_exr_said.why : gf_exr.exr_get_default_error_message(code);
}

enum { NAME_MOST = 31 }; /* longer names of attributes are not for every reader */

#define COMMENT "comments"

/* Whether the name has another meaning for readers of OpenEXR than a text's. */
static bool is_reserved(const char *name)
{
    static const char *const names[] = {
        "channels",          "chromaticities", "chunkCount", "compression", "dataWindow",
        "displayWindow",     "envmap",         "lineOrder",  "multiView",   "name",
        "pixelAspectRatio",  "preview",        "tiles",      "type",        "screenWindowCenter",
        "screenWindowWidth", "version",        "view",
    };
    bool is = !*name || strlen(name) > NAME_MOST;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        is |= !strcmp(name, names[i]);
    return is;
}

bool gf_exr_read_texts(exr_const_context_t context, int part, struct gf_texts *texts,
                       bool *left_out)
{
    int count = 0;
    (void)gf_exr.exr_get_attribute_count(context, part, &count);
    for (int i = 0; i < count; i++) {
        const exr_attribute_t *attribute = NULL;
        if (gf_exr.exr_get_attribute_by_index(context, part, EXR_ATTR_LIST_FILE_ORDER, i,
                                              &attribute) ||
            attribute->type != EXR_ATTR_STRING || is_reserved(attribute->name))
            continue;
        const bool comment = !strcmp(attribute->name, COMMENT);
        const exr_attr_string_t *const text = attribute->string;
        char head[NAME_MOST + 3] = ""; /* and an empty language, and an empty translation */
        snprintf(head, sizeof head, "%s", comment ? GF_TEXT_COMMENT : attribute->name);
        if (!gf_texts_add(texts, head, strlen(head) + 3, text->str, (size_t)text->length, left_out))
            return false;
    }
    return true;
}

exr_result_t gf_exr_write_texts(exr_context_t context, const struct gf_texts *texts)
{
    exr_result_t result = EXR_ERR_SUCCESS;
    for (int i = 0; !result && i < texts->count; i++) {
        struct gf_text text;
        bool latin1;
        if (!gf_text_as_png(&texts->item[i], &text, &latin1))
            return EXR_ERR_OUT_OF_MEMORY;
        const char *const keyword = (const char *)text.head.data;
        const char *const name = strcmp(keyword, GF_TEXT_COMMENT) ? keyword : COMMENT;
        char *const value = calloc(1, text.text.size + 1);
        if (value && text.text.size)
            memcpy(value, text.text.data, text.text.size);
        if (!value)
            result = EXR_ERR_OUT_OF_MEMORY;
        else if (!is_reserved(name))
            result = gf_exr.exr_attr_set_string(context, 0, name, value);
        free(value);
        gf_text_free(&text);
    }
    return result;
}
