/* Text for people: paragraphs, quantities, and the values that a parameter takes. */
#ifndef GF_REPORT_TEXT_H
#define GF_REPORT_TEXT_H

#include <stdio.h>

#include "gpufilter/filter.h"
#include "gpufilter/image.h"

enum { GF_SCREEN_WIDTH = 80 };

/* Appends as much as there is room for; `size` is that of the whole array. */
void gf_text_append(char *text, size_t size, const char *more);

/* Three or four significant digits and a decimal unit: "99.5 MB". */
void gf_text_bytes(double bytes, char *text, size_t size);
/* Three or four significant digits and a unit: "93.1 ms", "1.24 s". */
void gf_text_time(double seconds, char *text, size_t size);
/* How many decimals give at least three significant digits, from microseconds to minutes. */
int gf_text_decimals(double ms);
/* "12.5%" with one decimal and the unit "%"; NaN is "-". */
void gf_text_number(double value, int decimals, const char *unit, char *text, size_t size);
/* "640x420 RGB, 8 bits"; returns text. */
enum { GF_TEXT_FORMAT_SIZE = 64 };
const char *gf_text_format(struct gf_format format, char text[GF_TEXT_FORMAT_SIZE]);
/* The ending of a noun: "" for one, else "s". */
const char *gf_text_plural(int count);
/* The larger of width and the text's length. */
int gf_text_widest(int width, const char *text);

/* What a parameter takes ("0.1..250", "edge, reflect", "pixels or %") and its default ("1.5"; empty
 * where there is none). */
void gf_param_range(const struct gf_param *param, char *text, size_t size);
void gf_param_default(const struct gf_param *param, char *text, size_t size);
/* Both: "0.1..250; default 1.5". */
void gf_param_limits(const struct gf_param *param, char *text, size_t size);
/* All parameters with their defaults: "sigma=1.5 border=edge"; without a default only the name. */
void gf_params_text(const struct gf_param *params, char *text, size_t size);
/* Prints a parameter's name, meaning and limits as an entry of a list. */
void gf_param_print(FILE *file, const struct gf_param *param);
/* Prints a paragraph: the first line begins at `column`, where the cursor is, the others at
 * `indent`. Lines break at spaces; line breaks of the text count as spaces. Ends the last line. */
void gf_text_wrap(FILE *file, const char *text, int column, int indent);

#endif
