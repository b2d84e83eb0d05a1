/* Cuts the text of a chain into names and values. */
#pragma once

enum { GF_TOKEN_MAX = 32768 }; /* the most bytes of a token; a matrix of 31x31 numbers fits */

/* Copies the text up to one of the characters of `stops` into `token`, which has room for
 * GF_TOKEN_MAX bytes. A text that begins with ' or " is copied without its quotes, and no character
 * between the quotes stops the copy; quotes elsewhere are ordinary characters. A character after a
 * backslash does not stop the copy either. Blanks at both ends are left out, unless they stand in
 * quotes or after a backslash. Returns where the copy stopped, or NULL if the text is
 * too long or a quote is not closed. */
const char *gf_token_next(const char *text, const char *stops, char *token);

/* Does the same for a text, up to ':' or ','. A colon of a time (12:30), of an address
 * (https://x.org) or of the field {n:4} belongs to the text, and so does a comma between two
 * digits. */
const char *gf_token_next_text(const char *text, char *token);

/* Removes the blanks at both ends of the text, in place. */
char *gf_token_trim(char *text);
