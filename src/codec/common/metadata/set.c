/* Sets what the user says of a picture (options.set) in its metadata: EXIF, XMP and IPTC. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/fail.h"
#include "base/text/plain_text.h"
#include "codec/common/checks.h"
#include "codec/common/metadata/metadata.h"

#define DUBLIN_CORE "http://purl.org/dc/elements/1.1/"
#define PHOTOSHOP "http://ns.adobe.com/photoshop/1.0/"
enum { TEXT_MOST = 4000, TAG_TIME_TAKEN = 0x9003, TAG_ZONE = 0x9011, TAG_FRACTION = 0x9291 };

/* Where each fact is in the metadata (Metadata Working Group, Guidelines 2.0). */
static const struct fact {
    const char *word; /* its key and "=" */
    uint16_t within;  /* the tag that links to the tag's directory; 0: the first directory */
    uint16_t tag;
    struct gf_xmp_name xmp[3];         /* the properties that it replaces; the first is written */
    const char *element, *begin, *end; /* the element of the property, and what is in it */
    int dataset;                       /* the dataset in IPTC's record 2 */
    size_t most;                       /* the most bytes that it holds (IIM 4.2); a date fits */
    const char *keywords[3];           /* the keywords of texts that it replaces */
} facts[] = {
    /* clang-format off */
    {"copyright=", 0, GF_IFD_COPYRIGHT, {{DUBLIN_CORE, "rights"}}, "dc:rights",
     "<rdf:Alt><rdf:li xml:lang=\"x-default\">", "</rdf:li></rdf:Alt>", 116, 128, {"Copyright"}},
    {"artist=", 0, GF_IFD_ARTIST, {{DUBLIN_CORE, "creator"}}, "dc:creator",
     "<rdf:Seq><rdf:li>", "</rdf:li></rdf:Seq>", 80, 32, {"Author", "Artist"}},
    {"description=", 0, GF_IFD_DESCRIPTION, {{DUBLIN_CORE, "description"}}, "dc:description",
     "<rdf:Alt><rdf:li xml:lang=\"x-default\">", "</rdf:li></rdf:Alt>", 120, 2000, {"Description", "ImageDescription"}},
    {"date=", GF_IFD_EXIF, TAG_TIME_TAKEN, {{PHOTOSHOP, "DateCreated"}, {"http://ns.adobe.com/exif/1.0/", "DateTimeOriginal"}},
     "photoshop:DateCreated", "", "", 55, TEXT_MOST, {"Creation Time", "DateTimeOriginal"}},
    /* clang-format on */
};
enum { FACTS = sizeof facts / sizeof *facts };

const char *gf_metadata_set_word(int index)
{
    return index < FACTS ? facts[index].word : NULL;
}

/* ---- dates ---- */

struct date {
    int part[6]; /* the year, the month, the day, the hour, the minute and the second */
    bool has_time;
    char zone[8]; /* as "+02:00"; "" is unknown */
};

/* Reads a zone: "Z", "+02:00" or "". */
static bool read_zone(const char *text, struct date *date)
{
    int hours, minutes, end = 0;
    const bool is_utc = !strcmp(text, "Z");
    if (*text && !is_utc &&
        (!strchr("+-", *text) || sscanf(text + 1, "%2d:%2d%n", &hours, &minutes, &end) != 2 ||
         end != 5 || text[6] || hours > 14 || minutes > 59))
        return false;
    snprintf(date->zone, sizeof date->zone, "%s", is_utc ? "+00:00" : text);
    return true;
}

/* Reads "2024-05-01" or "2024-05-01T12:30:00+02:00"; a blank may take the place of the T, and
 * colons those of the hyphens, as in EXIF. */
static bool read_date(const char *text, struct date *date)
{
    static const int months[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    static const char form[] = "0000-00-00T00:00:00";
    enum { DAY_LETTERS = 10 };
    *date = (struct date){.has_time = strlen(text) > DAY_LETTERS};
    int *const part = date->part;
    const int letters = date->has_time ? (int)sizeof form - 1 : DAY_LETTERS;
    for (int i = 0; i < letters; i++) {
        const bool fits = form[i] == '0'   ? isdigit((unsigned char)text[i])
                          : form[i] == '-' ? strchr("-:", text[i]) && text[i]
                          : form[i] == 'T' ? strchr("T ", text[i]) && text[i]
                                           : text[i] == ':';
        if (!fits)
            return false;
    }
    if (sscanf(text, "%4d%*c%2d%*c%2d%*c%2d:%2d:%2d", &part[0], &part[1], &part[2], &part[3],
               &part[4], &part[5]) < 3)
        return false;
    return part[0] > 0 && part[1] >= 1 && part[1] <= 12 && part[2] >= 1 &&
           part[2] <= months[part[1] - 1] && part[3] < 24 && part[4] < 60 && part[5] < 61 &&
           read_zone(text + letters, date);
}

/* Writes the date as XMP does ("2024-05-01T12:30:00+02:00") or, with `exif`, as EXIF does. */
static void write_date(const struct date *date, bool exif, char text[40])
{
    const int *const part = date->part;
    const size_t day = (size_t)sprintf(text, exif ? "%04d:%02d:%02d" : "%04d-%02d-%02d",
                                       part[0] % 10000, part[1] % 100, part[2] % 100);
    if (exif || date->has_time)
        sprintf(text + day, "%c%02d:%02d:%02d%s", exif ? ' ' : 'T', part[3] % 100, part[4] % 100,
                part[5] % 100, exif ? "" : date->zone);
}

/* ---- reading the option ---- */

/* Finds the fact that the line "KEY=VALUE" sets; NULL if there is none. *end becomes the end of the
 * line. */
static const struct fact *fact_of(const char *line, const char **value, const char **end)
{
    *end = strchrnul(line, '\n');
    for (const struct fact *fact = facts; fact < facts + FACTS; fact++) {
        const size_t length = strlen(fact->word);
        if (!strncmp(line, fact->word, length)) {
            *value = line + length;
            return fact;
        }
    }
    return NULL;
}

static enum gf_status check_value(const struct fact *fact, const char *value,
                                  struct gf_error *error)
{
    struct date date;
    const int key = (int)strlen(fact->word) - 1;
    if (!*value)
        return gf_fail(error, GF_ERROR_USAGE,
                       "options.set=%.*s: the text is missing (--strip leaves metadata out)", key,
                       fact->word);
    if (strlen(value) > TEXT_MOST)
        return gf_fail(error, GF_ERROR_USAGE, "options.set=%.*s: has more than %d bytes", key,
                       fact->word, TEXT_MOST);
    for (const char *at = value; *at; at += gf_utf8_length(at)) {
        if (!gf_utf8_length(at) || iscntrl((unsigned char)*at))
            return gf_fail(error, GF_ERROR_USAGE, "options.set=%.*s: is no line of UTF-8", key,
                           fact->word);
        if (!strncmp(at, "\xef\xbf\xbe", 3) || !strncmp(at, "\xef\xbf\xbf", 3))
            return gf_fail(
                error, GF_ERROR_USAGE,
                "options.set=%.*s: has U+FFF%c, which is no character and cannot be in XMP", key,
                fact->word, at[2] == '\xbe' ? 'E' : 'F');
    }
    if (fact->within && !read_date(value, &date))
        return gf_fail(error, GF_ERROR_USAGE,
                       "options.set=%.*s: %.60s is no date such as 2024-05-01 or "
                       "2024-05-01T12:30:00+02:00",
                       key, fact->word, value);
    return GF_OK;
}

enum gf_status gf_metadata_set_check(const char *set, struct gf_error *error)
{
    const char *value, *end;
    for (const char *line = set; line && *line; line = *end ? end + 1 : end) {
        const struct fact *const fact = fact_of(line, &value, &end);
        if (!fact)
            return gf_fail(error, GF_ERROR_USAGE,
                           "options.set=%.*s is none of copyright=TEXT, artist=TEXT, "
                           "description=TEXT, date=2024-05-01",
                           (int)(end - line < 60 ? end - line : 60), line);
        char *const copy = strndup(value, (size_t)(end - value));
        const enum gf_status status = copy ? check_value(fact, copy, error) : gf_fail_memory(error);
        free(copy);
        if (status)
            return status;
    }
    return GF_OK;
}

void gf_metadata_set_warn(const char *set, const char *name, const struct gf_options *options)
{
    const char *value, *end;
    for (const char *line = set; line && *line; line = *end ? end + 1 : end) {
        const struct fact *const fact = fact_of(line, &value, &end);
        if (fact && (size_t)(end - value) > fact->most)
            gf_warn(options,
                    "%s: options.set=%.*s: over %zu bytes, which IPTC does not hold: EXIF and XMP "
                    "have it",
                    name, (int)strlen(fact->word) - 1, fact->word, fact->most);
    }
}

/* ---- writing ---- */

static bool has_tag(const struct gf_blob *exif, uint16_t within, uint16_t tag)
{
    uint64_t first;
    const struct gf_ifd_reader reader = gf_exif_reader(exif, &first);
    const uint64_t directory = first ? gf_ifd_link(&reader, first, within) : 0;
    return directory && gf_ifd_has(&reader, directory, tag);
}

static bool set_exif(struct gf_blob *exif, const struct fact *fact, const char *value)
{
    struct date date;
    char text[40];
    if (!fact->within)
        return gf_exif_set_text(exif, 0, fact->tag, value);
    (void)read_date(value, &date);
    write_date(&date, true, text);
    /* Blanks say that a zone and a fraction of a second, which an older date had, are unknown. */
    return gf_exif_set_text(exif, fact->within, fact->tag, text) &&
           ((!*date.zone && !has_tag(exif, fact->within, TAG_ZONE)) ||
            gf_exif_set_text(exif, fact->within, TAG_ZONE, *date.zone ? date.zone : "   :  ")) &&
           (!has_tag(exif, fact->within, TAG_FRACTION) ||
            gf_exif_set_text(exif, fact->within, TAG_FRACTION, "   "));
}

static bool set_xmp(struct gf_blob *xmp, const struct fact *fact, const char *value)
{
    struct date date;
    char text[40];
    char *property = NULL;
    size_t size = 0;
    FILE *const file = open_memstream(&property, &size);
    if (!file)
        return false;
    if (fact->within) {
        (void)read_date(value, &date);
        write_date(&date, false, text);
        value = text;
    }
    fprintf(file, "<%s>%s", fact->element, fact->begin);
    for (; *value; value++)
        fputs(*value == '&'   ? "&amp;"
              : *value == '<' ? "&lt;"
              : *value == '>' ? "&gt;"
                              : (const char[]){*value, '\0'},
              file);
    fprintf(file, "%s</%s>", fact->end, fact->element);
    const bool done = !fclose(file) && gf_xmp_set(xmp, fact->xmp, property);
    free(property);
    return done;
}

static bool set_iptc(struct gf_blob *iptc, const struct fact *fact, const char *value)
{
    enum { TIME = 60 };
    struct date date;
    char text[40];
    if (strlen(value) > fact->most) {
        gf_iptc_remove(iptc, fact->dataset, fact->dataset);
        return true;
    }
    if (!fact->within)
        return gf_iptc_set(iptc, fact->dataset, value);
    (void)read_date(value, &date);
    sprintf(text, "%04d%02d%02d", date.part[0] % 10000, date.part[1] % 100, date.part[2] % 100);
    gf_iptc_remove(iptc, TIME, TIME);
    if (!gf_iptc_set(iptc, fact->dataset, text))
        return false;
    if (!date.has_time || !*date.zone) /* IPTC has no time without a zone */
        return true;
    sprintf(text, "%02d%02d%02d%.3s%.2s", date.part[3] % 100, date.part[4] % 100,
            date.part[5] % 100, date.zone, date.zone + 4);
    return gf_iptc_set(iptc, TIME, text);
}

/* Removes the texts of a PNG that the fact replaces. ImageMagick writes a prefix such as "exif:"
 * before the keyword. */
static void remove_texts(struct gf_texts *texts, const struct fact *fact)
{
    int count = 0;
    for (int i = 0; i < texts->count; i++) {
        const struct gf_text *const text = &texts->item[i];
        const char *const whole = text->head.size ? (const char *)text->head.data : "",
                          *const prefix = strrchr(whole, ':');
        bool replaced = false;
        for (int k = 0; fact->keywords[k]; k++)
            replaced |= !strcasecmp(prefix ? prefix + 1 : whole, fact->keywords[k]);
        if (replaced)
            gf_text_free(&texts->item[i]);
        else
            texts->item[count++] = *text;
    }
    texts->count = count;
}

bool gf_metadata_set(struct gf_metadata *metadata, const char *set)
{
    const char *value, *end;
    bool done = true;
    for (const char *line = set; done && line && *line; line = *end ? end + 1 : end) {
        const struct fact *const fact = fact_of(line, &value, &end);
        char *const text = fact ? strndup(value, (size_t)(end - value)) : NULL;
        done = text && set_exif(&metadata->exif, fact, text) &&
               set_xmp(&metadata->xmp, fact, text) && set_iptc(&metadata->iptc, fact, text);
        if (done)
            remove_texts(&metadata->texts, fact);
        free(text);
    }
    return done;
}
