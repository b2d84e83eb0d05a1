/* --examples: the commands of the cookbook, and the filters' own examples, that have a word. */
#include <stdlib.h>
#include <string.h>

#include "base/embed.h"
#include "base/fail.h"
#include "cli/help/help.h"
#include "cli/study/study.h"

GF_EMBED(cookbook, "samples/README.md");

struct search {
    FILE *file;
    const char *words, *asked; /* the words that are looked for, and those that the user gave */
    int found;
};

static void put(struct search *search, const char *text, size_t length)
{
    if (!search->found++ && search->words != search->asked)
        fprintf(search->file, "# No example has '%s'; these have '%s'.\n", search->asked,
                search->words);
    fwrite(text, 1, length, search->file);
}

/* Whether the text has each of the words, in small or capital letters. */
static bool has_words(const char *text, const char *words)
{
    char word[64];
    int length;
    for (const char *at = words; sscanf(at, " %63s%n", word, &length) == 1; at += length) {
        if (!strcasestr(text, word))
            return false;
    }
    return true;
}

/* Whether this build has the options of the commands. */
static bool is_available(const char *commands)
{
    struct gf_error error;
    for (const char *at = commands; (at = strstr(at, " --")); at++) {
        if (gf_study_check(at + 1, &error))
            return false;
    }
    return true;
}

/* Prints an example, which is comments and commands, if it or its heading has the words. */
static enum gf_status print_example(struct search *search, const char *heading, const char *begin,
                                    const char *end, struct gf_error *error)
{
    char *const text = malloc((size_t)(end - begin) + strcspn(heading, "\n") + 2);
    if (!text)
        return gf_fail_memory(error);
    sprintf(text, "%.*s\n%.*s", (int)(end - begin), begin, (int)strcspn(heading, "\n"), heading);
    if (has_words(text, search->words) && is_available(text))
        put(search, begin, (size_t)(end - begin));
    free(text);
    return GF_OK;
}

/* Prints what the blocks of commands in the cookbook have. An example ends where a comment follows
 * a command, or where its block ends. */
static enum gf_status search_cookbook(struct search *search, struct gf_error *error)
{
    const char *heading = "", *begin = NULL;
    bool within = false, has_command = false;
    enum gf_status status = GF_OK;
    for (const char *line = gf_cookbook, *next; !status && *line; line = next) {
        next = strchr(line, '\n');
        next = next ? next + 1 : line + strlen(line);
        const bool fence = !strncmp(line, "```", 3);
        if (!within && *line == '#')
            heading = line;
        if (begin && (fence || (has_command && *line == '#'))) {
            status = print_example(search, heading, begin, line, error);
            begin = NULL;
        }
        if (fence) {
            within = !strncmp(line, "```sh\n", 6);
        } else if (within) {
            has_command = *line != '#';
            begin = begin ? begin : line;
        }
    }
    return status;
}

static void search_filters(struct search *search)
{
    const struct gf_filter *filter;
    for (int i = 0; (filter = gf_filter_at(i)); i++) {
        char example[160], text[512];
        const char *const alias = gf_filter_alias(filter);
        gf_help_example(filter, example, sizeof example);
        snprintf(text, sizeof text, "# %s: %s\ngpufilter -i in.png -o out.png '%s'\n",
                 gf_filter_name(filter), gf_filter_summary(filter), example);
        if (has_words(text, search->words) || (alias && !strcmp(alias, search->words)))
            put(search, text, strlen(text));
    }
}

static enum gf_status search_all(struct search *search, struct gf_error *error)
{
    GF_TRY(search_cookbook(search, error));
    search_filters(search);
    return GF_OK;
}

enum gf_status gf_help_examples(FILE *file, const char *words, struct gf_error *error)
{
    words = words ? words : "";
    struct search search = {.file = file, .words = words, .asked = words};
    GF_TRY(search_all(&search, error));
    if (search.found)
        return GF_OK;
    const char *meant = gf_option_synonym(words);
    meant = meant ? meant : gf_filter_suggest(words);
    if (meant) {
        search.words = meant;
        GF_TRY(search_all(&search, error));
    }
    return search.found
               ? GF_OK
               : gf_fail(error, GF_ERROR_USAGE,
                         "--examples: no command has '%.60s' (--list names the filters)", words);
}
