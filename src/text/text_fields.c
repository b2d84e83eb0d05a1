#include "text/text_fields.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const char *const names[] = {
#define NAME(end, name, help) name,
    GF_PICTURE_FACTS(NAME)
#undef NAME
};

/* Returns the fact that the field "{name}" or "{n:4}" at `at` names; -1: none. *length becomes the
 * length of the field and *digits the least number of its digits. */
static int find_fact(const char *at, size_t *length, int *digits)
{
    const size_t name = strcspn(at + 1, ":}");
    *length = 1 + name + 1;
    *digits = 1;
    for (int i = 0; i < GF_PICTURE_FACT_COUNT; i++) {
        if (strlen(names[i]) != name || strncmp(at + 1, names[i], name))
            continue;
        if (at[1 + name] == '}')
            return i;
        if (i != GF_PICTURE_NUMBER || at[1 + name] != ':' ||
            !isdigit((unsigned char)at[2 + name]) || at[3 + name] != '}')
            return -1;
        *digits = at[2 + name] - '0';
        *length += 2;
        return i;
    }
    return -1;
}

static void write_fact(const struct gf_text_about *about, int fact, int digits,
                       char text[GF_PICTURE_FACT_SIZE])
{
    char number[GF_PICTURE_FACT_SIZE] = "";
    *text = '\0';
    if (fact == GF_PICTURE_WIDTH || fact == GF_PICTURE_HEIGHT)
        snprintf(text, GF_PICTURE_FACT_SIZE, "%d",
                 fact == GF_PICTURE_WIDTH ? about->width : about->height);
    else if (about->facts)
        about->facts->tell(about->facts->context, (enum gf_picture_fact)fact, number);
    if (fact == GF_PICTURE_NUMBER)
        snprintf(text, GF_PICTURE_FACT_SIZE, "%*s", digits, number);
    else if (*number)
        strcpy(text, number);
    for (char *at = text; fact == GF_PICTURE_NUMBER && *at == ' '; at++)
        *at = '0';
}

static enum gf_status unknown_field(const char *at, struct gf_error *error)
{
    char list[200] = "";
    for (int i = 0; i < GF_PICTURE_FACT_COUNT; i++) {
        const size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s{%s}", i ? ", " : "", names[i]);
    }
    const int length = (int)strcspn(at, "}");
    return gf_fail(error, GF_ERROR_USAGE, "'%.*s' is none of %s; a brace itself is {{",
                   length < 40 ? length + (at[length] == '}') : 40, at, list);
}

enum gf_status gf_text_fill(const char *from, const struct gf_text_about *about, char *to,
                            size_t size, struct gf_error *error)
{
    char fact[GF_PICTURE_FACT_SIZE];
    size_t used = 0;
    while (*from) {
        size_t length = 1;
        const char *put = from;
        size_t put_length = 1;
        if ((*from == '{' || *from == '}') && from[1] == *from) {
            length = 2;
        } else if (*from == '{') {
            int digits;
            const int found = find_fact(from, &length, &digits);
            if (found < 0)
                return unknown_field(from, error);
            write_fact(about, found, digits, fact);
            put = fact;
            put_length = strlen(fact);
        }
        if (used + put_length >= size)
            return gf_fail(error, GF_ERROR_USAGE, "with its fields the text is too long");
        memcpy(to + used, put, put_length);
        used += put_length;
        from += length;
    }
    to[used] = '\0';
    return GF_OK;
}

bool gf_text_has_field(const char *text)
{
    size_t length;
    int digits;
    while ((text = strchr(text, '{')) && find_fact(text, &length, &digits) < 0)
        text++;
    return text;
}
