/* Replaces the library's names of options in messages by the names that users type. */
#ifndef GF_BATCH_REQUEST_OPTION_NAMES_H
#define GF_BATCH_REQUEST_OPTION_NAMES_H

/* Rewrites the library's names of options and functions in a message, in place: "over
 * options.max_pixels=99" becomes "over --max-pixels=99". */
void gf_name_options_as_typed(char *text);

#endif
