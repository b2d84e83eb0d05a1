/* Parses chains: name=parameters,name2. Blanks around names and values are ignored. A value that
 * contains ',' or ':' is quoted or escaped (chain/token.h). */
#include "chain/chain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/fail.h"
#include "base/grow.h"
#include "chain/foreign.h"
#include "chain/params.h"
#include "chain/quote_hint.h"
#include "chain/token.h"
#include "stage/parts.h"
#include "stage/stage.h"

enum gf_status gf_filter_named(const char *name, const char *advice,
                               const struct gf_filter **filter, struct gf_error *error)
{
    *filter = gf_filter_find(name);
    if (*filter)
        return GF_OK;
    const char *best = gf_foreign_meaning(name);
    best = best ? best : gf_filter_suggest(name);
    if (best)
        return gf_fail(error, GF_ERROR_USAGE, "unknown filter '%.60s'; did you mean '%s'?", name,
                       best);
    return gf_fail(error, GF_ERROR_USAGE, "unknown filter '%.60s' (gf_filter_at lists them)%s",
                   name, advice);
}

/* Makes the error about an item name what other programs mean by the item, if that is known. */
static void add_meaning(const struct gf_chain_item *item, const char *name, const char *text,
                        struct gf_error *error)
{
    const char *const meaning = gf_foreign_meaning(text);
    if (!meaning || !error)
        return;
    struct gf_error before = *error;
    char *const suggestion = strstr(before.text, "; did you mean");
    if (suggestion)
        *suggestion = '\0';
    if (!item->filter)
        snprintf(before.text, sizeof before.text, "unknown filter '%.60s'", name);
    (void)gf_fail(error, before.status, "%s; did you mean '%s'?", before.text, meaning);
}

/* Parses an item. `before` is the item before the comma that precedes it, and `written` its text;
 * NULL: there is none. */
static enum gf_status parse_item(const char **text, const struct gf_chain_item *before,
                                 const char *written, bool loads, struct gf_chain_item *item,
                                 struct gf_error *error)
{
    char token[GF_TOKEN_MAX];
    const char *const stop = gf_token_next(*text, "=,:", token);
    const char *const name = stop ? token : "";
    if (!*name)
        return gf_fail(error, GF_ERROR_USAGE, "a filter's name is missing at '%.60s'", *text);
    const bool after_text = before && gf_quote_hint_suits(before->filter);
    const char *const advice = before && !after_text ? "; a comma within a value needs quotes" : "";
    const char *const begin = *text;
    enum gf_status status = gf_filter_named(name, advice, &item->filter, error);
    if (status)
        add_meaning(item, name, begin, error);
    if (status && after_text)
        gf_quote_hint_comma(before->filter, written, *text, error);
    if (status)
        return status;
    item->params = calloc(1, item->filter->params_size + 1);
    if (!item->params)
        return gf_fail_memory(error);
    *text = stop;
    struct gf_common_params common = {.variant = NULL};
    struct gf_filter unchecked = *item->filter;
    unchecked.check = NULL; /* that of icc reads files, too */
    status = gf_params_parse(loads ? item->filter : &unchecked, text, item->params, &common, error);
    if (status)
        add_meaning(item, name, begin, error);
    item->variant = common.variant;
    if (!status && *common.region.region)
        status = gf_region_read(item->filter, &common.region, loads, &item->region, error);
    struct gf_error detail = {0};
    if (!status && loads && item->filter->load) {
        status = item->filter->load(item->params, &detail);
        item->is_loaded = !status;
        if (status)
            status = gf_fail(error, status, "%s: %s", item->filter->name, detail.text);
    }
    if (status)
        gf_quote_hint_colon(item->filter, stop, error);
    return status;
}

static enum gf_status parse(const char *text, bool loads, struct gf_chain *chain,
                            struct gf_error *error)
{
    *chain = (struct gf_chain){0};
    text = text ? text + strspn(text, " \t\n") : "";
    const char *before = "";
    while (*text) {
        const char *const begin = text;
        if (!GF_GROW(chain->item, chain->count)) {
            gf_chain_free(chain);
            return gf_fail_memory(error);
        }
        chain->item[chain->count] = (struct gf_chain_item){0};
        struct gf_chain_item *const item = &chain->item[chain->count];
        enum gf_status status =
            parse_item(&text, chain->count ? item - 1 : NULL, before, loads, item, error);
        chain->count++;
        before = begin;
        if (!status && *text == ',' && !*(text += 1 + strspn(text + 1, " \t\n")))
            status = gf_fail(error, GF_ERROR_USAGE, "the chain ends with ','");
        if (status) {
            gf_chain_free(chain);
            return status;
        }
    }
    return GF_OK;
}

enum gf_status gf_chain_parse(const char *text, struct gf_chain *chain, struct gf_error *error)
{
    return parse(text, true, chain, error);
}

enum gf_status gf_chain_parse_names(const char *text, struct gf_chain *chain,
                                    struct gf_error *error)
{
    return parse(text, false, chain, error);
}

int gf_chain_next_box(const struct gf_chain *chain, int first)
{
    while (first < chain->count && !chain->item[first].filter->find)
        first++;
    return first < chain->count ? first : chain->count;
}

static bool converts(const struct gf_chain_item *item)
{
    const struct gf_extent some = {.width = 1000, .height = 1000, .reduction = 1};
    struct gf_parts parts = {.count = 0};
    bool found = item->filter->kind == GF_COLOUR;
    if (item->filter->expand)
        item->filter->expand(item->params, &some, &parts);
    for (int i = 0; i < parts.count; i++)
        found |= parts.part[i].filter->kind == GF_COLOUR;
    return found;
}

bool gf_chain_converts(const struct gf_chain *chain)
{
    int i = 0;
    while (i < chain->count && !converts(&chain->item[i]))
        i++;
    return i < chain->count;
}

bool gf_chain_smooths(const struct gf_chain *chain)
{
    int i = 0;
    while (i < chain->count && gf_filter_smooth(chain->item[i].filter, chain->item[i].params) == 1)
        i++;
    return i < chain->count;
}

bool gf_chain_keeps_light(const struct gf_chain *chain)
{
    bool keeps = true;
    for (int i = 0; i < chain->count; i++) {
        const enum gf_filter_kind kind = chain->item[i].filter->kind;
        keeps &= kind == GF_GEOMETRY || kind == GF_STENCIL;
    }
    return keeps;
}

bool gf_chain_is_for_screens(const struct gf_chain *chain)
{
    int i = 0;
    while (i < chain->count && !chain->item[i].filter->for_screens)
        i++;
    return i < chain->count;
}

static bool is_choice(const struct gf_param *param, const char *text)
{
    const char *const *choice = param->choices;
    while (choice && *choice && strcasecmp(*choice, text) != 0)
        choice++;
    return choice && *choice;
}

int gf_chain_files(const struct gf_chain *chain, const char **path, int most)
{
    int count = 0;
    for (int i = 0; i < chain->count; i++) {
        const struct gf_param *param = gf_filter_params(chain->item[i].filter);
        for (; param && param->name; param++) {
            const char *const text = (const char *)chain->item[i].params + param->offset;
            if (param->type != GF_TYPE_FILE || !*text || is_choice(param, text))
                continue;
            if (count < most)
                path[count] = text;
            count++;
        }
        const struct gf_region *const region = chain->item[i].region;
        if (region && *region->file && count++ < most)
            path[count - 1] = region->file;
    }
    return count;
}

struct gf_chain gf_chain_part(const struct gf_chain *chain, int begin, int end)
{
    struct gf_chain part = *chain;
    part.item = begin < end ? chain->item + begin : NULL;
    part.count = end - begin;
    return part;
}

void gf_chain_free(struct gf_chain *chain)
{
    for (int i = 0; i < chain->count; i++) {
        if (chain->item[i].is_loaded && chain->item[i].filter->unload)
            chain->item[i].filter->unload(chain->item[i].params);
        free(chain->item[i].params);
        gf_region_free(chain->item[i].region);
    }
    free(chain->item);
    *chain = (struct gf_chain){0};
}
