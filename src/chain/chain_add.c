/* Writes a chain filter by filter. */
#include "gpufilter/chain.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "base/fail.h"
#include "base/value.h"
#include "chain/chain.h"
#include "chain/params.h"

/* Writes the shortest decimal number that is read as this one, with a point in every locale. */
static void put_number(FILE *file, double number)
{
    char text[40];
    double again = 0;
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, number);
        char *const point = text + strspn(text, "+-0123456789");
        if (isfinite(number) && *point && *point != 'e')
            *point = '.';
        if (gf_value_whole_number(text, &again) && again == number)
            break;
    }
    fputs(text, file);
}

static void put_quoted(FILE *file, const char *text)
{
    putc('"', file);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            putc('\\', file);
        putc(*text, file);
    }
    putc('"', file);
}

static enum gf_status put_arguments(FILE *file, const struct gf_argument *arguments, size_t count,
                                    struct gf_error *error)
{
    for (size_t i = 0; i < count; i++) {
        const char *const name = arguments[i].name;
        if (!name || !*name || name[strcspn(name, "=:,'\"\\ ")])
            return gf_fail(error, GF_ERROR_USAGE, "gf_chain_add: argument %zu has no name", i);
        if (arguments[i].is_text && !arguments[i].text)
            return gf_fail(error, GF_ERROR_USAGE, "gf_chain_add: the text of %.60s is NULL", name);
        fprintf(file, "%c%s=", i ? ':' : '=', name);
        if (arguments[i].is_text)
            put_quoted(file, arguments[i].text);
        else
            put_number(file, arguments[i].number);
    }
    return GF_OK;
}

/* Reads "=name=value:..." for the filter, and forgets the values. */
static enum gf_status check_arguments(const struct gf_filter *filter, const char *text,
                                      struct gf_error *error)
{
    void *const params = calloc(1, filter->params_size + 1);
    struct gf_common_params common = {.variant = NULL};
    if (!params)
        return gf_fail_memory(error);
    enum gf_status status = gf_params_parse(filter, &text, params, &common, error);
    if (!status && *text)
        status = gf_fail(error, GF_ERROR_USAGE, "%s: an argument is too long", filter->name);
    free(params);
    return status;
}

/* Returns the chain with the filter at its end. */
static char *longer_chain(const char *chain, const char *filter, const char *arguments)
{
    const size_t size = (chain ? strlen(chain) : 0) + strlen(filter) + strlen(arguments) + 2;
    char *const longer = malloc(size);
    if (longer)
        snprintf(longer, size, "%s%s%s%s", chain ? chain : "", chain ? "," : "", filter, arguments);
    return longer;
}

enum gf_status gf_chain_add(char **chain, const char *filter, const struct gf_argument *arguments,
                            size_t count, struct gf_error *error)
{
    GF_NOT_NULL(chain, error);
    GF_NOT_NULL(filter, error);
    if (count)
        GF_NOT_NULL(arguments, error);
    const struct gf_filter *found;
    GF_TRY(gf_filter_named(filter, "", &found, error));
    char *text = NULL;
    size_t size;
    FILE *const file = open_memstream(&text, &size);
    if (!file)
        return gf_fail_memory(error);
    enum gf_status status = put_arguments(file, arguments, count, error);
    if (fclose(file) && !status)
        status = gf_fail_memory(error);
    if (!status)
        status = check_arguments(found, text, error);
    char *const longer = status ? NULL : longer_chain(*chain, found->name, text);
    if (!status && !longer)
        status = gf_fail_memory(error);
    free(text);
    if (status)
        return status;
    free(*chain);
    *chain = longer;
    return GF_OK;
}
