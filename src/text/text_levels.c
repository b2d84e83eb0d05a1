/* Finds the direction of each letter by rules P2, W4, W5, W7, N1, N2, I1, I2 and L1 of UAX #9, for
 * text without UAX #9's control characters. */
#ifdef GF_LIBRARY_freetype
#include <string.h>

#include "text/text_shape.h"

enum kind { LEFT, RIGHT, NUMBER, SEPARATOR, TERMINATOR, NEUTRAL };

static enum kind kind_of(uint32_t code, hb_script_t script)
{
    hb_unicode_funcs_t *const unicode = gf_text.hb_unicode_funcs_get_default();
    switch (gf_text.hb_unicode_general_category(unicode, code)) {
    case HB_UNICODE_GENERAL_CATEGORY_DECIMAL_NUMBER:
        return NUMBER;
    case HB_UNICODE_GENERAL_CATEGORY_LOWERCASE_LETTER:
    case HB_UNICODE_GENERAL_CATEGORY_UPPERCASE_LETTER:
    case HB_UNICODE_GENERAL_CATEGORY_TITLECASE_LETTER:
    case HB_UNICODE_GENERAL_CATEGORY_MODIFIER_LETTER:
    case HB_UNICODE_GENERAL_CATEGORY_OTHER_LETTER:
    case HB_UNICODE_GENERAL_CATEGORY_LETTER_NUMBER:
        return gf_text.hb_script_get_horizontal_direction(script) == HB_DIRECTION_RTL ? RIGHT
                                                                                      : LEFT;
    default:
        break;
    }
    if (code && code < 0x80 && strchr("+-,./:", (int)code))
        return SEPARATOR;
    if (code && code < 0x80 && strchr("#$%", (int)code))
        return TERMINATOR;
    return (code >= 0xa2 && code <= 0xa5) || code == 0x20ac ? TERMINATOR : NEUTRAL;
}

static bool is_mark(uint32_t code)
{
    switch (gf_text.hb_unicode_general_category(gf_text.hb_unicode_funcs_get_default(), code)) {
    case HB_UNICODE_GENERAL_CATEGORY_NON_SPACING_MARK:
    case HB_UNICODE_GENERAL_CATEGORY_ENCLOSING_MARK:
    case HB_UNICODE_GENERAL_CATEGORY_SPACING_MARK:
    case HB_UNICODE_GENERAL_CATEGORY_FORMAT:
        return true;
    default:
        return false;
    }
}

/* Sets the kind and script of each letter. A combining mark takes those of the letter before it. A
 * sign that all scripts share takes the script of the letter before it or, at the start of a line,
 * the script of the first letter. */
static void classify(struct gf_text_letter *letter, int count)
{
    hb_script_t script = HB_SCRIPT_COMMON;
    for (int i = 0; i < count; i++) {
        letter[i].script =
            gf_text.hb_unicode_script(gf_text.hb_unicode_funcs_get_default(), letter[i].code);
        letter[i].kind = i && is_mark(letter[i].code)
                             ? letter[i - 1].kind
                             : (unsigned char)kind_of(letter[i].code, letter[i].script);
        const bool own = letter[i].script != HB_SCRIPT_COMMON &&
                         letter[i].script != HB_SCRIPT_INHERITED &&
                         letter[i].script != HB_SCRIPT_UNKNOWN;
        if (own && script == HB_SCRIPT_COMMON) {
            for (int k = 0; k < i; k++)
                letter[k].script = letter[i].script;
        }
        script = own ? letter[i].script : script;
        letter[i].script = script;
    }
}

/* Applies rules W4, W5, W7: separators and terminators in and beside numbers become part of the
 * number, and a number after left-to-right letters takes their direction. */
static void join_numbers(struct gf_text_letter *letter, int count, enum kind base)
{
    for (int i = 1; i + 1 < count; i++) {
        if (letter[i].kind == SEPARATOR && letter[i - 1].kind == NUMBER &&
            letter[i + 1].kind == NUMBER)
            letter[i].kind = NUMBER;
    }
    for (int i = 1; i < count; i++) {
        if (letter[i].kind == TERMINATOR && letter[i - 1].kind == NUMBER)
            letter[i].kind = NUMBER;
        const int back = count - 1 - i;
        if (letter[back].kind == TERMINATOR && letter[back + 1].kind == NUMBER)
            letter[back].kind = NUMBER;
    }
    enum kind strong = base;
    for (int i = 0; i < count; i++) {
        if (letter[i].kind == LEFT || letter[i].kind == RIGHT)
            strong = letter[i].kind;
        else if (letter[i].kind == NUMBER && strong == LEFT)
            letter[i].kind = LEFT;
    }
}

/* Applies rules N1, N2: neutral characters between two characters of one direction take that
 * direction; other neutral characters take the direction of the line. */
static void resolve_neutrals(struct gf_text_letter *letter, int count, enum kind base)
{
    enum kind before = base;
    for (int i = 0; i < count;) {
        int end = i;
        while (end < count && letter[end].kind > NUMBER)
            end++;
        const enum kind after = end == count ? base : letter[end].kind == LEFT ? LEFT : RIGHT;
        for (; i < end; i++)
            letter[i].kind = (unsigned char)(before == after ? before : base);
        if (i < count) {
            before = letter[i].kind == LEFT ? LEFT : RIGHT;
            i++;
        }
    }
}

void gf_text_set_levels(struct gf_text_letter *letter, int count)
{
    enum kind base = NEUTRAL;
    classify(letter, count);
    for (int i = 0; base == NEUTRAL && i < count; i++)
        base = letter[i].kind <= RIGHT ? (enum kind)letter[i].kind : NEUTRAL;
    base = base == RIGHT ? RIGHT : LEFT;
    int blank = count; /* rule L1 */
    while (blank && (letter[blank - 1].code == ' ' || letter[blank - 1].code == '\t'))
        blank--;
    join_numbers(letter, count, base);
    resolve_neutrals(letter, count, base);
    for (int i = 0; i < count; i++) {
        const int kind = i < blank ? letter[i].kind : (int)base;
        letter[i].level = (unsigned char)(kind == RIGHT ? 1 : kind == LEFT && base == LEFT ? 0 : 2);
    }
}
#endif
