/* Makes the built-in ASCII font, which needs no file: monospaced, 10 squares for each em. */
#ifndef GF_TEXT_TEXT_FONT_H
#define GF_TEXT_TEXT_FONT_H

#include <stdbool.h>
#include <stddef.h>

#include "gpufilter/status.h"

/* Makes the font as a TrueType file. The caller frees it. */
enum gf_status gf_text_font_make(unsigned char **bytes, size_t *size,
                                 struct gf_error *error) GF_CHECKED;

#endif
