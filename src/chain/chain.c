/* Chains as text: parses them, and tells what a parsed chain does. */
#include "chain/chain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>

#include "base/bytes.h"
#include "base/fail.h"
#include "base/memory/grow.h"
#include "base/process/files.h"
#include "chain/params.h"
#include "gpufilter/chain.h"
#include "stage/filter.h"
#include "stage/stage.h"

enum { SHOWN_MOST = 120 };

/* Whether the filter's first parameter is a text, so that a hint to quote it makes sense. */
static bool quote_hint_suits(const struct gf_filter *filter)
{
    return gf_filter_params(filter)->name && gf_filter_params(filter)->type == GF_TYPE_TEXT;
}

/* Returns where the text begins in the values "=text" or "=NAME=text", where NAME is the filter's
 * first parameter; NULL if the text is quoted. */
static const char *begin_of_text(const struct gf_filter *filter, const char *values)
{
    const size_t length = strlen(gf_filter_params(filter)->name);
    if (*values != '=')
        return NULL;
    values += 1 + strspn(values + 1, " \t\n");
    if (!strncmp(values, gf_filter_params(filter)->name, length) && values[length] == '=')
        values += length + 1;
    return strchr("'\"", *values) ? NULL : values;
}

/* Appends to the error how the text begin .. end - 1, which contains a colon or comma (`what`), is
 * quoted in a shell. */
static void append(const struct gf_filter *filter, const char *begin, const char *end,
                   const char *what, struct gf_error *error)
{
    if (!error)
        return;
    const struct gf_error reason = *error;
    while (end > begin && strchr(" \t\n", end[-1]))
        end--;
    for (const char *at = begin; at < end; at++) {
        if (strchr("'\"\\$`!", *at))
            return;
    }
    if (*reason.text && end - begin <= SHOWN_MOST)
        (void)gf_fail(error, reason.status, "%s%s a text with a %s is quoted: \"%s='%.*s'\"",
                      reason.text, reason.text[strlen(reason.text) - 1] == '?' ? " Else" : ";",
                      what, filter->name, (int)(end - begin), begin);
}

/* Whether the value begin .. end - 1 is surely the name of a font's file. */
static bool is_font_file(const char *begin, const char *end)
{
    static const char *const extensions[] = {".ttf", ".otf", ".ttc",  ".otc",
                                             ".pfb", ".pfa", ".woff", ".woff2"};
    bool is_file = (*begin == '/' && begin[1] != '/') || *begin == '.';
    for (size_t i = 0; i < sizeof extensions / sizeof *extensions; i++) {
        const ptrdiff_t length = (ptrdiff_t)strlen(extensions[i]);
        is_file |=
            end - begin > length && !strncasecmp(end - length, extensions[i], (size_t)length);
    }
    return is_file;
}

/* Appends a hint to quote the text to the error of a filter whose text has a colon, if a value
 * without a name follows that is not the name of a font's file. `values` is the part of the chain
 * after the filter's name. */
static void quote_hint_colon(const struct gf_filter *filter, const char *values,
                             struct gf_error *error)
{
    const char *const begin = quote_hint_suits(filter) ? begin_of_text(filter, values) : NULL;
    const char *end = begin;
    while (end && *end && *end != ',') {
        const char *const value = *end == ':' ? end + 1 : end;
        const char *const stop = value + strcspn(value, ":,");
        if (memchr(value, '=', (size_t)(stop - value)) ||
            (end > begin && is_font_file(value, stop)))
            break;
        end = stop;
    }
    if (end && memchr(begin, ':', (size_t)(end - begin)))
        append(filter, begin, end, "colon", error);
}

/* Appends a hint to quote the text to the error of an unknown filter `next`, if that follows a text
 * and a comma in the chain. `filter` is the one with the text, and `item` where it begins. */
static void quote_hint_comma(const struct gf_filter *filter, const char *item, const char *next,
                             struct gf_error *error)
{
    char token[GF_TOKEN_MAX];
    const char *const begin =
        quote_hint_suits(filter) ? begin_of_text(filter, item + strcspn(item, "=,:")) : NULL;
    const char *const comma = begin ? gf_token_next_text(begin, token) : NULL;
    if (comma && *comma == ',' && comma + 1 + strspn(comma + 1, " \t\n") == next)
        append(filter, begin, next + strcspn(next, "=:,"), "comma", error);
}

/* Parses chains: name=parameters,name2. Blanks around names and values are ignored. A value that
 * contains ',' or ':' is quoted or escaped (chain/params.h). */

static enum gf_status chain_parse_names(const char *text, struct gf_chain *chain,
                                        struct gf_error *error) GF_CHECKED;

/* Whether the note leads to the meaning behind it. */
static bool leads(const char *note)
{
    static const char *const ends[] = {" is", " by", " about", " does", " are", ":"};
    bool found = false;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        const size_t length = strlen(ends[i]), end = strlen(note);
        found |= end >= length && !strcmp(note + end - length, ends[i]);
    }
    return found;
}

/* Puts the answer about an item into the whole chain, where every other item is a chain itself or
 * has an answer. Of the items that are chains, those are answered, too, whose capital letter makes
 * them another program's. */
static void answer_whole(const char *chain, const char *item, struct gf_foreign_answer *answer)
{
    char whole[sizeof answer->meaning] = "", text[sizeof answer->meaning];
    size_t length = 0;
    bool found = false;
    for (const char *at = chain + strspn(chain, " \t\n"); *at; at += strspn(at, " \t\n,")) {
        const size_t size = gf_foreign_length(at);
        struct gf_foreign_answer other = {.whose = ""};
        snprintf(text, sizeof text, "%.*s", (int)size, at);
        const bool is_item = at == item, fails = is_item || gf_chain_check(text, NULL);
        const bool known =
            is_item ||
            (gf_chain_answer(fails ? GF_FOREIGN_FILTER : GF_FOREIGN_HINT, text, &other) &&
             *other.meaning && (fails || *gf_foreign_at(other.row)->words == '^'));
        if (fails && !known && !strstr(other.note, "nothing is to be done"))
            return;
        at += size;
        if (fails && !known)
            continue;
        length += (size_t)snprintf(whole + length, sizeof whole - length, "%s%s", length ? "," : "",
                                   is_item ? answer->meaning
                                   : known ? other.meaning
                                           : text);
        if (length + strlen(answer->note) > 250 || length >= sizeof whole)
            return;
        found |= is_item;
    }
    if (found && *answer->meaning)
        memcpy(answer->meaning, whole, sizeof whole);
}

bool gf_chain_answer(enum gf_foreign_kind kind, const char *item, struct gf_foreign_answer *answer)
{
    for (int usual = 0; usual < 2; usual++) {
        if (!gf_foreign_answer(kind, item, usual, answer))
            return false;
        const struct gf_foreign_row *const row = gf_foreign_at(answer->row);
        const bool is_chain = *answer->meaning && !gf_chain_check(answer->meaning, NULL);
        if (!row)
            return is_chain;
        if (is_chain || !row->meaning || !strncmp(answer->meaning, "--", 2))
            return true;
        /* What another program's option for chains holds may need an answer itself. */
        const bool holds = !usual && !strncmp(row->meaning, "{$*", 3);
        const char *at = answer->meaning;
        for (struct gf_foreign_answer of_item; holds && *at; at += strspn(at, " ,")) {
            if (gf_chain_answer(GF_FOREIGN_FILTER, at, &of_item)) {
                answer_whole(answer->meaning, at, &of_item);
                *answer = of_item;
                return true;
            }
            at += gf_foreign_length(at);
        }
    }
    *answer->meaning = '\0';
    return *answer->note && !leads(answer->note);
}

enum gf_status gf_chain_fail_answer(const char *text, const char *join,
                                    const struct gf_foreign_answer *answer, struct gf_error *error)
{
    const char *const note = answer->note, *const meaning = answer->meaning;
    const bool leads_on = leads(note);
    return gf_fail(error, GF_ERROR_USAGE, "%s%s%s%s%s%s%s%s%s", text, *answer->whose ? " (" : "",
                   answer->whose, *answer->whose ? ")" : "", *note ? join : "", note,
                   !*meaning  ? ""
                   : leads_on ? " '"
                              : "; did you mean '",
                   meaning,
                   !*meaning  ? ""
                   : leads_on ? "'"
                              : "'?");
}

void gf_chain_hint(const char *chain, uint64_t *told, void (*tell)(void *context, const char *line),
                   void *context)
{
    char token[GF_TOKEN_MAX], named[200];
    bool is_name = true;
    /* The error of a chain that fails says the same. */
    for (const char *at = gf_chain_check(chain, NULL) ? NULL : chain; at && *at; at += at && *at) {
        const char *const begin = at + strspn(at, " \t\n");
        if (!(at = gf_token_next(begin, "=:,", token)))
            return;
        const struct gf_filter *const filter = is_name ? gf_filter_find(token) : NULL;
        struct gf_foreign_answer answer;
        struct gf_error line;
        is_name = *at == ',';
        if (!filter)
            continue;
        snprintf(named, sizeof named, "%s%s", filter->name, begin + strcspn(begin, "=:,"));
        if (!gf_chain_answer(GF_FOREIGN_HINT, begin, &answer) &&
            !gf_chain_answer(GF_FOREIGN_HINT, named, &answer))
            continue;
        const uint64_t bit = (uint64_t)1 << answer.row % 64;
        answer.whose = "";
        (void)gf_chain_fail_answer(filter->name, ": ", &answer, &line);
        if (!(*told & bit))
            tell(context, line.text);
        *told |= bit;
    }
}

/* Fails for a filter that is not known. `item` is what was typed from the name on in the chain. */
static enum gf_status fail_unknown(const char *name, const char *chain, const char *item,
                                   const char *advice, struct gf_error *error)
{
    struct gf_foreign_answer answer;
    struct gf_error line;
    if (!error)
        return GF_ERROR_USAGE; /* a proposal is parsed, and needs none itself */
    (void)gf_fail(&line, GF_ERROR_USAGE, "unknown filter '%.60s'", name);
    const char *const dot = strrchr(name, '.');
    const char *const bare = dot ? dot + 1 : name + 3 * !strncasecmp(name, "fx_", 3);
    const char *const best = gf_filter_suggest(bare);
    /* Names such as ImageFilter.SHARPEN, cv2.medianBlur and fx_sepia */
    const char *const behind = item + strspn(item, " \t\n") + (bare - name);
    if (gf_chain_answer(GF_FOREIGN_FILTER, item, &answer) ||
        gf_chain_answer(GF_FOREIGN_FILTER, behind, &answer)) {
        answer_whole(chain, item, &answer);
        return gf_chain_fail_answer(line.text, ": ", &answer, error);
    }
    if (gf_filter_find(bare))
        return gf_fail(error, GF_ERROR_USAGE, "%s; did you mean '%.*s'?", line.text,
                       (int)strcspn(behind, ","), behind);
    return best ? gf_fail(error, GF_ERROR_USAGE, "%s; did you mean '%s'?", line.text, best)
                : gf_fail(error, GF_ERROR_USAGE, "%s (gf_filter_at lists them)%s", line.text,
                          advice);
}

enum gf_status gf_filter_named(const char *name, const char *advice,
                               const struct gf_filter **filter, struct gf_error *error)
{
    *filter = gf_filter_find(name);
    return *filter ? GF_OK : fail_unknown(name, name, name, advice, error);
}

/* Extends the error of an item, `text`, of the chain by what other programs mean by it, if that is
 * known. */
static void add_meaning(const char *chain, const char *text, struct gf_error *error)
{
    struct gf_foreign_answer answer;
    if (!error || !gf_chain_answer(GF_FOREIGN_FILTER, text, &answer))
        return;
    struct gf_error before = *error;
    char *const suggestion = strstr(before.text, "; did you mean");
    if (suggestion)
        *suggestion = '\0';
    answer.whose = "";
    answer_whole(chain, text, &answer);
    (void)gf_chain_fail_answer(before.text, "; ", &answer, error);
    error->status = before.status; /* a file may be missing */
}

/* Parses the next item of a chain, `whole`. `before` is the item before it, and `written` the text
 * of that one; both are NULL for the first item. `loads`: whether the filter reads the files that
 * it names. */
static enum gf_status parse_item(const char *whole, const char **text,
                                 const struct gf_chain_item *before, const char *written,
                                 bool loads, struct gf_chain_item *item, struct gf_error *error)
{
    char token[GF_TOKEN_MAX];
    const char *const stop = gf_token_next(*text, "=,:", token);
    const char *const name = stop ? token : "";
    if (!*name)
        return gf_fail(error, GF_ERROR_USAGE, "a filter's name is missing at '%.60s'", *text);
    const bool after_text = before && quote_hint_suits(before->filter);
    const char *const advice = before && !after_text ? "; a comma within a value needs quotes" : "";
    const char *const begin = *text;
    item->filter = gf_filter_find(name);
    enum gf_status status = item->filter ? GF_OK : fail_unknown(name, whole, begin, advice, error);
    if (status && after_text)
        quote_hint_comma(before->filter, written, *text, error);
    if (status)
        return status;
    item->params = calloc(1, item->filter->params_size + 1);
    GF_ALLOCATED(item->params, error);
    *text = stop;
    struct gf_common_params common = {.variant = NULL};
    struct gf_filter unchecked = *item->filter;
    unchecked.check = NULL; /* check() may read files, as that of icc does */
    status = gf_params_parse(loads ? item->filter : &unchecked, text, item->params, &common, error);
    if (status)
        add_meaning(whole, begin, error);
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
        quote_hint_colon(item->filter, stop, error);
    return status;
}

static enum gf_status parse(const char *text, bool loads, struct gf_chain *chain,
                            struct gf_error *error)
{
    *chain = (struct gf_chain){0};
    text = text ? text + strspn(text, " \t\n") : "";
    const char *const whole = text, *before = "";
    while (*text) {
        const char *const begin = text;
        if (!GF_GROW(chain->item, chain->count)) {
            gf_chain_free(chain);
            return gf_fail_memory(error);
        }
        chain->item[chain->count] = (struct gf_chain_item){0};
        struct gf_chain_item *const item = &chain->item[chain->count];
        enum gf_status status =
            parse_item(whole, &text, chain->count ? item - 1 : NULL, before, loads, item, error);
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

enum gf_status gf_chain_check(const char *text, struct gf_error *error)
{
    struct gf_chain chain;
    const enum gf_status status = chain_parse_names(text, &chain, error);
    gf_chain_free(&chain);
    return status;
}

/* Parses a chain without reading the files that it names. */
static enum gf_status chain_parse_names(const char *text, struct gf_chain *chain,
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
    struct gf_parts parts; /* 24 KB, most of which is not written */
    bool found = item->filter->kind == GF_COLOUR;
    parts.count = 0;
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

/* Continues the stamp of a chain (gf_chain_stamp()) with the state of a file; returns 0 if it
 * cannot be told. Two changes at nearly the same time may leave the same times, so that a file must
 * not have changed for RESTED_S seconds. */
static uint64_t add_file(uint64_t stamp, const char *path)
{
    enum { RESTED_S = 2 };
    struct stat file;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (!stamp || stat(path, &file) || file.st_ctim.tv_sec + RESTED_S >= now.tv_sec)
        return 0;
    const struct gf_file_identity identity = gf_file_identify(&file);
    return gf_hash(stamp, &identity, sizeof identity);
}

uint64_t gf_chain_stamp(const char *text)
{
    struct gf_chain chain = {0};
    uint64_t stamp = !text || !chain_parse_names(text, &chain, NULL);
    const int count = gf_chain_files(&chain, NULL, 0);
    const char **const path = calloc((size_t)count + 1, sizeof *path);
    if (!path || gf_chain_files(&chain, path, count) != count)
        stamp = 0;
    for (int i = 0; i < count; i++)
        stamp = add_file(stamp, path ? path[i] : "");
    free(path);
    gf_chain_free(&chain);
    return stamp;
}
