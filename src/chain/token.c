#include "chain/token.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static const char blanks[] = " \t\n";

const char *gf_token_next(const char *text, const char *stops, char *token)
{
    text += strspn(text, blanks);
    const bool is_quoted = *text == '\'' || *text == '"';
    size_t length = 0;
    char quote = 0;
    for (; *text && (quote || !strchr(stops, *text)); text++) {
        if (quote && *text == quote) {
            quote = 0;
        } else if (is_quoted && !quote && (*text == '\'' || *text == '"')) {
            quote = *text;
        } else {
            if (*text == '\\' && quote != '\'' && text[1])
                text++;
            if (length + 1 >= GF_TOKEN_MAX)
                return NULL;
            token[length++] = *text;
        }
    }
    token[length] = '\0';
    return quote ? NULL : text;
}

char *gf_token_trim(char *text)
{
    text += strspn(text, blanks);
    for (char *end = text + strlen(text); end > text && strchr(blanks, end[-1]);)
        *--end = '\0';
    return text;
}
