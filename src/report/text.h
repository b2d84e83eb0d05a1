/* What reports share: functions that print paragraphs, quantities, the values of a parameter, and
 * common members of JSON. */
#pragma once

#include <stdio.h>

#include "base/text/json.h"
#include "gpufilter/filter.h"
#include "gpufilter/image.h"

enum { GF_SCREEN_WIDTH = 80 };

/* Appends as much of `more` as fits. `size` is the size of the whole array. */
void gf_text_append(char *text, size_t size, const char *more);

/* Writes bytes with three or four significant digits and a decimal unit: "99.5 MB". */
void gf_text_bytes(double bytes, char *text, size_t size);
/* Returns how many decimals a number of milliseconds needs for three significant digits. */
int gf_text_decimals(double ms);
/* Writes a number with a unit: "12.5%" for one decimal and the unit "%"; "-" for NaN. */
void gf_text_number(double value, int decimals, const char *unit, char *text, size_t size);
/* Writes a format: "640x420 RGB, 8 bits". Returns text. */
enum { GF_TEXT_FORMAT_SIZE = 64 };
const char *gf_text_format(struct gf_format format, char text[GF_TEXT_FORMAT_SIZE]);
/* Does the same for a picture whose four samples are inks: "640x420 CMYK, 8 bits". */
const char *gf_text_inks(struct gf_format format, char text[GF_TEXT_FORMAT_SIZE]);
/* Returns the ending of a noun: "" for a count of one, otherwise "s". */
const char *gf_text_plural(int count);
/* Returns the larger of width and the text's length. */
int gf_text_widest(int width, const char *text);

/* Writes the values that a parameter accepts: "0.1..250", "edge, reflect", "pixels or %". The
 * second function writes its default: "1.5"; "" if it has none. */
void gf_param_range(const struct gf_param *param, char *text, size_t size);
void gf_param_default(const struct gf_param *param, char *text, size_t size);
/* Writes the range and the default: "0.1..250; default 1.5". */
void gf_param_limits(const struct gf_param *param, char *text, size_t size);
/* Writes all parameters with their defaults: "sigma=1.5 border=edge". A parameter without a default
 * is only a name. */
void gf_params_text(const struct gf_param *params, char *text, size_t size);
/* Prints a parameter's name, meaning and limits as an entry of a list. */
void gf_param_print(FILE *file, const struct gf_param *param);
/* Prints a paragraph. Its first line begins at `column`, where the cursor is, the others at
 * `indent`. Lines break at spaces; line breaks of the text count as spaces. The last line is ended,
 * too. */
void gf_text_wrap(FILE *file, const char *text, int column, int indent);

/* ---- JSON that several reports have in common ---- */

/* Writes {"width": 640, "height": 420, "channels": 3, "bits": 8}. */
void gf_json_format(struct gf_json *json, const char *key, struct gf_format format);
/* Writes the member "peaks": the measured bandwidths, given in bytes per second. 0 means not
 * measured and becomes null. */
void gf_json_peaks(struct gf_json *json, double device_copy, double upload, double download);
