/* Adds the quoted form of a text to the error of a chain in which the text has a colon or a comma.
 */
#pragma once

#include "stage/filter.h"

/* Whether the filter's first parameter is a text. */
bool gf_quote_hint_suits(const struct gf_filter *filter);
/* `values` is the part of the chain after the filter's name. The error changes if the filter begins
 * with a text, and a value without a name follows that is not the name of a font's file. */
void gf_quote_hint_colon(const struct gf_filter *filter, const char *values,
                         struct gf_error *error);
/* `item` is the filter's item in the chain, and `next` the item after its comma, which is no
 * filter. */
void gf_quote_hint_comma(const struct gf_filter *filter, const char *item, const char *next,
                         struct gf_error *error);
