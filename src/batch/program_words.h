/* Rewrites the library's names for options and functions in messages as the program's names. */
#ifndef GF_BATCH_PROGRAM_WORDS_H
#define GF_BATCH_PROGRAM_WORDS_H

/* Rewrites a message of the library in its place: "over options.max_pixels=99" becomes "over
 * --max-pixels=99". */
void gf_program_words(char *text);

#endif
