#include "chain/colour_value.h"

#include <stdio.h>
#include <string.h>

/* The 16 basic colours of CSS, and orange (CSS Color Module Level 4, 6.1). */
static const struct {
    const char *name;
    unsigned number;
} names[] = {
    {"white", 0xffffff},  {"black", 0x000000},  {"gray", 0x808080}, {"grey", 0x808080},
    {"silver", 0xc0c0c0}, {"red", 0xff0000},    {"lime", 0x00ff00}, {"blue", 0x0000ff},
    {"yellow", 0xffff00}, {"aqua", 0x00ffff},   {"cyan", 0x00ffff}, {"fuchsia", 0xff00ff},
    {"maroon", 0x800000}, {"green", 0x008000},  {"navy", 0x000080}, {"olive", 0x808000},
    {"purple", 0x800080}, {"orange", 0xffa500}, {"teal", 0x008080}, {"magenta", 0xff00ff},
};
enum { NAMES = sizeof names / sizeof *names };

struct gf_colour gf_colour_of_number(unsigned number)
{
    return (struct gf_colour){
        {(number >> 16) / 255.0, (number >> 8 & 255) / 255.0, (number & 255) / 255.0}, 0};
}

bool gf_colour_parse(const char *text, struct gf_colour *colour)
{
    static const char digits[] = "0123456789abcdefABCDEF";
    for (int i = 0; i < NAMES; i++) {
        if (!strcmp(text, names[i].name)) {
            *colour = gf_colour_of_number(names[i].number);
            return true;
        }
    }
    const size_t length = *text == '#' ? strspn(text + 1, digits) : 0;
    if ((length != 3 && length != 6 && length != 12) || text[1 + length])
        return false;
    *colour = (struct gf_colour){.word = 0};
    for (size_t c = 0; c < 3; c++) {
        unsigned value = 0, most = 0;
        for (size_t i = 0; i < length / 3; i++) {
            const size_t digit = (size_t)(strchr(digits, text[1 + c * length / 3 + i]) - digits);
            value = value * 16 + (unsigned)(digit < 16 ? digit : digit - 6);
            most = most * 16 + 15;
        }
        colour->part[c] = (double)value / most;
    }
    return true;
}

void gf_colour_text(unsigned number, char *text, size_t size)
{
    snprintf(text, size, "#%06x", number);
    for (int i = NAMES; i-- > 0;) {
        if (names[i].number == number)
            snprintf(text, size, "%s", names[i].name);
    }
}
