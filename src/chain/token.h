/* A chain's text cut into names and values. */
#ifndef GF_CHAIN_TOKEN_H
#define GF_CHAIN_TOKEN_H

enum { GF_TOKEN_MAX = 32768 }; /* bytes: a matrix of 31x31 numbers written out */

/* Copies the text up to one of `stops` into token, which has room for GF_TOKEN_MAX bytes. Where it
 * begins with ' or ", quotes are taken off and nothing within them stops it; elsewhere they are
 * characters as any other. Nor does what a backslash escapes. Returns where it stopped, or NULL
 * where the text is too long or a quote is left open. */
const char *gf_token_next(const char *text, const char *stops, char *token);

/* The text without the blanks at its ends, in place. */
char *gf_token_trim(char *text);

#endif
