/* The names that users type for options, in messages of the library. */
#ifndef GF_BATCH_REQUEST_OPTION_NAMES_H
#define GF_BATCH_REQUEST_OPTION_NAMES_H

/* Rewrites the library's names for options and functions in a message, in its place: "over
 * options.max_pixels=99" becomes "over --max-pixels=99". */
void gf_name_options_as_typed(char *text);

#endif
