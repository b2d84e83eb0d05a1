#include "cli/command/command.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Copies a word from *from to *to and advances both. Returns false if a quote is not closed. */
static bool take_word(const char **from, char **to)
{
    const char *at = *from;
    char quote = 0;
    for (; *at && (quote || !isspace((unsigned char)*at)); at++) {
        if (quote ? *at == quote : *at == '\'' || *at == '"')
            quote = quote ? 0 : *at;
        else if (*at == '\\' && quote != '\'' && at[1])
            *(*to)++ = *++at;
        else
            *(*to)++ = *at;
    }
    *(*to)++ = '\0';
    *from = at;
    return !quote;
}

enum gf_status gf_shell_words_split(const char *text, char ***words, int *count,
                                    struct gf_error *error)
{
    const size_t length = strlen(text),
                 most = length / 2 + 2; /* each word takes at least two characters */
    char **const list = malloc(most * sizeof *list + length + most);
    if (!list)
        return gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    char *to = (char *)(list + most);
    *count = 0;
    for (const char *from = text + strspn(text, " \t\n\r\v\f"); *from;
         from += strspn(from, " \t\n\r\v\f")) {
        list[(*count)++] = to;
        if (!take_word(&from, &to)) {
            free(list);
            return gf_fail(error, GF_ERROR_USAGE, "a quote is not closed in '%.200s'", text);
        }
    }
    list[*count] = NULL;
    *words = list;
    return GF_OK;
}
