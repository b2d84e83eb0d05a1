/* Makes text safe to print, since file names may contain anything. */
#pragma once

#include <stdint.h>

/* Returns the length in bytes of the UTF-8 character (RFC 3629) that begins at `at`, and its code
 * point in *code; 0 if no valid character begins there or it extends beyond `end`. */
int gf_utf8_read(const void *at, const void *end, uint32_t *code);
/* Returns the length in bytes of the UTF-8 character at the start of the text; 0 if it is not
 * valid. */
int gf_utf8_length(const char *text);

/* Replaces by '?' every character that a terminal would obey (C0 and C1 controls), that breaks or
 * reorders the line (Unicode's line separators and bidirectional controls), or that is not
 * UTF-8. */
void gf_make_printable(char *text);
