#include "chain/params.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* The named colours of CSS Color Module Level 4, 6.1. The basic names stand first: if a colour has
 * two names, the program writes the first. */
static const struct {
    const char *name;
    unsigned number;
} names[] = {
    {"white", 0xffffff},
    {"black", 0x000000},
    {"gray", 0x808080},
    {"silver", 0xc0c0c0},
    {"red", 0xff0000},
    {"lime", 0x00ff00},
    {"blue", 0x0000ff},
    {"yellow", 0xffff00},
    {"aqua", 0x00ffff},
    {"fuchsia", 0xff00ff},
    {"maroon", 0x800000},
    {"green", 0x008000},
    {"navy", 0x000080},
    {"olive", 0x808000},
    {"purple", 0x800080},
    {"teal", 0x008080},
    {"orange", 0xffa500},
    {"aliceblue", 0xf0f8ff},
    {"antiquewhite", 0xfaebd7},
    {"aquamarine", 0x7fffd4},
    {"azure", 0xf0ffff},
    {"beige", 0xf5f5dc},
    {"bisque", 0xffe4c4},
    {"blanchedalmond", 0xffebcd},
    {"blueviolet", 0x8a2be2},
    {"brown", 0xa52a2a},
    {"burlywood", 0xdeb887},
    {"cadetblue", 0x5f9ea0},
    {"chartreuse", 0x7fff00},
    {"chocolate", 0xd2691e},
    {"coral", 0xff7f50},
    {"cornflowerblue", 0x6495ed},
    {"cornsilk", 0xfff8dc},
    {"crimson", 0xdc143c},
    {"cyan", 0x00ffff},
    {"darkblue", 0x00008b},
    {"darkcyan", 0x008b8b},
    {"darkgoldenrod", 0xb8860b},
    {"darkgray", 0xa9a9a9},
    {"darkgreen", 0x006400},
    {"darkgrey", 0xa9a9a9},
    {"darkkhaki", 0xbdb76b},
    {"darkmagenta", 0x8b008b},
    {"darkolivegreen", 0x556b2f},
    {"darkorange", 0xff8c00},
    {"darkorchid", 0x9932cc},
    {"darkred", 0x8b0000},
    {"darksalmon", 0xe9967a},
    {"darkseagreen", 0x8fbc8f},
    {"darkslateblue", 0x483d8b},
    {"darkslategray", 0x2f4f4f},
    {"darkslategrey", 0x2f4f4f},
    {"darkturquoise", 0x00ced1},
    {"darkviolet", 0x9400d3},
    {"deeppink", 0xff1493},
    {"deepskyblue", 0x00bfff},
    {"dimgray", 0x696969},
    {"dimgrey", 0x696969},
    {"dodgerblue", 0x1e90ff},
    {"firebrick", 0xb22222},
    {"floralwhite", 0xfffaf0},
    {"forestgreen", 0x228b22},
    {"gainsboro", 0xdcdcdc},
    {"ghostwhite", 0xf8f8ff},
    {"gold", 0xffd700},
    {"goldenrod", 0xdaa520},
    {"greenyellow", 0xadff2f},
    {"grey", 0x808080},
    {"honeydew", 0xf0fff0},
    {"hotpink", 0xff69b4},
    {"indianred", 0xcd5c5c},
    {"indigo", 0x4b0082},
    {"ivory", 0xfffff0},
    {"khaki", 0xf0e68c},
    {"lavender", 0xe6e6fa},
    {"lavenderblush", 0xfff0f5},
    {"lawngreen", 0x7cfc00},
    {"lemonchiffon", 0xfffacd},
    {"lightblue", 0xadd8e6},
    {"lightcoral", 0xf08080},
    {"lightcyan", 0xe0ffff},
    {"lightgoldenrodyellow", 0xfafad2},
    {"lightgray", 0xd3d3d3},
    {"lightgreen", 0x90ee90},
    {"lightgrey", 0xd3d3d3},
    {"lightpink", 0xffb6c1},
    {"lightsalmon", 0xffa07a},
    {"lightseagreen", 0x20b2aa},
    {"lightskyblue", 0x87cefa},
    {"lightslategray", 0x778899},
    {"lightslategrey", 0x778899},
    {"lightsteelblue", 0xb0c4de},
    {"lightyellow", 0xffffe0},
    {"limegreen", 0x32cd32},
    {"linen", 0xfaf0e6},
    {"magenta", 0xff00ff},
    {"mediumaquamarine", 0x66cdaa},
    {"mediumblue", 0x0000cd},
    {"mediumorchid", 0xba55d3},
    {"mediumpurple", 0x9370db},
    {"mediumseagreen", 0x3cb371},
    {"mediumslateblue", 0x7b68ee},
    {"mediumspringgreen", 0x00fa9a},
    {"mediumturquoise", 0x48d1cc},
    {"mediumvioletred", 0xc71585},
    {"midnightblue", 0x191970},
    {"mintcream", 0xf5fffa},
    {"mistyrose", 0xffe4e1},
    {"moccasin", 0xffe4b5},
    {"navajowhite", 0xffdead},
    {"oldlace", 0xfdf5e6},
    {"olivedrab", 0x6b8e23},
    {"orangered", 0xff4500},
    {"orchid", 0xda70d6},
    {"palegoldenrod", 0xeee8aa},
    {"palegreen", 0x98fb98},
    {"paleturquoise", 0xafeeee},
    {"palevioletred", 0xdb7093},
    {"papayawhip", 0xffefd5},
    {"peachpuff", 0xffdab9},
    {"peru", 0xcd853f},
    {"pink", 0xffc0cb},
    {"plum", 0xdda0dd},
    {"powderblue", 0xb0e0e6},
    {"rebeccapurple", 0x663399},
    {"rosybrown", 0xbc8f8f},
    {"royalblue", 0x4169e1},
    {"saddlebrown", 0x8b4513},
    {"salmon", 0xfa8072},
    {"sandybrown", 0xf4a460},
    {"seagreen", 0x2e8b57},
    {"seashell", 0xfff5ee},
    {"sienna", 0xa0522d},
    {"skyblue", 0x87ceeb},
    {"slateblue", 0x6a5acd},
    {"slategray", 0x708090},
    {"slategrey", 0x708090},
    {"snow", 0xfffafa},
    {"springgreen", 0x00ff7f},
    {"steelblue", 0x4682b4},
    {"tan", 0xd2b48c},
    {"thistle", 0xd8bfd8},
    {"tomato", 0xff6347},
    {"turquoise", 0x40e0d0},
    {"violet", 0xee82ee},
    {"wheat", 0xf5deb3},
    {"whitesmoke", 0xf5f5f5},
    {"yellowgreen", 0x9acd32},
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
        if (!strcasecmp(text, names[i].name)) {
            *colour = gf_colour_of_number(names[i].number);
            return true;
        }
    }
    const bool is_ffmpeg = !strncasecmp(text, "0x", 2);
    text += is_ffmpeg;
    const size_t length = is_ffmpeg || *text == '#' ? strspn(text + 1, digits) : 0;
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
