/* Colours as text: names of CSS, "#rgb", "#rrggbb" (in FFmpeg "0xrrggbb") and "#rrrrggggbbbb". */
#ifndef GF_CHAIN_COLOUR_VALUE_H
#define GF_CHAIN_COLOUR_VALUE_H

#include "gpufilter/filter.h"

/* Reads a colour. Returns false if the text is no colour. */
bool gf_colour_parse(const char *text, struct gf_colour *colour);
/* Returns the colour of the number 0xRRGGBB. */
struct gf_colour gf_colour_of_number(unsigned number);
/* Writes the colour 0xRRGGBB as its name, if it has one, otherwise as gf_colour_parse() reads
 * it. */
void gf_colour_text(unsigned number, char *text, size_t size);

#endif
