#include "codec/common/metadata/metadata.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/plain_text.h"

#define CONTAINER "http://ns.google.com/photos/1.0/container/"
#define CAMERA "http://ns.google.com/photos/1.0/camera/"

const struct gf_xmp_name gf_xmp_of_lost_things[] = {
    {GF_XMP_GAIN_MAP, "*"},
    {GF_XMP_GAIN_MAP_OF_APPLE, "*"},
    {CONTAINER, "*"},
    {CONTAINER "item/", "*"},
    {CAMERA, "MotionPhoto*"},
    {CAMERA, "MicroVideo*"},
    {"http://ns.adobe.com/xmp/note/", "HasExtendedXMP"},
    {NULL, NULL}};
const struct gf_xmp_name gf_xmp_thumbnails[] = {
    {"http://ns.adobe.com/xap/1.0/", "Thumbnails"},
    /* The picture before a phone blurred the background. */
    {"http://ns.google.com/photos/1.0/image/", "*"},
    {NULL, NULL}};
const struct gf_xmp_name gf_xmp_places[] = {
    {"http://ns.adobe.com/exif/1.0/", "GPS*"},
    {"http://www.dji.com/drone-dji/1.0/", "Gps*"}, /* properties that say where a drone was */
    {"http://www.dji.com/drone-dji/1.0/", "Latitude"},
    {"http://www.dji.com/drone-dji/1.0/", "Longitude"},
    /* Properties that say where a phone was. */
    {"http://ns.google.com/photos/dd/1.0/earthpose/", "*"},
    {NULL, NULL}};
const struct gf_xmp_name gf_xmp_rights[] = {{"http://purl.org/dc/elements/1.1/", "rights"},
                                            {"http://ns.adobe.com/xap/1.0/rights/", "*"},
                                            {NULL, NULL}};

struct text {
    const unsigned char *at, *end;
};

static size_t length_of(struct text text)
{
    return (size_t)(text.end - text.at);
}

static bool begins(struct text text, const char *word)
{
    const size_t length = strlen(word);
    return length_of(text) >= length && !memcmp(text.at, word, length);
}

static bool is(struct text text, const char *word)
{
    return length_of(text) == strlen(word) && begins(text, word);
}

/* Returns the end of the first occurrence of `word` in the text, or NULL. */
static const unsigned char *behind(struct text text, const char *word)
{
    const unsigned char *const at = memmem(text.at, length_of(text), word, strlen(word));
    return at ? at + strlen(word) : NULL;
}

static bool is_start_tag(struct text markup)
{
    return length_of(markup) > 2 && !memchr("/?!", markup.at[1], 3);
}

/* Returns the end of the tag or other markup at the start of the text; NULL if it is not closed. */
static const unsigned char *behind_markup(struct text text)
{
    if (begins(text, "<!--"))
        return behind(text, "-->");
    if (begins(text, "<?"))
        return behind(text, "?>");
    if (begins(text, "<![CDATA["))
        return behind(text, "]]>");
    unsigned char quote = 0;
    for (const unsigned char *at = text.at; at < text.end; at++) {
        if (quote)
            quote = *at == quote ? 0 : quote;
        else if (*at == '>')
            return at + 1;
        else if (*at == '"' || *at == '\'')
            quote = *at;
    }
    return NULL;
}

/* Returns the end of the element at the start of the text; NULL if it is not closed. */
static const unsigned char *behind_element(struct text text)
{
    int depth = 0;
    while ((text.at = memchr(text.at, '<', length_of(text)))) {
        const struct text markup = {text.at, behind_markup(text)};
        if (!markup.end)
            return NULL;
        if (begins(markup, "</"))
            depth--;
        else if (is_start_tag(markup) && markup.end[-2] != '/')
            depth++;
        if (depth <= 0)
            return markup.end;
        text.at = markup.end;
    }
    return NULL;
}

static struct text take_word(struct text *rest)
{
    struct text word = {rest->at, rest->at};
    while (word.end < rest->end && !memchr(" \t\r\n=/>", *word.end, 7))
        word.end++;
    rest->at = word.end;
    return word;
}

static void skip(struct text *rest, const char *letters)
{
    while (rest->at < rest->end && strchr(letters, *rest->at) && *rest->at)
        rest->at++;
}

struct attribute {
    struct text all, name, value; /* all: the attribute with the blanks before it */
};

/* Takes the next attribute of a start tag. Returns false if none is left. */
static bool take_attribute(struct text *rest, struct attribute *attribute)
{
    attribute->all.at = rest->at;
    skip(rest, " \t\r\n");
    attribute->name = take_word(rest);
    skip(rest, " \t\r\n=");
    if (!length_of(attribute->name) || rest->at == rest->end || !memchr("\"'", *rest->at, 2))
        return false;
    attribute->value.at = rest->at + 1;
    attribute->value.end = memchr(rest->at + 1, *rest->at, length_of(*rest) - 1);
    if (!attribute->value.end)
        return false;
    rest->at = attribute->all.end = attribute->value.end + 1;
    return true;
}

/* ---- finding the properties to remove ---- */

/* The prefixes that the packet declares for the namespaces in `names`. */
struct prefixes {
    const struct gf_xmp_name *names;
    struct {
        char prefix[32]; /* a copy, since the packet changes in place */
        const char *space;
    } item[32];
    int count;
};

static struct text part_before(struct text name, char letter)
{
    const unsigned char *const at = memchr(name.at, letter, length_of(name));
    return (struct text){name.at, at ? at : name.at};
}

/* Whether the name of an element or attribute is one of the properties to remove. */
static bool is_named(const struct prefixes *prefixes, struct text name)
{
    const struct text prefix = part_before(name, ':');
    const struct text local = {prefix.end + 1, name.end};
    for (int i = 0; length_of(prefix) && i < prefixes->count; i++) {
        if (!is(prefix, prefixes->item[i].prefix))
            continue;
        for (const struct gf_xmp_name *wanted = prefixes->names; wanted->space; wanted++) {
            const size_t length = strcspn(wanted->name, "*");
            if (!strcmp(wanted->space, prefixes->item[i].space) && length_of(local) >= length &&
                !memcmp(local.at, wanted->name, length) &&
                (wanted->name[length] || length_of(local) == length))
                return true;
        }
    }
    return false;
}

/* Returns the first property in `names` of that namespace; NULL if no name is of that namespace. */
static const struct gf_xmp_name *name_of_space(const struct prefixes *prefixes, struct text space)
{
    const struct gf_xmp_name *name = prefixes->names;
    while (name->space && !is(space, name->space))
        name++;
    return name->space ? name : NULL;
}

/* Returns the first property in `names` whose namespace the attribute declares; NULL if the
 * attribute declares none. */
static const struct gf_xmp_name *declared(const struct prefixes *prefixes,
                                          const struct attribute *attribute)
{
    return begins(attribute->name, "xmlns:") ? name_of_space(prefixes, attribute->value) : NULL;
}

/* Whether the attribute may declare a namespace of `names` in a way that this code does not
 * support: without a prefix, or with an entity (&...;). */
static bool declares_unread(const struct prefixes *prefixes, const struct attribute *attribute)
{
    const bool without_prefix = is(attribute->name, "xmlns");
    if (without_prefix && name_of_space(prefixes, attribute->value))
        return true;
    return (without_prefix || begins(attribute->name, "xmlns:")) &&
           memchr(attribute->value.at, '&', length_of(attribute->value));
}

static struct text attributes_of(struct text tag)
{
    tag.at++;
    (void)take_word(&tag);
    return tag;
}

/* Notes the prefixes that the tag declares. Returns false if there are too many prefixes, one is
 * too long, or a declaration is not supported. */
static bool note_prefixes(struct prefixes *prefixes, struct text tag)
{
    const int most = sizeof prefixes->item / sizeof *prefixes->item;
    struct text rest = attributes_of(tag);
    struct attribute attribute;
    while (take_attribute(&rest, &attribute)) {
        const struct gf_xmp_name *const name = declared(prefixes, &attribute);
        if (declares_unread(prefixes, &attribute))
            return false;
        if (!name)
            continue;
        const unsigned char *const prefix = attribute.name.at + strlen("xmlns:");
        const size_t length = (size_t)(attribute.name.end - prefix);
        if (prefixes->count == most || length >= sizeof prefixes->item->prefix)
            return false;
        memcpy(prefixes->item[prefixes->count].prefix, prefix, length);
        prefixes->item[prefixes->count++].space = name->space;
    }
    return true;
}

static unsigned char *keep(unsigned char *to, struct text text)
{
    memmove(to, text.at, length_of(text));
    return to + length_of(text);
}

/* Copies a tag to `to` without the attributes that must be removed, and returns the end of the
 * copy. */
static unsigned char *keep_tag(unsigned char *to, const struct prefixes *prefixes, struct text tag)
{
    struct text rest = attributes_of(tag), kept = {tag.at, rest.at};
    struct attribute attribute;
    while (take_attribute(&rest, &attribute)) {
        const struct gf_xmp_name *const name = declared(prefixes, &attribute);
        kept.end = attribute.all.at;
        if (is_named(prefixes, attribute.name) || (name && !strcmp(name->name, "*"))) {
            to = keep(to, kept);
            kept.at = attribute.all.end;
        }
    }
    return keep(to, (struct text){kept.at, tag.end});
}

bool gf_xmp_remove(struct gf_blob *xmp, const struct gf_xmp_name *names)
{
    if (!xmp->size)
        return true;
    struct prefixes prefixes = {.names = names};
    struct text rest = {xmp->data, xmp->data + xmp->size};
    unsigned char *to = xmp->data;
    if (memchr(xmp->data, 0, xmp->size < 4 ? xmp->size : 4))
        return false; /* the packet is UTF-16 or UTF-32, which is not read */
    while (rest.at < rest.end) {
        const unsigned char *const tag = memchr(rest.at, '<', length_of(rest));
        to = keep(to, (struct text){rest.at, tag ? tag : rest.end});
        if (!tag)
            break;
        rest.at = tag;
        const unsigned char *next = behind_markup(rest);
        const struct text markup = {tag, next};
        struct text name = {tag + 1, next};
        if (!next || (is_start_tag(markup) && !note_prefixes(&prefixes, markup)))
            return false;
        if (!is_start_tag(markup))
            to = keep(to, markup);
        else if (is_named(&prefixes, take_word(&name)))
            next = behind_element(rest);
        else
            to = keep_tag(to, &prefixes, markup);
        if (!next)
            return false;
        rest.at = next;
    }
    xmp->size = (size_t)(to - xmp->data);
    return true;
}

bool gf_xmp_names_gain_map(const struct gf_blob *xmp)
{
    return xmp->size && behind((struct text){xmp->data, xmp->data + xmp->size}, GF_XMP_GAIN_MAP);
}

/* Adds the text to `number` if it is a number, True or False, and counts it. Does nothing after
 * `most` numbers. */
static void add_number(struct text text, double *number, int most, int *count)
{
    char copy[64];
    while (length_of(text) && memchr(" \t\r\n", *text.at, 4))
        text.at++;
    while (length_of(text) && memchr(" \t\r\n", text.end[-1], 4))
        text.end--;
    if (*count >= most || !length_of(text) || length_of(text) >= sizeof copy)
        return;
    snprintf(copy, sizeof copy, "%.*s", (int)length_of(text), (const char *)text.at);
    if (is(text, "True") || is(text, "False"))
        number[(*count)++] = *copy == 'T';
    else
        *count += gf_value_whole_number(copy, &number[*count]);
}

/* Appends to `number` the numbers in the texts of the element and of the elements within it. */
static void add_numbers_within(struct text element, double *number, int most, int *count)
{
    const unsigned char *next = behind_markup(element);
    while (next && next < element.end) {
        element.at = next;
        const unsigned char *const tag = memchr(next, '<', length_of(element));
        if (!tag)
            return;
        add_number((struct text){next, tag}, number, most, count);
        element.at = tag;
        next = behind_markup(element);
    }
}

int gf_xmp_numbers(const struct gf_blob *xmp, const char *space, const char *name, double *number,
                   int most)
{
    const struct gf_xmp_name names[] = {{space, name}, {NULL, NULL}};
    struct prefixes prefixes = {.names = names};
    struct text rest = {xmp->data, xmp->data + xmp->size};
    int count = 0;
    while (xmp->size && !count && (rest.at = memchr(rest.at, '<', length_of(rest)))) {
        const struct text markup = {rest.at, behind_markup(rest)};
        struct text word = {rest.at + 1, markup.end};
        if (!markup.end || (is_start_tag(markup) && !note_prefixes(&prefixes, markup)))
            return 0;
        struct text attributes =
            is_start_tag(markup) ? attributes_of(markup) : (struct text){markup.end, markup.end};
        struct attribute attribute;
        while (take_attribute(&attributes, &attribute)) {
            if (is_named(&prefixes, attribute.name))
                add_number(attribute.value, number, most, &count);
        }
        if (is_start_tag(markup) && is_named(&prefixes, take_word(&word)))
            add_numbers_within((struct text){rest.at, behind_element(rest)}, number, most, &count);
        rest.at = markup.end;
    }
    return count;
}

int64_t gf_xmp_bytes_behind(const struct gf_blob *xmp)
{
    static const char *const words[] = {"Item:Length=", "Item:Padding="};
    int64_t bytes = 0;
    for (size_t k = 0; xmp->size && k < sizeof words / sizeof *words; k++) {
        struct text rest = {xmp->data, xmp->data + xmp->size};
        while ((rest.at = behind(rest, words[k]))) {
            int64_t value = 0;
            rest.at += rest.at < rest.end; /* skips the quote before the digits */
            for (; rest.at < rest.end && *rest.at >= '0' && *rest.at <= '9' && value < 1 << 30;
                 rest.at++)
                value = 10 * value + (*rest.at - '0');
            bytes += value;
        }
    }
    return bytes;
}

/* Replaces the `old` bytes at the offset `at` by `length` bytes of text. Returns false when out of
 * memory. */
static bool replace(struct gf_blob *xmp, size_t at, size_t old, const char *text, size_t length)
{
    if (length > old) {
        unsigned char *const grown = realloc(xmp->data, xmp->size + length - old);
        if (!grown)
            return false;
        xmp->data = grown;
    }
    memmove(xmp->data + at + length, xmp->data + at + old, xmp->size - at - old);
    memcpy(xmp->data + at, text, length);
    xmp->size = xmp->size + length - old;
    return true;
}

/* Returns where the last "</PREFIX:RDF>" of the packet begins; its size if there is none. */
static size_t end_of_rdf(const struct gf_blob *xmp)
{
    if (!xmp->size)
        return 0;
    struct text rest = {xmp->data, xmp->data + xmp->size};
    size_t end = xmp->size;
    const unsigned char *next;
    while ((next = behind(rest, "RDF>"))) {
        const unsigned char *const tag = memrchr(xmp->data, '<', (size_t)(next - xmp->data));
        if (tag && tag[1] == '/')
            end = (size_t)(tag - xmp->data);
        rest.at = next;
    }
    return end;
}

bool gf_xmp_set(struct gf_blob *xmp, const struct gf_xmp_name *names, const char *property)
{
#define RDF "xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\""
    static const char packet[] =
        "<?xpacket begin=\"\xEF\xBB\xBF\" id=\"W5M0MpCehiHzreSzNTczkc9d\"?>"
        "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"><rdf:RDF " RDF "></rdf:RDF></x:xmpmeta>"
        "<?xpacket end=\"w\"?>";
    static const char begin[] =
        "<rdf:Description " RDF " xmlns:dc=\"http://purl.org/dc/elements/1.1/\" "
        "xmlns:photoshop=\"http://ns.adobe.com/photoshop/1.0/\" "
        "rdf:about=\"\">",
                      end[] = "</rdf:Description>";
#undef RDF
    if (!gf_xmp_remove(xmp, names))
        xmp->size = 0;
    if (end_of_rdf(xmp) == xmp->size && !gf_blob_set(xmp, packet, sizeof packet - 1))
        return false;
    /* A second property joins the first one. */
    const unsigned char *own = behind((struct text){xmp->data, xmp->data + xmp->size}, begin);
    size_t at = own ? (size_t)(own - xmp->data) : end_of_rdf(xmp);
    if (!own && (!replace(xmp, at, 0, end, sizeof end - 1) ||
                 !replace(xmp, at, 0, begin, sizeof begin - 1)))
        return false;
    at += own ? 0 : sizeof begin - 1;
    return replace(xmp, at, 0, property, strlen(property));
}

bool gf_xmp_set_number(struct gf_blob *xmp, const char *property, int number)
{
    char text[12];
    const size_t length = (size_t)snprintf(text, sizeof text, "%d", number);
    size_t at = 0;
    while (at < xmp->size) {
        const struct text rest = {xmp->data + at, xmp->data + xmp->size};
        const unsigned char *value = behind(rest, property);
        if (!value)
            return true;
        /* After the property's name the number follows as ="6" in an attribute, as >6< in an
         * element. */
        value += rest.end - value >= 3 && value[0] == '=' && memchr("\"'", value[1], 2);
        at = (size_t)(value - xmp->data);
        if (rest.end - value < 3 || !memchr("\"'>", value[0], 3))
            continue;
        size_t digits = 0;
        for (value++, at++; value + digits < rest.end && memchr("0123456789", value[digits], 10);)
            digits++;
        if (digits && value + digits < rest.end && memchr("\"'<", value[digits], 3) &&
            !replace(xmp, at, digits, text, length))
            return false;
    }
    return true;
}
