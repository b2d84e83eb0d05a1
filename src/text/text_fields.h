/* Replaces the fields of a text, such as {stem}, by the facts of a picture. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "gpufilter/status.h"
#include "stage/facts.h"

/* The picture on which the text is drawn. */
struct gf_text_about {
    const struct gf_facts_of_picture *facts; /* NULL: nothing but the size is known */
    int width, height;
};

/* Writes the text `from` with its fields replaced; {{ and }} stand for single braces, and {n:4} has
 * four digits at least. The error names a field that is unknown. */
enum gf_status gf_text_fill(const char *from, const struct gf_text_about *about, char *to,
                            size_t size, struct gf_error *error) GF_CHECKED;
/* Whether the text has a field. */
bool gf_text_has_field(const char *text);
