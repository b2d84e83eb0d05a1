#include "chain/token.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static const char blanks[] = " \t\n";

static bool is_digit(char c)
{
    return isdigit((unsigned char)c);
}

/* Whether the colon or comma `at` belongs to the text around it. No filter's name begins with a
 * digit. */
static bool is_part_of_text(const char *begin, const char *at)
{
    if (at == begin)
        return false;
    if (is_digit(at[-1]) && is_digit(at[1])) {
        const bool is_time =
            is_digit(at[2]) && !isalnum((unsigned char)at[3]) && !(at[3] && strchr("./_-", at[3]));
        return *at == ',' || is_time;
    }
    if (at - begin >= 2 && !strncmp(at - 2, "{n:", 3) && is_digit(at[1]) && at[2] == '}')
        return true;
    return isalpha((unsigned char)at[-1]) && !strncmp(at, "://", 3);
}

static const char *next_token(const char *text, const char *stops, bool is_text, char *token)
{
    text += strspn(text, blanks);
    const char *const begin = text;
    const bool is_quoted = *text == '\'' || *text == '"';
    size_t length = 0, kept = 0; /* kept: without blanks at the end that no quotes hold */
    char quote = 0;
    for (; *text && (quote || !strchr(stops, *text) ||
                     (is_text && !is_quoted && is_part_of_text(begin, text)));
         text++) {
        if (quote && *text == quote) {
            quote = 0;
        } else if (is_quoted && !quote && (*text == '\'' || *text == '"')) {
            quote = *text;
        } else {
            const bool is_escaped = *text == '\\' && quote != '\'' && text[1];
            text += is_escaped;
            if (length + 1 >= GF_TOKEN_MAX)
                return NULL;
            token[length++] = *text;
            if (quote || is_escaped || !strchr(blanks, *text))
                kept = length;
        }
    }
    token[kept] = '\0';
    return quote ? NULL : text;
}

const char *gf_token_next(const char *text, const char *stops, char *token)
{
    return next_token(text, stops, false, token);
}

const char *gf_token_next_text(const char *text, char *token)
{
    return next_token(text, ":,", true, token);
}

char *gf_token_trim(char *text)
{
    text += strspn(text, blanks);
    for (char *end = text + strlen(text); end > text && strchr(blanks, end[-1]);)
        *--end = '\0';
    return text;
}
